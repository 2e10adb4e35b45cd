"""`PUT /stream/condition`: what an agent reports of its camera and of the frames that it could not send."""

import math
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from psycopg.types.json import Jsonb
from starlette.requests import Request
from starlette.responses import Response

from onlooker.database import load_queries
from onlooker.errors import Code, Problem, bad_request
from onlooker.gateway.bodies import read_json_object
from onlooker.gateway.context import CONDITION_EVERY_S, context_of, stream_of
from onlooker.streams.condition import FRESH_S, AgentState, DropReason

LIMIT_BYTES = 4096
LONGEST_S = 3650 * 86_400
MOST_FRAMES = 10**12
MOST_REASONS = 32

_queries = load_queries("onlooker.streams")

Frames = Annotated[int, Meta(ge=0, le=MOST_FRAMES)]


class ConditionBody(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's condition."""

    state: AgentState
    since_s: Annotated[float, Meta(ge=0, le=LONGEST_S, description="For how many seconds it has been so")]
    over_s: Annotated[float, Meta(ge=0, le=LONGEST_S, description="Of how many seconds the counts are")] = 0.0
    sent: Annotated[Frames, Meta(description="Frames that were answered")] = 0
    dropped: Annotated[
        dict[Annotated[str, Meta(max_length=40)], Frames],
        Meta(max_length=MOST_REASONS, description="Frames that were not, by reason; unknown reasons count as `other`"),
    ] = {}
    version: Annotated[str, Meta(max_length=40, pattern="^[!-~]*$", description="Of the agent")] = ""


async def put_condition(request: Request) -> Response:
    context, stream = context_of(request), stream_of(request)
    told = read_condition(await read_json_object(request, context.settings, limit_bytes=LIMIT_BYTES))
    wait_s = context.condition_rates.wait_s(stream.id)
    if wait_s:
        raise Problem(
            Code.RATE_LIMITED,
            f"A stream's condition is accepted every {CONDITION_EVERY_S} seconds. Send the newest one then.",
            headers={"Retry-After": str(math.ceil(wait_s))},
        )
    values = {
        "stream_id": stream.id,
        "state": told.state.value,
        "since_s": told.since_s,
        "over_s": told.over_s,
        "sent": told.sent,
        "dropped": Jsonb(count_reasons(told.dropped)),
        "version": told.version,
        "gap_s": FRESH_S,
    }
    async with context.pool.connection() as connection:
        await connection.execute(_queries["put_condition"], values)
    return Response(status_code=204)


def read_condition(fields: dict[str, Any]) -> ConditionBody:
    """Fields that only a newer agent knows are ignored."""
    states = ", ".join(AgentState)
    if fields.get("state") not in list(AgentState):
        raise bad_request(f"`state` must be one of: {states}.")
    try:
        return msgspec.convert(fields, ConditionBody)
    except msgspec.ValidationError as error:
        raise bad_request(f"{error}. /openapi.json describes the fields of a condition and their limits.") from None


def count_reasons(dropped: dict[str, int]) -> dict[str, int]:
    """By reasons of the closed list, without those that did not occur."""
    counts: dict[str, int] = {}
    for name, frames in dropped.items():
        reason = name if name in list(DropReason) else DropReason.OTHER.value
        if frames:
            counts[reason] = counts.get(reason, 0) + frames
    return counts
