"""Devices: the boxes with an agent."""

from datetime import datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery
from msgspec import Meta

from onlooker.audit.actor import acting_as
from onlooker.console.api.caller import ApiCaller
from onlooker.console.api.fields import UNSET, Input, Number, Output, SearchQuery, UnsetType
from onlooker.console.api.operation import ApiCall, Nothing, OptionalTime, Time, write_moment, write_moment_or_null
from onlooker.console.api.pages import Page, read_page
from onlooker.console.api.resources.enrolment import CreatedCodeBody, LifeDays, write_new_code
from onlooker.devices.enrolment import revoke_device
from onlooker.devices.enrolment_codes import REPLACEMENT_LIFE, create_replacement
from onlooker.devices.models import Device, DeviceConfiguration
from onlooker.errors import Code, Problem, not_found


class ConfigurationStateBody(Output, frozen=True):
    """What a device made of its newest version."""

    version: int
    etag: str
    state: Annotated[str, Meta(description="new, trying, applied, refused or rolled_back")]
    reason: Annotated[str, Meta(description="As the device says")]


class DeviceBody(Output, frozen=True):
    """A device."""

    device_id: str
    stream: Annotated[str, Meta(description="client_id of the stream that it sends for")]
    stream_name: str
    site: int | None
    name: Annotated[str, Meta(description="Its host name, as it says")]
    machine: str
    version: Annotated[str, Meta(description="Of its agent")]
    enrolled_at: Time
    seen_at: Time
    revoked_at: OptionalTime
    condition: Annotated[str, Meta(description="Of its picture, as it last reported; empty: not yet")]
    settings: Annotated[dict[str, Any], Meta(description="Its own; see its configuration for what comes out")]
    configuration: Annotated[ConfigurationStateBody | None, Meta(description="Its newest version")]


class DeviceQuery(SearchQuery, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which devices."""

    site: Number | UnsetType = UNSET
    tag: Annotated[str, Meta(max_length=50, description="Of its stream")] = ""
    revoked: Annotated[bool, Meta(description="Whether revoked ones are listed, too")] = False


class ReplacementBody(Input, frozen=True):
    """How long the code for the next box works."""

    life_days: LifeDays = REPLACEMENT_LIFE.days


def find_last_sight(device: Device) -> tuple[str, datetime]:
    """Version and time, by the newest of what it said to the console and what it reports every minute."""
    status = getattr(device, "status", None)
    if status and status.reported_at >= device.seen_at:
        return status.version or device.version, status.reported_at
    report = getattr(device.stream, "agent_condition", None)
    if report is None or device.revoked_at or report.received_at < device.seen_at:
        return device.version, device.seen_at
    return report.version or device.version, report.received_at


def with_details(rows: QuerySet[Device]) -> QuerySet[Device]:
    newest = DeviceConfiguration.objects.filter(device=OuterRef("pk")).order_by("-version")
    return rows.select_related("stream__agent_condition", "status").annotate(
        **{f"newest_{name}": Subquery(newest.values(name)[:1]) for name in ("version", "etag", "state", "reason")}
    )


def find_device(caller: ApiCaller, device_id: UUID) -> DeviceBody:
    found = with_details(caller.devices()).filter(device_id=device_id).first()
    if found is None:
        raise not_found("device")
    return write_device(found)


def write_device(device: Device) -> DeviceBody:
    version, seen_at = find_last_sight(device)
    return DeviceBody(
        device_id=str(device.device_id),
        stream=str(device.stream.client_id),
        stream_name=device.stream.name,
        site=device.stream.site_id,
        name=device.name,
        machine=device.machine,
        version=version,
        enrolled_at=write_moment(device.enrolled_at),
        seen_at=write_moment(seen_at),
        revoked_at=write_moment_or_null(device.revoked_at),
        condition=device.status.condition if hasattr(device, "status") else "",
        settings=device.settings,
        configuration=_write_configuration(device),
    )


def _write_configuration(device: Any) -> ConfigurationStateBody | None:
    """Of a device that `with_details` has found."""
    if device.newest_version is None:
        return None
    return ConfigurationStateBody(
        version=device.newest_version,
        etag=device.newest_etag,
        state=device.newest_state,
        reason=device.newest_reason,
    )


def select_devices(caller: ApiCaller, asked: DeviceQuery) -> QuerySet[Device]:
    rows = caller.devices()
    if asked.site is not UNSET:
        rows = rows.filter(stream__site=asked.site)
    if asked.tag:
        rows = rows.filter(stream__tag_links__tag__name=asked.tag)
    if asked.search:
        rows = rows.filter(Q(stream__name__icontains=asked.search) | Q(name__icontains=asked.search))
    return rows if asked.revoked else rows.filter(revoked_at=None)


def list_devices(call: ApiCall[Nothing, DeviceQuery]) -> Page[DeviceBody]:
    rows = with_details(select_devices(call.caller, call.query))
    return read_page(rows, call.query, write_device, list_name="devices", newest_first=True)


def read_device(call: ApiCall[Nothing, Nothing]) -> DeviceBody:
    return find_device(call.caller, call.path["device_id"])


def revoke_a_device(call: ApiCall[Nothing, Nothing]) -> DeviceBody:
    """Again, it changes nothing."""
    device = call.caller.device(call.path["device_id"])
    if device.revoked_at is None:
        with acting_as(call.caller.actor):
            revoke_device(device)
    return find_device(call.caller, device.device_id)


def replace_device(call: ApiCall[ReplacementBody, Nothing]) -> CreatedCodeBody:
    """A code for the box that takes over; the old one works until then."""
    caller = call.caller
    device = caller.device(call.path["device_id"])
    if device.revoked_at and device.stream.devices.filter(revoked_at=None).exists():
        raise Problem(Code.CONFLICT, "Another device sends for this stream already. Replace that one.")
    with acting_as(caller.actor):
        made = create_replacement(device.stream, life=timedelta(days=call.body.life_days), by=caller.key.created_by)
    return write_new_code(made)
