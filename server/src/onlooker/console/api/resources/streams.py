"""Streams: create, list, change, remove; their Passwords."""

from datetime import timedelta
from typing import Annotated, Any

from django.conf import settings
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone
from msgspec import Meta

from onlooker.audit.actor import acting_as
from onlooker.audit.models import KEPT_DAYS, LONGEST_KEPT_DAYS, AuditRetention
from onlooker.console.api.caller import ApiCaller
from onlooker.console.api.fields import (
    UNSET,
    AlertMinutes,
    ComputeWord,
    GroupsOf,
    Hours,
    Input,
    KindWord,
    Number,
    Output,
    RetentionDays,
    SearchQuery,
    TagNames,
    Text,
    TimeZone,
    UnsetType,
    check_field,
    check_fields,
    check_tags,
    require_none,
    said_in,
)
from onlooker.console.api.operation import ApiCall, Nothing, OptionalTime, Time, write_moment, write_moment_or_null
from onlooker.console.api.pages import Page, read_page
from onlooker.console.billing.subscriptions import has_subscription
from onlooker.errors import Code, Problem, not_found
from onlooker.streams.administration import create_stream, remove_stream, rotate_access_token, set_stream
from onlooker.streams.bulk_changes import BulkChange, apply_changes, plan_changes
from onlooker.streams.business_hours import check_hours
from onlooker.streams.choices import StreamChoice, find_change_refusals
from onlooker.streams.models import Stream, StreamKind, Usage
from onlooker.streams.options import EnterpriseAccess, check_name, check_time_zone, enterprise_access
from onlooker.streams.presets import USUAL, CameraPlace, Preset

KIND_NOT_CHOSEN = "An enterprise stream is paid for in the console, or set by staff. Create a developer stream first."
SAME_NAMES = (
    *("name", "kind", "enabled", "time_zone", "hours", "place", "compute"),
    *("reads_faces", "reads_age", "reads_gender", "reads_expression", "retention_days", "groups_of", "grid"),
    *("silence_alert_minutes", "blind_alert_minutes", "unusual_alert"),
)
"""Fields that are columns."""


class StreamBody(Output, frozen=True):
    """A stream."""

    client_id: Annotated[str, Meta(description="Its Login")]
    name: str
    kind: KindWord
    enabled: bool
    site: Annotated[int | None, Meta(description="Where it stands")]
    tags: list[str]
    time_zone: str
    hours: str
    place: CameraPlace
    compute: ComputeWord
    reads_faces: bool
    reads_age: bool
    reads_gender: bool
    reads_expression: bool
    retention_days: int
    audit_days: int
    groups_of: int
    grid: bool
    silence_alert_minutes: int
    blind_alert_minutes: int
    unusual_alert: Annotated[bool, Meta(description="Whether far fewer or far more people than usual are told of")]
    notice_given_at: OptionalTime
    created_at: Time
    last_frame_at: OptionalTime


class StreamQuery(SearchQuery, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which streams."""

    site: Number | UnsetType = UNSET
    tag: Annotated[str, Meta(max_length=50, description="Its name")] = ""


class NewStreamBody(Input, frozen=True):
    """A stream that does not exist yet."""

    name: Text
    place: CameraPlace = CameraPlace.PUBLIC
    preset: Annotated[Preset, Meta(description="What is computed of people")] = USUAL
    notice_given: Annotated[bool, Meta(description="Whether the people in front of the camera are told")] = False
    kind: KindWord | UnsetType = UNSET
    site: Number | None = None
    tags: TagNames = []
    time_zone: TimeZone | UnsetType = UNSET
    hours: Hours = ""
    compute: ComputeWord = "server"


class CreatedStreamBody(Output, frozen=True):
    """A stream, and its Password, which is shown this once."""

    stream: StreamBody
    access_token: Annotated[str, Meta(description="Its Password, shown this once")]


class StreamChange(Input, frozen=True):
    """What changes; what is not named stays."""

    name: Text | UnsetType = UNSET
    kind: KindWord | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    site: Number | UnsetType | None = UNSET
    tags: TagNames | UnsetType = UNSET
    time_zone: TimeZone | UnsetType = UNSET
    hours: Hours | UnsetType = UNSET
    place: CameraPlace | UnsetType = UNSET
    compute: ComputeWord | UnsetType = UNSET
    reads_faces: bool | UnsetType = UNSET
    reads_age: bool | UnsetType = UNSET
    reads_gender: bool | UnsetType = UNSET
    reads_expression: bool | UnsetType = UNSET
    retention_days: RetentionDays | UnsetType = UNSET
    audit_days: Annotated[int, Meta(ge=1, le=LONGEST_KEPT_DAYS)] | UnsetType = UNSET
    groups_of: GroupsOf | UnsetType = UNSET
    grid: bool | UnsetType = UNSET
    silence_alert_minutes: AlertMinutes | UnsetType = UNSET
    blind_alert_minutes: AlertMinutes | UnsetType = UNSET
    unusual_alert: bool | UnsetType = UNSET


class RotationBody(Input, frozen=True):
    """How long the old Passwords keep working."""

    grace_hours: Annotated[float, Meta(ge=0, le=24)] = 1.0


class NewPasswordBody(Output, frozen=True):
    """A Password, which is shown this once."""

    access_token: str
    old_ends_at: Time


def with_details(streams: QuerySet[Stream]) -> QuerySet[Stream]:
    """All that an answer needs, whatever the number of streams."""
    newest = Usage.objects.filter(stream=OuterRef("pk"), last_frame_at__isnull=False).order_by("-month")
    kept = AuditRetention.objects.filter(stream_id=OuterRef("pk"))
    return streams.prefetch_related("tag_links__tag").annotate(
        last_frame_at=Subquery(newest.values("last_frame_at")[:1]), audit_days=Subquery(kept.values("days")[:1])
    )


def find_stream(caller: ApiCaller, client_id: Any) -> StreamBody:
    found = with_details(caller.streams()).filter(client_id=client_id).first()
    if found is None:
        raise not_found("stream")
    return write_stream(found)


def write_stream(stream: Stream) -> StreamBody:
    details: Any = stream
    return StreamBody(
        client_id=str(stream.client_id),
        site=stream.site_id,
        tags=sorted(link.tag.name for link in stream.tag_links.all()),
        audit_days=details.audit_days or KEPT_DAYS,
        notice_given_at=write_moment_or_null(stream.notice_given_at),
        created_at=write_moment(stream.created_at),
        last_frame_at=write_moment_or_null(details.last_frame_at),
        **{name: getattr(stream, name) for name in SAME_NAMES},
    )


def select_streams(caller: ApiCaller, *, site: Any = UNSET, tag: str = "", search: str = "") -> QuerySet[Stream]:
    """Of those that the key reaches."""
    rows = caller.streams()
    if site is not UNSET:
        rows = rows.filter(site=site)
    if tag:
        rows = rows.filter(tag_links__tag__name=tag)
    return rows.filter(name__icontains=search) if search else rows


def list_streams(call: ApiCall[Nothing, StreamQuery]) -> Page[StreamBody]:
    asked = call.query
    rows = select_streams(call.caller, site=asked.site, tag=asked.tag, search=asked.search)
    return read_page(with_details(rows), asked, write_stream, list_name="streams")


def read_stream(call: ApiCall[Nothing, Nothing]) -> StreamBody:
    return find_stream(call.caller, call.path["client_id"])


def create_a_stream(call: ApiCall[NewStreamBody, Nothing]) -> CreatedStreamBody:
    caller, body = call.caller, call.body
    site = caller.chosen_site(body.site)
    zone = body.time_zone if body.time_zone is not UNSET else (site.time_zone if site else "UTC")
    choice = StreamChoice(
        place=body.place,
        preset=body.preset,
        is_notice_given=body.notice_given,
        time_zone=check_field("time_zone", check_time_zone, str(zone)),
        hours=check_field("hours", check_hours, body.hours),
    )
    require_none(choice.find_refusals())
    tags = check_field("tags", check_tags, list(body.tags))
    with acting_as(caller.actor):
        created = create_stream(
            check_field("name", check_name, body.name),
            kind=_find_kind(body),
            organisation=caller.organisation,
            at_most=settings.ONLOOKER.streams_per_account,
            compute=body.compute,
            **choice.stream_settings(site),
        )
        _set_tags(caller, created.stream, tags)
    return CreatedStreamBody(stream=find_stream(caller, created.stream.client_id), access_token=created.access_token)


def _find_kind(body: NewStreamBody) -> str:
    """As the console's form has it: enterprise where nobody pays, else developer."""
    is_free = enterprise_access(settings.ONLOOKER, is_staff=False) is EnterpriseAccess.CHOICE
    if isinstance(body.kind, UnsetType):
        return StreamKind.ENTERPRISE if is_free else StreamKind.DEVELOPER
    if StreamKind(body.kind) is StreamKind.ENTERPRISE and not is_free:
        raise Problem(Code.CONFLICT, KIND_NOT_CHOSEN)
    return body.kind


def change_stream(call: ApiCall[StreamChange, Nothing]) -> StreamBody:
    caller = call.caller
    stream = caller.stream(call.path["client_id"])
    changes = check_fields(said_in(call.body), name=check_name, time_zone=check_time_zone, hours=check_hours)
    tags = changes.pop("tags", None)
    if "kind" in changes:
        _check_kind(stream, changes["kind"])
    if "site" in changes:
        site = caller.chosen_site(changes.pop("site"))
        changes["site_id"] = site.pk if site else None
    require_none(find_change_refusals(stream, changes))
    with acting_as(caller.actor):
        if changes:
            _set(stream, changes)
        if tags is not None:
            _set_tags(caller, stream, check_field("tags", check_tags, list(tags)))
    return find_stream(caller, stream.client_id)


def _set(stream: Stream, changes: dict[str, Any]) -> None:
    try:
        set_stream(str(stream.client_id), changes, quota_s=settings.ONLOOKER.developer_quota_s)
    except Stream.DoesNotExist:
        raise not_found("stream") from None  # removed in the meantime


def _set_tags(caller: ApiCaller, stream: Stream, tags: tuple[str, ...]) -> None:
    known = [link.tag.name for link in stream.tag_links.all()]
    change = BulkChange(added_tags=tags, removed_tags=tuple(name for name in known if name not in tags))
    planned = plan_changes([stream], change)
    apply_changes(planned, actor=caller.actor, quota_s=settings.ONLOOKER.developer_quota_s)


def _check_kind(stream: Stream, kind: str) -> None:
    is_free = enterprise_access(settings.ONLOOKER, is_staff=False) is EnterpriseAccess.CHOICE
    if kind != stream.kind and (not is_free or has_subscription(stream)):
        raise Problem(Code.CONFLICT, "The kind of this stream is paid for in the console, or set by staff.")


def remove_a_stream(call: ApiCall[Nothing, Nothing]) -> None:
    stream = call.caller.stream(call.path["client_id"])
    with acting_as(call.caller.actor):
        remove_stream(stream)


def rotate_password(call: ApiCall[RotationBody, Nothing]) -> NewPasswordBody:
    stream = call.caller.stream(call.path["client_id"])
    grace = timedelta(hours=call.body.grace_hours)
    try:
        with acting_as(call.caller.actor):
            access_token = rotate_access_token(stream, grace=grace)
    except Stream.DoesNotExist:
        raise not_found("stream") from None  # removed in the meantime
    return NewPasswordBody(access_token=access_token, old_ends_at=write_moment(timezone.now() + grace))
