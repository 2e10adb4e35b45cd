"""`GET /stream`, for a device: whether its stream computes, what is left of the month, where its numbers are."""

import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from onlooker.gateway.admission import read_credentials
from onlooker.gateway.context import GatewayContext, context_of, stream_of
from onlooker.gateway.permits import is_closed, state_of
from onlooker.http.answers import json_answer
from onlooker.http.openapi import Moment
from onlooker.streams.business_hours import clock_changes, open_spans, parse_hours, zone_of
from onlooker.streams.credentials import StreamRecord
from onlooker.streams.options import is_nearly_used_up
from onlooker.streams.state import State
from onlooker.streams.video_time import month_end

STATES = {State.ENABLED: "ready", State.DISABLED: "disabled", State.QUOTA: "month_used_up"}
"""In the words of people who set up a camera."""


OPENING_BEFORE, OPENING_AFTER = timedelta(days=1), timedelta(days=14)
"""Of what time around now a device is told when the stream is open; later weeks are like the last one."""
CHANGES_AFTER = timedelta(days=400)
"""How far ahead a device is told when the local clock is set: so long it may be without a line."""


class StreamMonth(msgspec.Struct, frozen=True):
    """How much video a stream has used this month, and how much it may."""

    used_s: Annotated[float, Meta(ge=0)]
    quota_s: Annotated[float | None, Meta(description="null: no limit")]
    nearly_used_up: Annotated[bool, Meta(description="Whether it is worth a warning: 80 % or more are used")]
    resets_at: Moment


class StreamReads(msgspec.Struct, frozen=True):
    """What is read from faces."""

    age: bool
    gender: bool
    expression: bool
    faces: Annotated[bool, Meta(description="Without it no face is looked for, and people are only counted")]


class StreamOpening(msgspec.Struct, frozen=True):
    """When a stream with opening hours is open. Unix seconds, so that a device needs no time zones."""

    hours: Annotated[str, Meta(description="As its owner wrote them, on the stream's local clock")]
    since: Annotated[float, Meta(description="These hours hold from then on; before, the stream counts as open")]
    from_s: float = msgspec.field(name="from")
    to_s: float = msgspec.field(name="to")
    spans: Annotated[list[tuple[float, float]], Meta(description="Between `from` and `to`; the ends are exclusive")]
    changes: Annotated[
        list[tuple[float, float]],
        Meta(description="When the local clock is set, from `from` on for more than a year, and by how many seconds"),
    ]


class OwnStreamBody(msgspec.Struct, frozen=True, kw_only=True):
    """A stream as its device sees it."""

    client_id: uuid.UUID
    kind: Annotated[str, Meta(extra_json_schema={"enum": ["developer", "enterprise"]})]
    enabled: bool
    state: Annotated[str, Meta(extra_json_schema={"enum": list(STATES.values())})]
    month: StreamMonth
    compute: Annotated[
        str, Meta(description="Where its agent is to compute", extra_json_schema={"enum": ["server", "device"]})
    ]
    retention_days: int
    reads: StreamReads
    groups_of: Annotated[int, Meta(description="What people are like is told of at least so many together; 1: singly")]
    opening: Annotated[StreamOpening | None, Meta(description="null: always open")]
    is_open: Annotated[bool, Meta(description="Whether it is open now")]
    console_url: str
    data_url: str
    now: Annotated[str, Meta(description="The server's clock", extra_json_schema={"format": "date-time"})]


async def show_stream(request: Request) -> Response:
    client_id, _ = read_credentials(request.headers.get("authorization"))
    return json_answer(describe_stream(context_of(request), stream_of(request), client_id))


def describe_stream(context: GatewayContext, stream: StreamRecord, client_id: str) -> OwnStreamBody:
    now = time.time()
    used_s = context.meters.usage.used_s(stream.id, known_s=stream.video_s)
    quota_s = context.settings.developer_quota_s if stream.kind == "developer" else None
    return OwnStreamBody(
        client_id=uuid.UUID(client_id),
        kind=stream.kind,
        enabled=stream.enabled,
        state=STATES[state_of(context, stream)],
        month=StreamMonth(
            used_s=round(used_s, 3),
            quota_s=quota_s,
            nearly_used_up=is_nearly_used_up(used_s, quota_s),
            resets_at=month_end(now).isoformat(),
        ),
        compute=stream.compute,
        retention_days=stream.retention_days,
        reads=StreamReads(
            age=stream.reads_age,
            gender=stream.reads_gender,
            expression=stream.reads_expression,
            faces=stream.reads_faces,
        ),
        groups_of=stream.groups_of,
        opening=describe_opening(stream, now),
        is_open=not is_closed(stream, now),
        console_url=context.settings.console_url,
        data_url=context.settings.data_url,
        now=datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds"),
    )


def describe_opening(stream: StreamRecord, now_s: float) -> StreamOpening | None:
    hours = parse_hours(stream.hours)
    if hours is None:
        return None
    now = datetime.fromtimestamp(now_s, UTC)
    from_at, to_at = now - OPENING_BEFORE, now + OPENING_AFTER
    zone = zone_of(stream.time_zone)
    spans = open_spans(hours, zone, from_at, to_at)
    changes = clock_changes(zone, from_at, now + CHANGES_AFTER)
    return StreamOpening(
        hours=stream.hours,
        since=stream.hours_since_s or 0.0,
        from_s=from_at.timestamp(),
        to_s=to_at.timestamp(),
        spans=[(span.from_at.timestamp(), span.to_at.timestamp()) for span in spans],
        changes=[(set_at.timestamp(), by.total_seconds()) for set_at, by in changes],
    )
