"""Whether the data endpoint runs and can serve."""

import asyncio

import psycopg
from psycopg_pool import PoolTimeout
from starlette.requests import Request
from starlette.responses import Response

from onlooker.data.parts import Parts, parts_of
from onlooker.gateway.answers import json_answer

LOOK_EVERY_S = 2.0
LOOK_LIMIT_S = 5.0


async def show_live(request: Request) -> Response:
    return json_answer({"live": True})


async def show_ready(request: Request) -> Response:
    checks = parts_of(request).checks
    ready = all(checks.values())
    return json_answer({"ready": ready, "checks": checks}, status=200 if ready else 503)


async def watch_database(parts: Parts) -> None:
    """For ever; cancel it to end it."""
    while True:
        parts.checks["database"] = await _is_database_there(parts)
        await asyncio.sleep(LOOK_EVERY_S)


async def _is_database_there(parts: Parts) -> bool:
    try:
        async with asyncio.timeout(LOOK_LIMIT_S), parts.pool.connection() as connection:
            await connection.execute("SELECT 1")
    except (psycopg.OperationalError, PoolTimeout, TimeoutError):
        return False
    return True
