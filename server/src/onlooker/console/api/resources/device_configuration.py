"""What devices are set to: by themselves, by their site, by their template, many at once; and how they are."""

from typing import Annotated, Any
from uuid import UUID

import msgspec
from msgspec import Meta

from onlooker.console.api.caller import require_all
from onlooker.console.api.fields import UNSET, Input, Number, Output, SettingChanges, UnsetType, said_in
from onlooker.console.api.operation import ApiCall, Nothing, OptionalTime, Time, write_moment, write_moment_or_null
from onlooker.console.api.resources.devices import DeviceBody, find_device
from onlooker.console.api.resources.stream_changes import BeforeAfter
from onlooker.devices.bulk_configuration import (
    AT_MOST,
    DeviceSelection,
    PlannedConfiguration,
    apply_configuration,
    plan_configuration,
    select_devices,
)
from onlooker.devices.configuration import document_for, offer_again, set_device_settings
from onlooker.devices.health import HealthMinute, read_day
from onlooker.devices.models import DeviceConfiguration
from onlooker.errors import Code, Problem, bad_request

VERSIONS_SHOWN = 50
NAMED_AT_MOST = 5000
"""A body has room for so many."""
NOTHING_SELECTED = "Select devices: by `devices`, `site` or `tag`, or all of them with `all`."


class DeviceChange(Input, frozen=True):
    """What changes of a device."""

    settings: SettingChanges


class ConfigurationVersion(Output, frozen=True):
    """A version of what a device is set to."""

    version: int
    etag: str
    settings: dict[str, Any]
    level: Annotated[str, Meta(description="Where the change was: template, site, device, stream")]
    by: Annotated[str, Meta(description="Who, as in the audit log")]
    created_at: Time
    state: Annotated[str, Meta(description="new, trying, applied, refused or rolled_back")]
    reason: Annotated[str, Meta(description="As the device says")]
    applied_at: OptionalTime


class DeviceConfigurationBody(Output, frozen=True):
    """What a device is offered now, and its versions, the newest first."""

    version: int
    etag: str
    settings: dict[str, Any]
    versions: list[ConfigurationVersion]


class HealthMinutesBody(Output, frozen=True):
    """A minute of a device."""

    at: Time
    uptime_s: float
    state: str
    condition: str
    grabbed_s: Annotated[float | None, Meta(description="Frames a second")]
    answered_s: float | None
    dropped: Annotated[dict[str, int], Meta(description="Frames in this minute, by reason")]
    light: float | None
    temperature_c: float | None
    disk_free_mb: float | None
    disk_total_mb: float | None
    memory_mb: float | None
    clock_off_s: float | None
    latency_ms: float | None
    kbytes_s: float | None
    journal_waiting: int | None
    journal_bytes: int | None
    journal_lost: int | None


class HealthDay(Output, frozen=True):
    """The last 24 hours, the oldest minute first."""

    items: list[HealthMinutesBody]


class DevicesSelection(Input, frozen=True):
    """Which devices; where several fields are there, those that fit all of them."""

    devices: Annotated[list[UUID], Meta(max_length=NAMED_AT_MOST)] | UnsetType = UNSET
    site: Number | UnsetType = UNSET
    tag: Annotated[str, Meta(min_length=1, max_length=50)] | UnsetType = UNSET
    all: bool = False


class ConfigurationRequest(Input, frozen=True):
    """Which devices are set to what."""

    select: DevicesSelection
    settings: SettingChanges
    preview: Annotated[bool, Meta(description="true: only say what would change")] = False


class ChangedDevice(Output, frozen=True):
    """What changes of one device."""

    device_id: str
    stream: str
    settings: dict[str, BeforeAfter]


class ConfigurationAnswer(Output, frozen=True):
    """What changes, or would."""

    preview: bool
    selected: int
    changed: int
    items: list[ChangedDevice]


def change_device(call: ApiCall[DeviceChange, Nothing]) -> DeviceBody:
    device = call.caller.device(call.path["device_id"])
    if device.revoked_at:
        raise Problem(Code.CONFLICT, "This device is revoked: it can't be set to anything any more.")
    try:
        set_device_settings(device, call.body.settings, by=call.caller.actor)
    except ValueError as error:
        raise bad_request(f"settings: {error}") from None
    return find_device(call.caller, device.device_id)


def read_configuration(call: ApiCall[Nothing, Nothing]) -> DeviceConfigurationBody:
    device = call.caller.device(call.path["device_id"])
    document = document_for(device)
    rows = DeviceConfiguration.objects.filter(device=device).order_by("-version")[:VERSIONS_SHOWN]
    return DeviceConfigurationBody(
        version=document.version,
        etag=document.etag,
        settings=document.settings,
        versions=[_write_version(row) for row in rows],
    )


def _write_version(row: DeviceConfiguration) -> ConfigurationVersion:
    return ConfigurationVersion(
        version=row.version,
        etag=row.etag,
        settings=row.settings,
        level=row.level,
        by=row.by,
        created_at=write_moment(row.created_at),
        state=row.state,
        reason=row.reason,
        applied_at=write_moment_or_null(row.applied_at),
    )


def offer_configuration_again(call: ApiCall[Nothing, Nothing]) -> DeviceConfigurationBody:
    """A version that was refused or rolled back, as a next version; again, it changes nothing."""
    offer_again(call.caller.device(call.path["device_id"]), by=call.caller.actor)
    return read_configuration(call)


def read_health(call: ApiCall[Nothing, Nothing]) -> HealthDay:
    device = call.caller.device(call.path["device_id"])
    return HealthDay(items=[_write_minute(minute) for minute in read_day(device)])


def _write_minute(minute: HealthMinute) -> HealthMinutesBody:
    names = [field.name for field in msgspec.structs.fields(HealthMinutesBody) if field.name != "at"]
    return HealthMinutesBody(at=write_moment(minute.at), **{name: getattr(minute, name) for name in names})


def configure_devices(call: ApiCall[ConfigurationRequest, Nothing]) -> ConfigurationAnswer:
    caller, body = call.caller, call.body
    said = said_in(body.select)
    if not body.select.all and not {"devices", "site", "tag"} & said.keys():
        raise bad_request(NOTHING_SELECTED)
    selection = DeviceSelection(
        caller.organisation,
        site=caller.chosen_site(said["site"]) if "site" in said else None,
        tag=said.get("tag"),
        device_ids=tuple(said["devices"]) if "devices" in said else None,
    )
    rows = select_devices(selection).filter(stream__in=caller.streams().values("pk"))
    named = said.get("devices", [])
    known = caller.devices().filter(device_id__in=named).values_list("device_id", flat=True)
    require_all("device", named, list(known))
    selected = rows.count()
    if selected > AT_MOST:
        raise Problem(Code.CONFLICT, f"One change is of at most {AT_MOST:,} devices. Choose a site or a tag.")
    try:
        planned = plan_configuration(rows, body.settings)
    except ValueError as error:
        raise bad_request(f"settings: {error}") from None
    changed = len(planned)
    if not body.preview:
        changed = apply_configuration(planned, body.settings, by=caller.actor)
    items = [_write_planned(one) for one in planned]
    return ConfigurationAnswer(preview=body.preview, selected=selected, changed=changed, items=items)


def _write_planned(one: PlannedConfiguration) -> ChangedDevice:
    return ChangedDevice(
        device_id=str(one.device.device_id),
        stream=str(one.device.stream.client_id),
        settings={name: BeforeAfter(before=before, after=after) for name, (before, after) in one.settings.items()},
    )
