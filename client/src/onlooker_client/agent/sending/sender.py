"""Sends frames at once or not at all: there is no queue that could fall behind."""

from __future__ import annotations

import random
import threading
import time
from typing import Any, Protocol

from onlooker_client.agent.drops import Drop
from onlooker_client.agent.sending.holding import Hold
from onlooker_client.agent.sending.lane import Flight, Lane, Uplink
from onlooker_client.agent.sending.link import Link
from onlooker_client.agent.sending.window import MOST
from onlooker_client.agent.tally import Tally
from onlooker_client.errors import LinkError, NotSent, Refused, TimedOut

MOST_LANES = 20
"""More than may be under way: one that was given up while its server's name was looked up comes back later."""


class Observer(Protocol):
    """Hears how each frame ended, from the threads that sent them; must be quick."""

    def answered(self, flight: Flight, *, latency_s: float) -> None: ...

    def lost(self, flight: Flight, reason: Drop) -> None: ...


class Sender:
    """Decides whether a frame may go, and sends it over the first idle lane."""

    def __init__(self, uplink: Uplink, tally: Tally, observer: Observer) -> None:
        self._uplink = uplink
        self._tally = tally
        self._observer = observer
        self._lock = threading.Lock()
        self._idle: list[Lane] = []
        self._busy: dict[int, tuple[Flight, Lane]] = {}
        self._link = Link(_spread)
        self._hold = Hold(_spread)
        self._lanes = 0
        self._next_number = 0
        self._is_closed = False

    @property
    def in_flight(self) -> int:
        return self._link.in_flight

    @property
    def allowed(self) -> int:
        """Frames that may be under way at once."""
        return self._link.window.allowed

    def refusal(self, now: float) -> Drop | None:
        """Why a frame of this moment can't be sent; asked before it is encoded."""
        with self._lock:
            if not self._idle and self._lanes >= MOST_LANES:
                return Drop.UNREACHABLE
            return self._hold.refusal(now, in_flight=self._link.in_flight) or self._link.refusal(now)

    def send(self, now: float, timestamp: str, image: bytes, shown: Any = None) -> None:
        """On its way, unless the sender was closed meanwhile."""
        uplink = self._uplink
        body = uplink.request.body(timestamp, image)
        with self._lock:
            if self._is_closed:
                self._tally.drop(Drop.STOPPED)
                return
            self._next_number += 1
            flight = Flight(self._next_number, body, uplink, now, self._link.is_silent(now), shown)
            lane = self._idle.pop() if self._idle else self._add_lane()
            self._busy[flight.number] = (flight, lane)
            self._link.send(flight.number, now)
            self._tally.send(len(body))
        lane.take(flight)

    def use(self, uplink: Uplink) -> None:
        """From now on with other credentials."""
        with self._lock:
            self._uplink = uplink
            self._hold.open()

    def try_again(self) -> None:
        """Whatever was refused: the next frame asks."""
        with self._lock:
            self._hold.open()

    def end_overdue(self, now: float) -> None:
        """Give up what was under way for too long; to be called every second or so."""
        with self._lock:
            for number in self._link.overdue(now):
                self._give_up(number, Drop.TIMED_OUT)

    def close(self, patience_s: float) -> None:
        """Wait for what is under way, then end it."""
        with self._lock:
            self._is_closed = True
        give_up_at = time.monotonic() + patience_s
        while self._busy and time.monotonic() < give_up_at:
            time.sleep(0.01)
        with self._lock:
            for number in list(self._busy):
                self._give_up(number, Drop.STOPPED)
            for lane in self._idle:
                lane.close()

    def _add_lane(self) -> Lane:
        self._lanes += 1
        return Lane(self._land)

    def _land(self, lane: Lane, flight: Flight) -> None:
        """Called by a lane whose flight has ended, in whatever way."""
        now = time.monotonic()
        with self._lock:
            reason = flight.given_up
            if reason is None:
                del self._busy[flight.number]
                reason = self._settle(flight, now)
            self._take_back(lane)
        if reason is None:
            self._observer.answered(flight, latency_s=now - flight.taken_at)
        elif flight.given_up is None:
            self._observer.lost(flight, reason)

    def _take_back(self, lane: Lane) -> None:
        """A lane has nothing to do. Those that only a bad link needed are not kept."""
        if self._is_closed or len(self._idle) >= MOST:
            self._lanes -= 1
            lane.close()
        else:
            self._idle.append(lane)

    def _settle(self, flight: Flight, now: float) -> Drop | None:
        """Count a flight that ended by itself; returns why it was in vain, if it was."""
        error = flight.error
        if error is not None and not isinstance(error, Refused):
            self._link.lose(flight.number)
            reason: Drop | None = _reason(error)
        else:
            for older in self._link.answer(flight.number, now):
                self._give_up(older, Drop.OVERTAKEN)
            reason = self._read(flight, now)
        if reason is None:
            self._tally.answer()
        else:
            self._tally.lose(reason)
        return reason

    def _read(self, flight: Flight, now: float) -> Drop | None:
        if isinstance(flight.error, Refused):
            return self._hold.close(now, flight.error)
        self._hold.open()
        return Drop.COMPUTATION_FAILED if "error" in flight.answer else None

    def _give_up(self, number: int, reason: Drop) -> None:
        """End a flight that is under way; its lane comes back by itself."""
        flight, lane = self._busy.pop(number)
        flight.given_up = reason
        if reason is Drop.TIMED_OUT:
            self._link.lose(number)
        else:
            self._link.give_up(number)
        self._tally.lose(reason)
        lane.cancel()


def _reason(error: LinkError) -> Drop:
    if isinstance(error, NotSent):
        return Drop.UNREACHABLE
    return Drop.TIMED_OUT if isinstance(error, TimedOut) else Drop.CONNECTION_LOST


def _spread() -> float:
    return random.uniform(0.8, 1.0)  # noqa: S311 (no secret)
