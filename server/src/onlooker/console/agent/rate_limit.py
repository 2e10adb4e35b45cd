"""How fast one address may fetch what devices install: it is open to everyone, so no account or token limits it."""

import math
from hashlib import blake2b

from starlette.types import ASGIApp, Receive, Scope, Send

from onlooker.errors import Code, Problem
from onlooker.http.answers import send_problem
from onlooker.streams.rate_limit import RateLimit

PREFIX = "/agent/"
PER_SECOND = 10
BURST = 600
"""Fifteen devices behind one address may be installed at the same time: pip fetches about 40 files for each."""


class AgentRateLimit:
    """ASGI middleware: refuses before a request takes one of the console's slots."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._rates = RateLimit(per_second=PER_SECOND, burst=BURST)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_limited = scope["type"] == "http" and scope["path"].startswith(PREFIX)
        wait_s = self._rates.wait_s(_key_of(scope)) if is_limited else 0.0
        if wait_s > 0:
            await send_problem(_too_many(wait_s), send)
        else:
            await self._app(scope, receive, send)


def _key_of(scope: Scope) -> int:
    from onlooker.console.tokens.rate_limit import network_of  # it needs Django to be set up

    address, _ = scope.get("client") or ("", 0)
    return int.from_bytes(blake2b(network_of(address).encode(), digest_size=8).digest(), "big")


def _too_many(wait_s: float) -> Problem:
    seconds = math.ceil(wait_s)
    detail = f"Your address fetches too many of the agent's files. Try again in {seconds} s."
    return Problem(Code.RATE_LIMITED, detail, headers={"Retry-After": str(seconds)})
