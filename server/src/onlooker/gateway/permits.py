"""Whether a stream may compute and store now: it is enabled and has some of its month left."""

import math
import time

from onlooker.errors import Code, Problem, overloaded
from onlooker.gateway.context import GatewayContext
from onlooker.streams.credentials import StreamRecord
from onlooker.streams.state import State
from onlooker.streams.video_time import as_duration, month_end
from onlooker_pipeline.catalogue.service import Service

RETRY_AFTER_CLOCK_S = 30


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
