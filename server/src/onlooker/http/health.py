"""Health: whether a process runs, and whether it can serve."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from onlooker.clock_check import ClockCheck
from onlooker.database import DATABASE_UNAVAILABLE, Pool
from onlooker.http.answers import json_answer

CHECK_EVERY_S = 2.0
CHECK_LIMIT_S = 5.0


async def show_live(request: Request) -> Response:
    return json_answer({"live": True})


def ready_answer(checks: dict[str, bool], **more: int | str) -> Response:
    """200 if all checks hold, else 503."""
    ready = all(checks.values())
    return json_answer({"ready": ready, "checks": checks, **more}, status=200 if ready else 503)


async def watch_database(pool: Pool, checks: dict[str, bool], clock: ClockCheck) -> None:
    """Keeps `checks["database"]` and `checks["clock"]` up to date until cancelled."""
    while True:
        checks["database"], checks["clock"] = await _answers(pool), clock.is_right
        await asyncio.sleep(CHECK_EVERY_S)


async def _answers(pool: Pool) -> bool:
    try:
        async with asyncio.timeout(CHECK_LIMIT_S), pool.connection() as connection:
            await connection.execute("SELECT 1")
    except (*DATABASE_UNAVAILABLE, TimeoutError):
        return False
    return True
