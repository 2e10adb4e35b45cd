"""All devices in numbers: by agent version, by condition, by the state of their configuration."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version

from django.db.models import Count, QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.dashboard.fleet_list import release_numbers
from onlooker.console.devices.access import managed_devices, managed_organisations
from onlooker.console.devices.device_filter import NO_VERSION, DeviceFilter, parse_number, with_judgement
from onlooker.console.devices.health_words import (
    CONDITIONS,
    PROBLEMS,
    name_condition,
    name_configuration,
    sign_of,
    sign_of_configuration,
)
from onlooker.devices.models import Device
from onlooker.streams.models import Site

VERSIONS_AT_MOST = 50
"""Agents say what they are; somebody might let them say a thousand things."""


@dataclass(frozen=True)
class DeviceCount:
    """How many devices have something in common, and the list of them."""

    name: str
    devices: int
    address: str
    sign: str
    """The class of its badge."""


@signed_in("GET", "HEAD")
def show_fleet(request: PersonRequest) -> HttpResponse:
    """Each count leads to the list of those devices; `site` counts one site alone."""
    organisations = managed_organisations(request.user)
    asked = DeviceFilter(site_id=parse_number(request.GET.get("site", "")))
    rows = managed_devices(request.user).filter(revoked_at=None)
    if asked.site_id is not None:
        rows = rows.filter(stream__site=asked.site_id)
    rows = with_judgement(rows)
    conditions = count_conditions(rows, asked)
    context = {
        "asked": asked,
        "sites": Site.objects.filter(organisation__in=organisations).order_by("name", "id"),
        "total": sum(one.devices for one in conditions),
        "versions": count_versions(rows, asked),
        "conditions": conditions,
        "configurations": count_configurations(rows, asked),
    }
    return render(request, "devices/fleet.html", context)


def count_by(rows: QuerySet[Device], column: str) -> dict[str, int]:
    """A device without any counts as none."""
    found = rows.order_by().values_list(column).annotate(devices=Count("pk"))
    counts: dict[str, int] = {}
    for value, devices in found:
        counts[value or NO_VERSION] = counts.get(value or NO_VERSION, 0) + devices
    return counts


def count_versions(rows: QuerySet[Device], asked: DeviceFilter) -> list[DeviceCount]:
    """The oldest first: these are the ones to update."""
    counts, own = count_by(rows, "agent_version"), release_numbers(version("onlooker"))
    known = sorted(
        (value for value in counts if value != NO_VERSION), key=lambda value: (release_numbers(value), value)
    )
    found = []
    for value in [*([NO_VERSION] if NO_VERSION in counts else []), *known][:VERSIONS_AT_MOST]:
        is_old = value != NO_VERSION and release_numbers(value) < own
        name = _("Unknown") if value == NO_VERSION else value
        sign = "silent" if is_old else "never" if value == NO_VERSION else "live"
        found.append(DeviceCount(name, counts[value], asked.address(version=value), sign))
    return found


def count_conditions(rows: QuerySet[Device], asked: DeviceFilter) -> list[DeviceCount]:
    """Problems first."""
    counts = count_by(rows, "device_condition")
    names = in_order(counts, (*PROBLEMS, *(name for name in CONDITIONS if name not in PROBLEMS)))
    return [
        DeviceCount(name_condition(name), counts[name], asked.address(condition=name), sign_of(name)) for name in names
    ]


def count_configurations(rows: QuerySet[Device], asked: DeviceFilter) -> list[DeviceCount]:
    """What devices did not take first."""
    counts = count_by(rows, "configuration_state")
    names = in_order(counts, ("refused", "rolled_back", "trying", "new", "applied", NO_VERSION))
    return [
        DeviceCount(
            name_configuration(name),
            counts[name],
            asked.address(configuration=name),
            sign_of_configuration(name),
        )
        for name in names
    ]


def in_order(counts: Mapping[str, int], order: Iterable[str]) -> list[str]:
    """Those that there are; unknown ones last."""
    known = [name for name in order if name in counts]
    return known + sorted(name for name in counts if name not in known)
