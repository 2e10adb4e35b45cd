"""Whether a stream may compute and store now: it is enabled, open, and has some of its month left."""

import math
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from onlooker.errors import Code, Problem, overloaded
from onlooker.gateway.context import GatewayContext
from onlooker.slots import SLOT_S
from onlooker.streams.business_hours import WeekHours, is_open, next_opening, parse_hours, zone_of
from onlooker.streams.coverage import EARLIEST_S, LATEST_S
from onlooker.streams.credentials import StreamRecord
from onlooker.streams.state import State
from onlooker.streams.video_time import as_duration, month_end
from onlooker_pipeline.catalogue.service import Service
from onlooker_pipeline.frame_time import read_timestamp_us

RETRY_AFTER_CLOCK_S = 30
LONGEST_WAIT_S = 600.0
"""Even where a stream opens later: its hours may be changed."""
CACHED_SLOTS = 16_384


def permit_job(context: GatewayContext, stream: StreamRecord, service: Service) -> None:
    """A job without picture or sound costs next to nothing: only a wrong clock stands in its way."""
    permit_clock(context)
    if service.takes_media:
        permit_compute(context, stream)


def permit_clock(context: GatewayContext) -> None:
    if not context.clock.is_right:
        raise overloaded(context.clock.reason, retry_after_s=RETRY_AFTER_CLOCK_S)


def permit_compute(context: GatewayContext, stream: StreamRecord) -> None:
    """Refuse to compute for a stream that is disabled or has used up its month."""
    state = state_of(context, stream)
    if state != stream.logged_state:
        context.meters.states.look_at(stream.id)
    permit_stream(stream)
    if state is State.QUOTA:
        resets_at = month_end(time.time())
        month = as_duration(context.settings.developer_quota_s)
        raise Problem(
            Code.QUOTA_EXCEEDED,
            f"A developer stream computes {month} of video a month. It goes on in the next month, "
            "or at once as an enterprise stream.",
            members={"resets_at": resets_at.isoformat()},
        )


def permit_hours(stream: StreamRecord, service: Service, params: Mapping[str, Any], *, arrived_at: float) -> None:
    """Refuse a frame that was taken while its stream is closed: by its own time, or by its arrival."""
    if not stream.hours or not service.takes_media:
        return
    told_us = read_timestamp_us(params, time_zone=stream.time_zone)
    told_s = arrived_at if told_us is None else told_us / 1e6
    at_s = told_s if arrived_at - EARLIEST_S <= told_s <= arrived_at + LATEST_S else arrived_at
    if not is_closed(stream, at_s):
        return
    zone = zone_of(stream.time_zone)
    opens_at = next_opening(_hours_of(stream), zone, datetime.fromtimestamp(max(at_s, arrived_at), UTC))
    members = {"opens_at": opens_at.astimezone(zone).isoformat()} if opens_at else {}
    wait_s = opens_at.timestamp() - arrived_at if opens_at else LONGEST_WAIT_S
    raise Problem(
        Code.STREAM_CLOSED,
        f"This stream is open {stream.hours} ({stream.time_zone}). Outside these hours nothing is computed.",
        members=members,
        headers={"Retry-After": str(math.ceil(min(max(wait_s, 1.0), LONGEST_WAIT_S)))},
    )


def is_closed(stream: StreamRecord, at_s: float) -> bool:
    """Whether the stream's opening hours, as far back as these hold, exclude a moment."""
    if not stream.hours or at_s < (stream.hours_since_s or 0.0):
        return False
    return not _is_slot_open(stream.hours, stream.time_zone, int(at_s // SLOT_S))


@lru_cache(maxsize=CACHED_SLOTS)
def _is_slot_open(hours: str, time_zone: str, slot: int) -> bool:
    """A slot is open or closed as a whole; a batch of a device has hundreds of moments."""
    found = parse_hours(hours)
    return found is None or is_open(found, zone_of(time_zone), datetime.fromtimestamp(slot * SLOT_S, UTC))


def _hours_of(stream: StreamRecord) -> WeekHours:
    hours = parse_hours(stream.hours)
    assert hours
    return hours


def permit_visits(context: GatewayContext, stream: StreamRecord) -> None:
    """Refuse what a device computed while its stream is disabled; each month is looked at for itself."""
    permit_clock(context)
    if state_of(context, stream) != stream.logged_state:
        context.meters.states.look_at(stream.id)
    permit_stream(stream)


def state_of(context: GatewayContext, stream: StreamRecord) -> State:
    """What the stream may do at this moment."""
    if not stream.enabled:
        return State.DISABLED
    if stream.kind == "developer":
        quota_s = context.settings.developer_quota_s
        if context.meters.usage.is_used_up(stream.id, known_s=stream.video_s, quota_s=quota_s):
            return State.QUOTA
    return State.ENABLED


def permit_stream(stream: StreamRecord) -> None:
    """Refuse a stream that is disabled."""
    if not stream.enabled:
        raise Problem(Code.STREAM_DISABLED, "This stream or its owner's account is disabled. Enable it to go on.")


def permit_results(context: GatewayContext, stream: StreamRecord) -> None:
    """Refuse a stream whose results have been too large: they are kept for a while, in room that all share."""
    owing_s = context.result_bytes.owing_s(stream.id)
    if owing_s:
        limit = f"{context.result_bytes.per_second:.0f} bytes a second"
        detail = f"The results of this stream have more than {limit}. Wait, then go on."
        raise Problem(Code.RATE_LIMITED, detail, headers={"Retry-After": str(math.ceil(owing_s))})
