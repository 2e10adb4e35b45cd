"""Asking for the numbers of the bearer's stream: when it is our turn, and within a time limit."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime

import psycopg
from starlette.requests import Request

from onlooker.data import counters
from onlooker.data.parts import Parts, bearer_of
from onlooker.errors import overloaded
from onlooker.metrics.parsing import parse_query
from onlooker.metrics.query import Query
from onlooker.metrics.running import Answer, run_query

GRACE_S = 1.0
"""A database that is well ends a statement by itself; one that hangs does not."""


def read_query(request: Request, parameters: Mapping[str, str]) -> tuple[Query, int]:
    """The query and the page that a request asks for; of the stream that its token is for, whatever else it says."""
    bearer = bearer_of(request)
    return parse_query(parameters, stream_id=bearer.stream_id, time_zone=bearer.time_zone, now=datetime.now(UTC))


async def ask(parts: Parts, query: Query, page: int = 1, *, wait_s: float | None = None) -> Answer:
    """`wait_s`: how long it may take until it is our turn, where that is not the usual time."""
    limit_s = parts.settings.data_time_limit_s
    async with parts.places.take(query.stream_id, wait_s=wait_s):
        try:
            with counters.query_time(query.time).time():
                async with asyncio.timeout(limit_s + GRACE_S):
                    return await run_query(parts.pool, query, page)
        except (TimeoutError, psycopg.errors.QueryCanceled):
            detail = f"The query took more than {limit_s:g} seconds. Ask for a shorter range, or try again later."
            raise overloaded(detail, retry_after_s=5) from None
