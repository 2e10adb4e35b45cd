"""The page of a device: facts, what is wrong with it, a day of its health, and the versions of its configuration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from onlooker.audit.actor import account_actor
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.dashboard.presentation import format_duration
from onlooker.console.devices.access import any_device, managed_device
from onlooker.console.devices.health_charts import as_data, make_charts
from onlooker.console.devices.health_words import (
    condition_of,
    explain_configuration,
    explain_status,
    name_camera_state,
    name_condition,
    name_configuration,
    sign_of,
    sign_of_configuration,
)
from onlooker.console.devices.settings_form import (
    LABELS,
    DeviceSettingsForm,
    Inherited,
    label_setting,
    show_setting,
    tell_versions,
)
from onlooker.console.languages.locale_text import translate, write_named
from onlooker.console.streams.audit_log import name_actors
from onlooker.devices.configuration import offer_again, set_device_settings
from onlooker.devices.device_settings import Level
from onlooker.devices.health import read_day
from onlooker.devices.models import Device, DeviceConfiguration, DeviceStatus, SiteDeviceSettings
from onlooker.streams.business_hours import zone_of

VERSIONS_SHOWN = 20
LEVELS = {
    "enrolment": gettext_noop("enrolment"),
    "template": gettext_noop("template"),
    "site": gettext_noop("site"),
    "device": gettext_noop("this device"),
    "stream": gettext_noop("stream"),
    "again": gettext_noop("offered again"),
}
"""Where a change was."""


@dataclass(frozen=True)
class SettingRow:
    """A setting of a device, and where it comes from."""

    label: str
    value: str
    whence: str
    is_own: bool


@dataclass(frozen=True)
class VersionRow:
    """A version of a configuration, with what it changed."""

    version: DeviceConfiguration
    by: str
    level: str
    changes: list[str]
    state: str
    sign: str


@signed_in("GET", "HEAD")
def show_device(request: PersonRequest, device_id: UUID) -> HttpResponse:
    device, now = any_device(request.user, device_id), timezone.now()
    status = status_of(device)
    zone = zone_of(device.stream.time_zone)
    keys, charts = make_charts(read_day(device), now, zone)
    versions = list_versions(device)
    newest = versions[0].version if versions else None
    found = explain_status(status, now)
    refused = explain_configuration(newest.state, newest.version, newest.reason) if newest else None
    condition = condition_of(status, now)
    context = {
        "device": device,
        "status": status,
        "uptime": format_duration(status.health.get("uptime_s") or 0) if status else "",
        "camera_state": name_camera_state(status.camera_state) if status else "",
        "condition": name_condition(condition),
        "sign": "off" if device.revoked_at else sign_of(condition),
        "findings": [] if device.revoked_at else [*([refused] if refused else []), *found],
        "zone": zone.key,
        "charts": charts,
        "has_health": any(not chart.trouble for chart in charts),
        "data": as_data(keys, charts),
        "settings": list_settings(device),
        "versions": versions,
        "newest": newest,
        "is_stuck": refused is not None and not device.revoked_at,
    }
    return render(request, "devices/device.html", context)


def status_of(device: Device) -> DeviceStatus | None:
    """None before its first report."""
    found: DeviceStatus | None = getattr(device, "status", None)
    return found


def inherited_settings(device: Device) -> dict[str, Inherited]:
    """What it has where it has no settings of its own: of its stream, its template, its site; the last one wins."""
    stream, template = device.stream, device.template
    found = {"compute": Inherited(stream.compute, Level.STREAM)}
    if stream.hours:
        found["hours"] = Inherited(stream.hours, Level.STREAM)
    if template:
        settings = template.device_settings.items()
        found |= {name: Inherited(value, Level.TEMPLATE, template.name) for name, value in settings}
    if stream.site:
        row = SiteDeviceSettings.objects.filter(site=stream.site).first()
        at_site = row.settings if row else {}
        found |= {name: Inherited(value, Level.SITE, stream.site.name) for name, value in at_site.items()}
    return found


def list_settings(device: Device) -> list[SettingRow]:
    """All that the device is set to, in the order of the form."""
    inherited, own = inherited_settings(device), device.settings
    names = [*LABELS, *sorted((inherited.keys() | own.keys()) - LABELS.keys())]
    rows = []
    for name in names:
        if name in own:
            rows.append(SettingRow(label_setting(name), show_setting(name, own[name]), _("this device"), is_own=True))
        elif name in inherited:
            value, whence = inherited[name].value, inherited[name].whence
            rows.append(SettingRow(label_setting(name), show_setting(name, value), whence, is_own=False))
    return rows


def list_versions(device: Device) -> list[VersionRow]:
    """Newest first, each compared with the one before."""
    found = list(DeviceConfiguration.objects.filter(device=device).order_by("-version")[: VERSIONS_SHOWN + 1])
    people = name_actors({one.by for one in found})
    before: Sequence[Mapping[str, Any]] = [one.settings for one in found[1:]]
    rows = []
    for number, one in enumerate(found[:VERSIONS_SHOWN]):
        changes = describe_changes(before[number] if number < len(before) else {}, one.settings)
        rows.append(
            VersionRow(
                version=one,
                by=people[one.by],
                level=translate(LEVELS.get(one.level, one.level)),
                changes=changes,
                state=name_configuration(one.state),
                sign=sign_of_configuration(one.state),
            )
        )
    return rows


def describe_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """A sentence for each setting that differs."""
    names = [*LABELS, *sorted((before.keys() | after.keys()) - LABELS.keys())]
    return [
        write_named(
            label_setting(name), f"{show_setting(name, before.get(name))} → {show_setting(name, after.get(name))}"
        )
        for name in names
        if before.get(name) != after.get(name)
    ]


@signed_in("GET", "HEAD", "POST")
def change_device(request: PersonRequest, device_id: UUID) -> HttpResponse:
    """The device's own settings; an empty field leaves what its template, its site and its stream say."""
    device = managed_device(request.user, device_id)
    data = request.POST if request.method == "POST" else None
    form = DeviceSettingsForm(Level.DEVICE, device.settings, inherited_settings(device), data)
    if form.is_valid():
        changed = set_device_settings(device, form.settings, by=account_actor(request.user.pk))
        saved = _("{device} saved.").format(device=device)
        messages.success(request, f"{saved} {tell_versions(changed)}")
        return redirect("device", device_id)
    return render(request, "devices/settings.html", {"device": device, "form": form})


@signed_in("POST")
def offer_version_again(request: PersonRequest, device_id: UUID) -> HttpResponse:
    """The version that the device refused, as its next one: what stood in its way may be gone."""
    device = managed_device(request.user, device_id)
    if offer_again(device, by=account_actor(request.user.pk)):
        messages.success(request, _("{device} is offered its newest settings again.").format(device=device))
    return redirect("device", device_id)
