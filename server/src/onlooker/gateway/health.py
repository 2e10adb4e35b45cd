"""Whether the gateway runs and can serve."""

from starlette.requests import Request
from starlette.responses import Response

from onlooker.gateway.answers import json_answer
from onlooker.gateway.parts import Parts, parts_of


async def show_live(request: Request) -> Response:
    return json_answer({"live": True})


async def show_ready(request: Request) -> Response:
    parts = parts_of(request)
    checks = readiness(parts)
    ready = all(checks.values())
    members = {"ready": ready, "checks": checks, "workers": len(parts.workers)}
    return json_answer(members, status=200 if ready else 503)


def readiness(parts: Parts) -> dict[str, bool]:
    """What must be there before frames are sent this way."""
    database = parts.pool.get_stats().get("pool_size", 0) > 0
    return {"bus": parts.bus.is_connected, "database": database}
