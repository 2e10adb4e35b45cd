"""Knows whether the stream is open now: asks the server every ten minutes, and follows its clock."""

from __future__ import annotations

import threading
import time
from typing import Callable

from onlooker_client.agent.business_hours import ALWAYS_OPEN, OpeningTimes, read_opening
from onlooker_client.agent.remote.week_hours import WeekHours
from onlooker_client.agent.stream_answer import StreamAnswer, ask_stream
from onlooker_client.moments import read_moment
from onlooker_client.wire.transport import Transport

ASK_EVERY_S = 600.0
ASK_SOON_S = 30.0
"""After the server refused a frame because the stream is closed."""


class OpeningWatch:
    """`tick` comes from one thread, `is_closed` from any."""

    def __init__(
        self,
        transport: Transport,
        *,
        known: OpeningTimes = ALWAYS_OPEN,
        read_clock: Callable[[], float | None],
        own_hours: Callable[[], WeekHours | None] = lambda: None,
    ) -> None:
        """`known` is from before, for a start without a line; `read_clock` is asked until the server has told the time.

        Where neither knows the time, a stream with opening hours counts as closed: nobody may be computed at night.
        `own_hours` are the device's, by its configuration; it computes while these and the stream's are open.
        """
        self._own_hours = own_hours
        self._transport = transport
        self._opening = known
        self._read_clock = read_clock
        self._server_s: tuple[float, float] | None = None
        """The server's time, and the monotonic one at which it told it."""
        self._is_asking = False
        self._asked_at = float("-inf")

    def take(self, answer: StreamAnswer) -> None:
        """What the server said already."""
        if answer.error is None:
            self._learn(answer)
            self._asked_at = time.monotonic()

    def use(self, transport: Transport) -> None:
        self._transport, self._asked_at = transport, float("-inf")

    def tick(self, now: float, *, is_refused: bool = False) -> None:
        """Ask, where it is due; `is_refused`: the server said that the stream is closed, which was not known here."""
        if self._is_asking or now - self._asked_at < (ASK_SOON_S if is_refused else ASK_EVERY_S):
            return
        self._is_asking, self._asked_at = True, now
        threading.Thread(target=self._ask, name="opening", daemon=True).start()

    def is_closed(self) -> bool:
        opening, own = self._opening, self._own_hours()
        if not opening.is_limited and own is None:
            return False
        now_s = self._now_s()
        if now_s is None or (own is not None and not own.is_open(now_s)):
            return True
        return opening.is_limited and not opening.is_open(now_s)

    def opens_at(self) -> float | None:
        """Unix time; None where it is open, or not known."""
        now_s = self._now_s()
        return None if now_s is None else self._opening.opens_at(now_s)

    def _now_s(self) -> float | None:
        known = self._server_s
        return self._read_clock() if known is None else known[0] + time.monotonic() - known[1]

    def _ask(self) -> None:
        try:
            answer = ask_stream(self._transport)
            if answer.error is None:
                self._learn(answer)
        finally:
            self._is_asking = False

    def _learn(self, answer: StreamAnswer) -> None:
        self._opening = read_opening(answer.said.get("opening"))
        try:
            self._server_s = (read_moment(str(answer.said.get("now"))).timestamp(), time.monotonic())
        except ValueError:
            return
