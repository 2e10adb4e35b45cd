"""Changing the settings of many devices at once: choose them, say what changes, see what that means, then change it."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from onlooker.audit.actor import account_actor
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.devices.access import managed_devices
from onlooker.console.devices.device_filter import choose_devices, parse_filter, parse_number
from onlooker.console.devices.settings_form import (
    LABELS,
    BulkSettingsForm,
    label_setting,
    show_setting,
    tell_versions,
)
from onlooker.console.languages.locale_text import write_count, write_named
from onlooker.devices.bulk_configuration import (
    AT_MOST,
    PlannedConfiguration,
    apply_configuration,
    digest_plan,
    plan_configuration,
)
from onlooker.devices.models import Device

SHOWN = 50
"""Devices that a preview lists; others are counted."""


@signed_in("GET", "HEAD", "POST")
def change_devices(request: PersonRequest) -> HttpResponse:
    """The address says which; `shown` is what the preview showed, and nothing else is changed."""
    devices = find_chosen(request)
    count = len(devices)
    context: dict[str, Any] = {
        "devices": devices[:SHOWN],
        "count": count,
        "others": count - SHOWN,
        "address": request.GET.urlencode(),
    }
    if not 0 < count <= AT_MOST:
        context["trouble"] = _explain(devices)
        return render(request, "devices/change.html", context)
    form = BulkSettingsForm(request.POST if request.method == "POST" else None)
    context["form"] = form
    if not form.is_valid():
        return render(request, "devices/change.html", context)
    planned = plan_configuration(devices, form.settings)
    digest = digest_plan(planned)
    if planned and request.POST.get("shown") == digest:
        changed = apply_configuration(planned, form.settings, by=account_actor(request.user.pk))
        done = ngettext("{count} device changed.", "{count} devices changed.", changed)
        messages.success(request, f"{done.format(count=write_count(changed))} {tell_versions(changed)}")
        return redirect("devices")
    context |= {"planned": True, "digest": digest, "is_other": bool(request.POST.get("shown"))}
    return render(request, "devices/change.html", context | describe_plan(planned))


def find_chosen(request: PersonRequest) -> QuerySet[Device]:
    """Those that were ticked, or all that a list has found; only live ones that the account manages."""
    managed = managed_devices(request.user).filter(revoked_at=None).select_related("stream__site", "template")
    if "found" in request.GET:
        return choose_devices(managed, parse_filter(request.GET.dict())).order_by("-pk")[: AT_MOST + 1]
    ticked = [parse_number(text) for text in request.GET.getlist("device")[: AT_MOST + 1]]
    ids = [number for number in ticked if number is not None]
    devices = managed.filter(pk__in=ids).order_by("-pk")
    if not devices and ids:
        raise Http404
    return devices


def _explain(devices: QuerySet[Device]) -> str:
    if not devices:
        return _("No device is selected. Tick some in the list of devices.")
    said = _("At most {most} devices can be changed at once. Choose fewer, such as those of one site.")
    return said.format(most=write_count(AT_MOST))


def describe_plan(planned: Sequence[PlannedConfiguration]) -> dict[str, Any]:
    """How many devices change in what, and of the first ones how."""
    counts = Counter(name for one in planned for name in one.settings)
    names = [*(name for name in LABELS if name in counts), *sorted(counts.keys() - LABELS.keys())]
    return {
        "changed": len(planned),
        "counts": [(label_setting(name), counts[name]) for name in names],
        "rows": [(one.device, _describe_change(one)) for one in planned[:SHOWN]],
        "unlisted": max(0, len(planned) - SHOWN),
    }


def _describe_change(one: PlannedConfiguration) -> list[str]:
    """A sentence for each setting that differs then."""
    if not one.settings:
        return [_("Nothing now: its template, its site or its stream says the same")]
    return [
        write_named(label_setting(name), f"{show_setting(name, before)} → {show_setting(name, after)}")
        for name, (before, after) in one.settings.items()
    ]
