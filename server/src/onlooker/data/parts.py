"""The parts that a request's handler works with, opening them, and finding them from a request."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from starlette.requests import Request

from onlooker.data.places import Places
from onlooker.database import Pool, open_pool
from onlooker.settings import Settings
from onlooker.streams.bearers import Bearer, Bearers
from onlooker.streams.rates import Rates

SPARED = 2
"""Connections that are for tokens and health, however many queries are under way."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Everything one data endpoint is made of."""

    settings: Settings
    pool: Pool
    bearers: Bearers
    rates: Rates
    places: Places
    checks: dict[str, bool]
    """What must be there before anybody is sent this way, and whether it is."""


@asynccontextmanager
async def open_parts(settings: Settings) -> AsyncIterator[Parts]:
    """Closed on leaving."""
    async with open_pool(settings, statement_limit_s=settings.data_time_limit_s) as pool:
        yield Parts(
            settings=settings,
            pool=pool,
            bearers=Bearers(pool, issuer=settings.console_url),
            rates=Rates(per_second=settings.data_rate_limit_per_second, burst=settings.data_rate_limit_burst),
            places=Places(max(1, min(settings.data_requests_limit, settings.database_pool_size - SPARED))),
            checks={"database": False},
        )


def parts_of(request: Request) -> Parts:
    parts = request.scope["app"]
    assert isinstance(parts, Parts)
    return parts


def bearer_of(request: Request) -> Bearer:
    """Whoever's token came with the request, and the stream it is for."""
    bearer = request.scope["bearer"]
    assert isinstance(bearer, Bearer)
    return bearer
