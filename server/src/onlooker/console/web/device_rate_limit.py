"""How often one device may ask for its configuration and report its health, by the key that it sends."""

import math
from hashlib import blake2b

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from onlooker.errors import Code, Problem
from onlooker.http.answers import send_problem
from onlooker.streams.rate_limit import RateLimit

PATHS = ("/devices/configuration/", "/devices/health/")
PER_MINUTE = 6.0
"""A device reports once a minute, and fetches its document when that has changed."""
BURST = 20


class DeviceRateLimit:
    """ASGI middleware: refuses before a request takes one of the console's slots or asks the database."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._rates = RateLimit(per_second=PER_MINUTE / 60, burst=BURST)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_limited = scope["type"] == "http" and scope["path"] in PATHS
        wait_s = self._rates.wait_s(_key_of(scope)) if is_limited else 0.0
        if wait_s > 0:
            seconds = math.ceil(wait_s)
            detail = f"This device asks too often. Try again in {seconds} s."
            await send_problem(Problem(Code.RATE_LIMITED, detail, headers={"Retry-After": str(seconds)}), send)
        else:
            await self._app(scope, receive, send)


def _key_of(scope: Scope) -> int:
    """Requests without a key count together: they are refused anyway."""
    credential = Headers(scope=scope).get("authorization", "")
    return int.from_bytes(blake2b(credential.encode(), digest_size=8).digest(), "big")
