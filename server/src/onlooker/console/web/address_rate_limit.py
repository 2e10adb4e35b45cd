"""How fast one address may fetch what is open to everyone: no account or token limits that."""

import math
from dataclasses import dataclass
from hashlib import blake2b

from starlette.types import ASGIApp, Receive, Scope, Send

from onlooker.errors import Code, Problem
from onlooker.http.answers import send_problem
from onlooker.streams.rate_limit import RateLimit


@dataclass(frozen=True)
class OpenArea:
    """Addresses of the console that need no account."""

    prefix: str
    per_second: float
    burst: int
    complaint: str


AGENT = OpenArea("/agent/", 10, 600, "Your address fetches too many of the agent's files.")
"""Fifteen devices behind one address may be installed at the same time: pip fetches about 40 files for each."""
PUBLIC_NOTICES = OpenArea("/notice/", 1, 120, "Your address opens this page too often.")
"""Room for all visitors in a shop's network."""
SHARED_LINKS = OpenArea("/shared/", 1, 120, "Your address opens shared links too often.")
"""An embedded page fetches its numbers every five minutes: room for an office with 300 of them open."""
UNSUBSCRIPTIONS = OpenArea("/unsubscribe/", 1, 120, "Your address opens this page too often.")
OPEN_AREAS = (AGENT, PUBLIC_NOTICES, SHARED_LINKS, UNSUBSCRIPTIONS)


class AddressRateLimit:
    """ASGI middleware: refuses before a request takes one of the console's slots."""

    def __init__(self, app: ASGIApp, area: OpenArea) -> None:
        self._app = app
        self._area = area
        self._rates = RateLimit(per_second=area.per_second, burst=area.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_limited = scope["type"] == "http" and scope["path"].startswith(self._area.prefix)
        wait_s = self._rates.wait_s(_key_of(scope)) if is_limited else 0.0
        if wait_s > 0:
            await send_problem(self._too_many(wait_s), send)
        else:
            await self._app(scope, receive, send)

    def _too_many(self, wait_s: float) -> Problem:
        seconds = math.ceil(wait_s)
        detail = f"{self._area.complaint} Try again in {seconds} s."
        return Problem(Code.RATE_LIMITED, detail, headers={"Retry-After": str(seconds)})


def _key_of(scope: Scope) -> int:
    from onlooker.console.tokens.rate_limit import network_of  # it needs Django to be set up

    address, _ = scope.get("client") or ("", 0)
    return int.from_bytes(blake2b(network_of(address).encode(), digest_size=8).digest(), "big")
