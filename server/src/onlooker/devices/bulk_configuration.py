"""One change of the settings of many devices: first what it would change of each, then the change itself."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from onlooker.audit.actor import acting_as
from onlooker.database import load_queries
from onlooker.devices.configuration import write_versions
from onlooker.devices.device_settings import Level, check_settings
from onlooker.devices.models import Device
from onlooker.sentences import Sentence
from onlooker.streams.models import Organisation, Site
from onlooker.streams.organisations import RefusedError

AT_MOST = 10_000
"""Devices that one change is of."""
AT_ONCE = 500
"""In one transaction, so that nobody waits for all of them."""

_queries = load_queries("onlooker.devices")


@dataclass(frozen=True)
class DeviceSelection:
    """Devices of an organisation that meet all that is named; all of them, where nothing is."""

    organisation: Organisation
    site: Site | None = None
    tag: str | None = None
    device_ids: tuple[UUID, ...] | None = None


@dataclass(frozen=True)
class PlannedConfiguration:
    """What a change means for the document of one device."""

    device: Device
    settings: dict[str, tuple[Any, Any]]
    """Before and after, by setting; None where it is not set. Empty: the device is set so already, by another level."""


def select_devices(selection: DeviceSelection) -> QuerySet[Device]:
    """Those that are not revoked, in the order of their numbers."""
    rows = Device.objects.filter(
        stream__organisation=selection.organisation, stream__removed_at=None, revoked_at=None
    ).select_related("stream__site")
    if selection.site:
        rows = rows.filter(stream__site=selection.site)
    if selection.tag:
        rows = rows.filter(stream__tag_links__tag__name=selection.tag)
    if selection.device_ids is not None:
        rows = rows.filter(device_id__in=selection.device_ids)
    return rows.order_by("pk")


def plan_configuration(devices: QuerySet[Device], settings: dict[str, Any]) -> list[PlannedConfiguration]:
    """Of those whose own settings or document would change. Raises ValueError, RefusedError."""
    changes = check_settings(Level.DEVICE, settings)
    found = {device.pk: device for device in devices[: AT_MOST + 1]}
    if len(found) > AT_MOST:
        raise RefusedError(Sentence("One change is of at most {most:,} devices. Choose a site or a tag.", most=AT_MOST))
    with connection.cursor() as cursor:
        values: dict[str, Any] = {"devices": list(found), "changes": json.dumps(changes)}
        cursor.execute(_queries["preview_settings"], values)
        documents = {pk: (json.loads(before), json.loads(after)) for pk, before, after in cursor.fetchall()}
    planned = [PlannedConfiguration(device, _differences(*documents[pk])) for pk, device in found.items()]
    return [one for one in planned if one.settings or _changes_own(one.device, changes)]


def digest_plan(planned: Sequence[PlannedConfiguration]) -> str:
    """Differs if anything would change otherwise than it was shown."""
    parts = [(one.device.pk, one.settings) for one in planned]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def apply_configuration(planned: Sequence[PlannedConfiguration], settings: dict[str, Any], *, by: str) -> int:
    """How many devices were changed. Begun again after an interruption, it goes on with those that are left."""
    changes = json.dumps(check_settings(Level.DEVICE, settings))
    numbers = sorted(one.device.pk for one in planned)
    changed = 0
    for begin in range(0, len(numbers), AT_ONCE):
        with acting_as(by), connection.cursor() as cursor:
            values: dict[str, Any] = {"devices": numbers[begin : begin + AT_ONCE], "changes": changes}
            cursor.execute(_queries["change_settings"], values)
            done = sorted(row[0] for row in cursor.fetchall())
            write_versions(done, Level.DEVICE)
        changed += len(done)
    return changed


def _differences(before: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    names = sorted(before.keys() | after.keys())
    return {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}


def _changes_own(device: Device, changes: dict[str, Any]) -> bool:
    return any(device.settings.get(name) != value for name, value in changes.items())
