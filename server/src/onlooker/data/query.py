"""A request's query: its parameters, and running it within limits."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar
from urllib.parse import parse_qsl

import psycopg
from starlette.requests import Request

from onlooker.audit.readings import ReadingKind
from onlooker.data import counters
from onlooker.data.comparison import COMPARISON_PARAMETERS
from onlooker.data.context import DataContext, bearer_of
from onlooker.errors import bad_request, overloaded
from onlooker.metrics.breakdown import BREAKDOWN_PARAMETERS
from onlooker.metrics.comparison import Comparison, read_comparison
from onlooker.metrics.execution import Answer, run_query
from onlooker.metrics.like_time import TimeRange
from onlooker.metrics.query import Query, parse_query
from onlooker.streams.bearer_tokens import Bearer

QUERY_LIMIT_BYTES = 8 * 1024
GRACE_S = 1.0
"""A healthy database ends a statement by itself; one that hangs does not."""
STREAM = "stream"
"""Which stream; with a key alone. A token is for one, and others name a parameter so for reasons of their own."""
PARAMETERS = ("metrics", "from_date", "to_date", "time", "tz", "page", *COMPARISON_PARAMETERS, "by", "filter")

Found = TypeVar("Found")
Note = Callable[[], Awaitable[None]]
"""Notes in the audit log what is about to be read."""


def read_parameters(query_string: bytes, known: tuple[str, ...] = PARAMETERS) -> dict[str, str]:
    """The known parameters, each at most once.

    Others are ignored, since historic clients send some; not beside a breakdown, which no historic client asks for.
    """
    if len(query_string) > QUERY_LIMIT_BYTES:
        raise bad_request(f"The query of a URL may have {QUERY_LIMIT_BYTES} bytes. Send a shorter one.")
    try:
        pairs = parse_qsl(query_string.decode(), keep_blank_values=True, errors="strict")
    except ValueError:
        raise bad_request(
            "The query of the URL is not percent-encoded UTF-8. Encode each value, as `urlencode` does."
        ) from None
    found: dict[str, str] = {}
    for name, value in pairs:
        if name in found:
            raise bad_request(f"`{name}` is there twice. Send it once.")
        if name in known:
            found[name] = value
    if BREAKDOWN_PARAMETERS & found.keys() and not {name for name, _ in pairs} <= {*known, STREAM}:
        raise bad_request(f"With `by` or `filter`, no parameters are ignored: there are {', '.join((*known, STREAM))}.")
    return found


def read_query(request: Request, parameters: Mapping[str, str]) -> tuple[Query, int]:
    """The query and the page that a request asks for; the stream is the one that it was admitted to."""
    bearer = bearer_of(request)
    return parse_query(
        parameters,
        stream_id=bearer.stream_id,
        time_zone=bearer.time_zone,
        now=datetime.now(UTC),
        grid=bearer.grid,
    )


async def note_reading(context: DataContext, request: Request, query: Query, kind: str) -> None:
    """Into the audit log, before it is read."""
    bearer: Bearer = request.scope["bearer"]
    reading = ReadingKind(query.stream_id, bearer.actor, bearer.credential, kind)
    await context.readings.note(reading, query.from_at, query.to_at, now=datetime.now(UTC))


async def run_limited(
    context: DataContext, query: Query, page: int = 1, *, note: Note | None = None, wait_s: float | None = None
) -> Answer:
    """A page of the answer, within limits of concurrency and time; `wait_s` replaces the usual time to wait."""
    act = partial(run_query, context.numbers.pool, query, page)
    return await _run_within_limits(context, query, act, note=note, wait_s=wait_s)


async def compare_limited(context: DataContext, query: Query, before: TimeRange, *, note: Note) -> Comparison:
    """The whole range against another one, within the same limits."""
    act = partial(read_comparison, context.numbers.pool, query, before, now=datetime.now(UTC))
    return await _run_within_limits(context, query, act, note=note)


async def _run_within_limits(
    context: DataContext,
    query: Query,
    act: Callable[[], Awaitable[Found]],
    *,
    note: Note | None,
    wait_s: float | None = None,
) -> Found:
    if note:
        await note()
    limit_s = context.settings.data_time_limit_s
    async with context.concurrent_queries.take(query.stream_id, wait_s=wait_s):
        try:
            with counters.query_time(query.time).time():
                async with asyncio.timeout(limit_s + GRACE_S):
                    return await act()
        except (TimeoutError, psycopg.errors.QueryCanceled):
            detail = f"The query took more than {limit_s:g} seconds. Ask for a shorter range, or try again later."
            raise overloaded(detail, retry_after_s=5) from None
