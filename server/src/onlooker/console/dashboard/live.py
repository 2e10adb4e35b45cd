"""The live strip of an open dashboard: who is in view now, as server-sent events, while its account may see the stream.

The events also say when newer numbers can be fetched.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.base import SessionBase
from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import get_language, ngettext, override, pgettext
from django.utils.translation import gettext as _

from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.accounts.reach import limit_to_session
from onlooker.console.event_streams import CONTINUATION, Continuation
from onlooker.console.languages.locale_text import write_short_date
from onlooker.console.numbers import read_numbers
from onlooker.console.streams.access import visible_stream
from onlooker.console.streams.status import StatusLabel, StreamStatus, read_status
from onlooker.console.web.request_log import DATABASE_UNAVAILABLE
from onlooker.database import Pool
from onlooker.metrics.in_view import InView, read_in_view
from onlooker.standby import NumbersPool

LOOK_EVERY_S = 2.0
CHECK_EVERY_S = 10.0
"""How soon somebody who signed out, or lost the stream, gets no more events; and how soon its status is updated.

For a stream that waits for its first frame, every look is such a check.
"""
CHECK_LIMIT_S = 5.0
TRUSTED_S = 30.0
"""An account that could not be checked for this long is told nothing about the stream."""
BEAT_EVERY_S = 10.0
"""A browser that hears nothing for more than twice as long reconnects."""

_checkers = ThreadPoolExecutor(2, "live-check")
"""Threads of their own: they wait while the database is away, and nothing else must wait with them."""
_NOBODY = InView(0, 0)


class LiveStrip(msgspec.Struct, frozen=True):
    """What the strip shows."""

    in_view: int | None
    """None where it is unknown."""
    looking: int | None
    sign: str
    """The badge's class in the stylesheet."""
    label: str
    words: str


@dataclass(frozen=True)
class StreamSnapshot:
    """What a live strip needs to know about its stream."""

    stream_id: int
    zone: ZoneInfo
    status: StreamStatus
    grid: bool = False
    """Then nobody is told who is in view now."""


@signed_in("GET", "HEAD")
def show_live(request: PersonRequest, client_id: UUID) -> HttpResponse:
    """The first events. The following ones are sent after Django has finished the request."""
    snapshot = find_snapshot(request, client_id)
    strip = read_numbers(request, partial(read_strip, snapshot=snapshot))
    language = get_language() or settings.LANGUAGE_CODE
    viewer = LiveViewer(request.session, client_id, settings.ONLOOKER.console_refresh_s, language)
    scope = getattr(request, "scope", {})
    if request.method == "GET" and "app" in scope:
        events = partial(viewer.follow, scope["app"].state.numbers, snapshot=snapshot, shown=strip)
        scope[CONTINUATION] = Continuation(request.user.pk, events)
    answer = HttpResponse(viewer.begin(strip), content_type="text/event-stream")
    answer["Cache-Control"] = "no-store, no-transform"
    answer["X-Accel-Buffering"] = "no"  # otherwise nginx holds events back until they fill a buffer
    return answer


@dataclass(frozen=True)
class LiveViewer:
    """Somebody's open dashboard."""

    session: SessionBase
    client_id: UUID
    refresh_s: float
    language: str = settings.LANGUAGE_CODE
    """Events that come after Django's answer have no request that would say it."""

    def check(self) -> StreamSnapshot | None:
        """The stream as it is now; None once the account may not see it any more. Runs in a thread of its own."""
        asked = HttpRequest()
        asked.session = type(self.session)(self.session.session_key)
        try:
            return find_snapshot(asked, self.client_id)
        except Http404:
            return None
        finally:
            connection.close()

    async def _check_soon(self) -> StreamSnapshot | None:
        async with asyncio.timeout(CHECK_LIMIT_S):
            return await asyncio.get_running_loop().run_in_executor(_checkers, self.check)

    def begin(self, strip: LiveStrip) -> bytes:
        return encode_event("view", strip) + self._announce_numbers()

    async def follow(self, numbers: NumbersPool, *, snapshot: StreamSnapshot, shown: LiveStrip) -> AsyncIterator[bytes]:
        """The events after the first ones, until the account may not see the stream any more."""
        told_at = asked_at = checked_at = refreshed_at = time.monotonic()
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            now, before = time.monotonic(), shown
            try:
                if now - asked_at >= CHECK_EVERY_S or snapshot.status.last_frame_at is None:
                    asked_at = now
                    found = await self._check_soon()
                    if found is None:
                        return
                    snapshot, checked_at = found, now
                shown = await self._look(numbers.pool, snapshot if now - checked_at <= TRUSTED_S else None)
            except (*DATABASE_UNAVAILABLE, TimeoutError):
                shown = await self._look(numbers.pool, None)
            events = encode_event("view", shown) if shown != before else b""
            if now - refreshed_at >= self.refresh_s:
                events, refreshed_at = events + self._announce_numbers(), now
            if not events and now - told_at >= BEAT_EVERY_S:
                events = encode_event("beat", {})
            if events:
                told_at = now
                yield events

    async def _look(self, pool: Pool, snapshot: StreamSnapshot | None) -> LiveStrip:
        """Without a snapshot nothing is known."""
        with override(self.language):
            return await read_strip(pool, snapshot) if snapshot else describe_unknown()

    def _announce_numbers(self) -> bytes:
        return encode_event("numbers", {"next_s": self.refresh_s})


def find_snapshot(request: HttpRequest, client_id: UUID) -> StreamSnapshot:
    """Http404 where the account of the request's session may not see the stream."""
    stream = visible_stream(limit_to_session(get_user(request), request.session), client_id)
    return StreamSnapshot(stream.id, ZoneInfo(stream.time_zone), read_status(stream), stream.grid)


async def read_strip(pool: Pool, snapshot: StreamSnapshot) -> LiveStrip:
    label = snapshot.status.label
    is_live = label is StatusLabel.LIVE
    if is_live and snapshot.grid:
        words = _("who is in view is not told: this stream is on the grid")
        return LiveStrip(None, None, label.css_class, _name(label), words)
    in_view = await read_in_view(pool, snapshot.stream_id) if is_live else _NOBODY
    return describe_strip(snapshot.status, in_view, snapshot.zone)


def describe_unknown() -> LiveStrip:
    words = _("part of the server is unavailable; retrying")
    return LiveStrip(None, None, "unknown", _("Unknown"), words)


def describe_strip(status: StreamStatus, in_view: InView, zone: ZoneInfo) -> LiveStrip:
    label = status.label
    if label is StatusLabel.LIVE:
        return LiveStrip(in_view.people, in_view.looking, label.css_class, _name(label), _describe_people(in_view))
    if label is StatusLabel.NEVER_SEEN:
        words = _("no frames received yet")
    elif label is StatusLabel.QUOTA:
        words = _("resumes {moment}").format(moment=_format_moment(status.goes_on_at, zone))
    else:
        words = _("since {moment}").format(moment=_format_moment(status.since, zone))
    return LiveStrip(None, None, label.css_class, _name(label), words)


def _name(label: StatusLabel) -> str:
    """As the list of streams calls it too."""
    return pgettext("stream", label.value.capitalize())


def _describe_people(in_view: InView) -> str:
    people, looking = in_view.people, in_view.looking
    if not people:
        return _("Nobody in view")
    if looking is None:
        said = ngettext("{people} in view", "{people} in view", people)
    elif not looking:
        said = ngettext("{people} in view, none looking", "{people} in view, none looking", people)
    else:
        said = ngettext("{people} in view, {looking} looking", "{people} in view, {looking} looking", people)
    return said.format(people=people, looking=looking)


def _format_moment(at: datetime, zone: ZoneInfo) -> str:
    local = at.astimezone(zone)
    return f"{write_short_date(local)}, {local:%H:%M:%S}"


def encode_event(name: str, data: object) -> bytes:
    """A server-sent event."""
    return b"event: %b\ndata: %b\n\n" % (name.encode(), msgspec.json.encode(data))
