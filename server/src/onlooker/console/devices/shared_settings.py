"""The pages of device settings that many devices have in common: of a template, and of a site."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _

from onlooker.audit.actor import account_actor
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.devices.access import managed_organisations
from onlooker.console.devices.settings_form import DeviceSettingsForm, tell_versions
from onlooker.console.streams.access import own_membership
from onlooker.devices.configuration import set_site_settings, set_template_settings
from onlooker.devices.device_settings import Level
from onlooker.devices.models import Device, DeviceTemplate, SiteDeviceSettings
from onlooker.streams.models import Site
from onlooker.streams.organisations import MANAGERS

LARGEST_NUMBER = 2**63 - 1


@signed_in("GET", "HEAD", "POST")
def change_template_settings(request: PersonRequest, template_id: int) -> HttpResponse:
    """For all devices that have the template, where neither their site nor they themselves say otherwise."""
    rows = DeviceTemplate.objects.filter(organisation__in=managed_organisations(request.user))
    template = get_object_or_404(rows, pk=min(template_id, LARGEST_NUMBER))
    data = request.POST if request.method == "POST" else None
    form = DeviceSettingsForm(Level.TEMPLATE, template.device_settings, None, data)
    if form.is_valid():
        changed = set_template_settings(template, form.settings, by=account_actor(request.user.pk))
        saved = _("Template {template} saved.").format(template=template.name)
        messages.success(request, f"{saved} {tell_versions(changed)}")
        return redirect("devices")
    live = Device.objects.filter(template=template, revoked_at=None, stream__removed_at=None)
    context = {"template": template, "form": form, "devices": live.count()}
    return render(request, "devices/template.html", context)


@signed_in("GET", "HEAD", "POST")
def change_site_settings(request: PersonRequest, organisation_id: int, site_id: int) -> HttpResponse:
    """For all devices at the site, where they themselves do not say otherwise."""
    organisation = own_membership(request.user, organisation_id, *MANAGERS).organisation
    site = get_object_or_404(Site, organisation=organisation, pk=site_id)
    row = SiteDeviceSettings.objects.filter(site=site).first()
    data = request.POST if request.method == "POST" else None
    form = DeviceSettingsForm(Level.SITE, row.settings if row else {}, None, data)
    if form.is_valid():
        changed = set_site_settings(site, form.settings, by=account_actor(request.user.pk))
        saved = _("Devices at {site} saved.").format(site=site.name)
        messages.success(request, f"{saved} {tell_versions(changed)}")
        return redirect("site", organisation_id, site_id)
    live = Device.objects.filter(stream__site=site, revoked_at=None, stream__removed_at=None)
    context = {"organisation": organisation, "site": site, "form": form, "devices": live.count()}
    return render(request, "devices/site.html", context)
