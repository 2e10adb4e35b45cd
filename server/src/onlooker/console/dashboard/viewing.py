"""An open dashboard: what it is told as time goes by, for as long as its account may see the stream."""

import asyncio
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
import psycopg
from django.contrib.auth import get_user
from django.contrib.sessions.backends.base import SessionBase
from django.db import InterfaceError, OperationalError, connection
from django.http import Http404, HttpRequest
from psycopg_pool import PoolTimeout

from onlooker.console.dashboard.view_words import UNKNOWN, View, describe
from onlooker.console.streams.access import visible_stream
from onlooker.console.streams.standing import Sign, Standing, read_standing
from onlooker.database import Pool
from onlooker.metrics.in_view import InView, read_in_view

LOOK_EVERY_S = 2.0
CHECK_EVERY_S = 10.0
"""How soon somebody who was signed out, or lost the stream, is told no more; and how soon its state is."""
CHECK_LIMIT_S = 5.0
TRUSTED_S = 30.0
"""Whoever could not be checked for so long is told nothing of the stream."""
BEAT_EVERY_S = 10.0
"""A browser that hears nothing for longer than twice that asks anew."""

_AWAY = (OperationalError, InterfaceError, psycopg.OperationalError, PoolTimeout, TimeoutError)
_checkers = ThreadPoolExecutor(2, "live-check")
"""Threads of their own: while the database is away they wait for it, and nothing else must."""
_NOBODY = InView(0, 0)


@dataclass(frozen=True)
class Stand:
    """A stream, as far as its live strip tells of it."""

    stream_id: int
    zone: ZoneInfo
    standing: Standing


@dataclass(frozen=True)
class Viewing:
    """Somebody's open dashboard."""

    session: SessionBase
    client_id: UUID
    refresh_s: float

    def check(self) -> Stand | None:
        """How the stream stands now; None for who may not see it any more. For a thread of its own."""
        asked = HttpRequest()
        asked.session = type(self.session)(self.session.session_key)
        try:
            return find_stand(asked, self.client_id)
        except Http404:
            return None
        finally:
            connection.close()

    async def _check_soon(self) -> Stand | None:
        async with asyncio.timeout(CHECK_LIMIT_S):
            return await asyncio.get_running_loop().run_in_executor(_checkers, self.check)

    def begin(self, view: View) -> bytes:
        return event("view", view) + self._numbers()

    async def follow(self, pool: Pool, *, stand: Stand, shown: View) -> AsyncIterator[bytes]:
        """Events that go on from the first ones, until its account may not see the stream any more."""
        told_at = asked_at = checked_at = refreshed_at = time.monotonic()
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            now, before = time.monotonic(), shown
            try:
                if now - asked_at >= CHECK_EVERY_S:
                    asked_at = now
                    found = await self._check_soon()
                    if found is None:
                        return
                    stand, checked_at = found, now
                shown = await look(pool, stand) if now - checked_at <= TRUSTED_S else UNKNOWN
            except _AWAY:
                shown = UNKNOWN
            told = event("view", shown) if shown != before else b""
            if now - refreshed_at >= self.refresh_s:
                told, refreshed_at = told + self._numbers(), now
            if not told and now - told_at >= BEAT_EVERY_S:
                told = event("beat", {})
            if told:
                told_at = now
                yield told

    def _numbers(self) -> bytes:
        return event("numbers", {"next_s": self.refresh_s})


def find_stand(request: HttpRequest, client_id: UUID) -> Stand:
    """Http404 where the account of a request's session sees no such stream."""
    stream = visible_stream(get_user(request), client_id)
    return Stand(stream.id, ZoneInfo(stream.time_zone), read_standing(stream))


async def look(pool: Pool, stand: Stand) -> View:
    is_live = stand.standing.sign is Sign.LIVE
    return describe(stand.standing, await read_in_view(pool, stand.stream_id) if is_live else _NOBODY, stand.zone)


def event(name: str, data: object) -> bytes:
    """As a browser reads it."""
    return b"event: %b\ndata: %b\n\n" % (name.encode(), msgspec.json.encode(data))
