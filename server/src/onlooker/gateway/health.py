"""Whether the gateway runs and can serve."""

from starlette.requests import Request
from starlette.responses import Response

from onlooker.gateway.answers import json_answer
from onlooker.gateway.parts import Parts, parts_of


async def show_live(request: Request) -> Response:
    return json_answer({"live": True})


async def show_ready(request: Request) -> Response:
    checks = readiness(parts_of(request))
    ready = all(checks.values())
    return json_answer({"ready": ready, "checks": checks}, status=200 if ready else 503)


def readiness(parts: Parts) -> dict[str, bool]:
    """What must be there before frames are sent this way."""
    database = parts.pool.get_stats().get("pool_size", 0) > 0
    return {"bus": parts.connection.is_connected, "database": database}
