"""One change of many streams: what it would change, or the change itself."""

from typing import Annotated, Any
from uuid import UUID

from django.conf import settings
from msgspec import Meta

from onlooker.console.api.caller import ApiCaller, require_all
from onlooker.console.api.fields import (
    UNSET,
    GroupsOf,
    Hours,
    Input,
    Number,
    Output,
    RetentionDays,
    TagNames,
    UnsetType,
    check_field,
    check_tags,
    said_in,
)
from onlooker.console.api.operation import ApiCall, Nothing
from onlooker.console.api.resources.streams import select_streams
from onlooker.errors import Code, Problem, bad_request
from onlooker.streams.bulk_changes import AT_MOST, BulkChange, PlannedChange, apply_changes, plan_changes
from onlooker.streams.business_hours import check_hours
from onlooker.streams.models import Stream

NOTHING_SELECTED = "Select streams: by `streams`, `site` or `tag`, or all of them with `all`."


class StreamSelection(Input, frozen=True):
    """Which streams; where several fields are there, those that fit all of them."""

    streams: Annotated[list[UUID], Meta(max_length=AT_MOST)] | UnsetType = UNSET
    site: Annotated[Number | None, Meta(description="null: those at no site")] | UnsetType = UNSET
    tag: Annotated[str, Meta(min_length=1, max_length=50)] | UnsetType = UNSET
    all: bool = False


class BulkSettings(Input, frozen=True):
    """What changes; what is not named stays."""

    site: Number | UnsetType | None = UNSET
    retention_days: RetentionDays | UnsetType = UNSET
    hours: Hours | UnsetType = UNSET
    groups_of: GroupsOf | UnsetType = UNSET
    add_tags: TagNames = []
    remove_tags: TagNames = []


class BulkRequest(Input, frozen=True):
    """Which streams change in what."""

    select: StreamSelection
    change: BulkSettings
    preview: Annotated[bool, Meta(description="true: only say what would change")] = False


class BeforeAfter(Output, frozen=True):
    """A setting that changes."""

    before: Any
    after: Any


class ChangedStream(Output, frozen=True):
    """What changes of one stream."""

    client_id: str
    name: str
    settings: dict[str, BeforeAfter]
    added_tags: list[str]
    removed_tags: list[str]


class BulkAnswer(Output, frozen=True):
    """What changes, or would."""

    preview: bool
    selected: int
    changed: Annotated[int, Meta(description="Streams in which anything changes")]
    deletes_visits: Annotated[int, Meta(description="Streams whose older visits are deleted at once")]
    erases_singles: Annotated[int, Meta(description="Streams whose single quarters of an hour are erased")]
    items: list[ChangedStream]


def change_streams(call: ApiCall[BulkRequest, Nothing]) -> BulkAnswer:
    caller, body = call.caller, call.body
    streams = _find_selected(caller, body.select)
    planned = plan_changes(streams, _read_change(caller, body.change))
    changed = len(planned)
    if not body.preview:
        changed = apply_changes(planned, actor=caller.actor, quota_s=settings.ONLOOKER.developer_quota_s)
    return BulkAnswer(
        preview=body.preview,
        selected=len(streams),
        changed=changed,
        deletes_visits=sum(one.deletes_visits for one in planned),
        erases_singles=sum(one.erases_singles for one in planned),
        items=[_write_change(one) for one in planned],
    )


def _find_selected(caller: ApiCaller, select: StreamSelection) -> list[Stream]:
    said = said_in(select)
    if not select.all and not {"streams", "site", "tag"} & said.keys():
        raise bad_request(NOTHING_SELECTED)
    rows = select_streams(caller, site=said.get("site", UNSET), tag=said.get("tag", ""))
    if "streams" in said:
        rows = rows.filter(client_id__in=said["streams"])
    found = list(
        rows.select_related("site", "organisation").prefetch_related("tag_links__tag").order_by("pk")[: AT_MOST + 1]
    )
    if len(found) > AT_MOST:
        raise Problem(
            Code.CONFLICT, f"At most {AT_MOST:,} streams can be changed at once. Select fewer, such as a site."
        )
    require_all("stream", said.get("streams", ()), [stream.client_id for stream in found])
    return found


def _read_change(caller: ApiCaller, change: BulkSettings) -> BulkChange:
    said = said_in(change)
    added, removed = (check_field(name, check_tags, list(said.pop(name))) for name in ("add_tags", "remove_tags"))
    if "hours" in said:
        said["hours"] = check_field("hours", check_hours, said["hours"])
    if "site" in said:
        site = caller.chosen_site(said.pop("site"))
        said["site_id"] = site.pk if site else None
    return BulkChange(said, added, removed)


def _write_change(one: PlannedChange) -> ChangedStream:
    return ChangedStream(
        client_id=str(one.stream.client_id),
        name=one.stream.name,
        settings={
            "site" if name == "site_id" else name: BeforeAfter(before=before, after=after)
            for name, (before, after) in one.settings.items()
        },
        added_tags=list(one.added_tags),
        removed_tags=list(one.removed_tags),
    )
