"""Whose call a worker computes next: streams take turns by the compute time that they have had.

A call can't be interrupted. So calls that are expected to take long, judged by those before them, have places of their
own, at a lower priority: a short call never waits for a long one.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from onlooker.fair_shares import FairShares, Prices

LONG_S = 0.25
"""From so much of a core on a call is a long one."""
OVERRUN_S = 0.4
"""After so long a call that was expected to be short makes way."""


class Crowded(Exception):
    """This call gave up its place in the queue, because its stream has more waiting than any other."""


@dataclass(eq=False)
class Turn:
    """One call, from its arrival to its end."""

    stream: int
    service: str
    price_s: float
    """What it is expected to take."""
    is_long: bool
    granted: asyncio.Future[None]
    began: float = 0.0
    took_s: float | None = None
    """What it took of a core, where that is known."""
    makes_way: Callable[[], bool] = lambda: True
    """Asked when it takes longer than expected: whether others can be computed meanwhile."""


class Lane:
    """Places for calls of one kind, and those that wait for them."""

    def __init__(self, places: int) -> None:
        self.places = places
        self.running = 0
        self.waiting: dict[int, deque[Turn]] = {}

    @property
    def has_place(self) -> bool:
        return self.running < self.places

    def add(self, turn: Turn) -> None:
        self.waiting.setdefault(turn.stream, deque()).append(turn)

    def remove(self, turn: Turn) -> None:
        """From those that wait, if it is still among them."""
        turns = self.waiting.get(turn.stream, deque())
        if turn in turns:
            turns.remove(turn)
            if not turns:
                del self.waiting[turn.stream]


class FairTurns:
    """As many short calls at a time as there are places, and as many long ones."""

    def __init__(self, places: int) -> None:
        self._short, self._long = Lane(places), Lane(places)
        self._shares = FairShares()
        self._prices = Prices()

    @asynccontextmanager
    async def take(self, stream: int, service: str) -> AsyncIterator[Turn]:
        """Wait for a place and hold it; raises Crowded."""
        loop = asyncio.get_running_loop()
        price_s = self._prices.of(stream, service)
        turn = Turn(stream, service, price_s, price_s >= LONG_S, loop.create_future())
        self._lane_of(turn).add(turn)
        self._grant()
        try:
            await turn.granted
        except asyncio.CancelledError:
            if turn.began:
                self._end(turn)
            else:
                self._lane_of(turn).remove(turn)
            raise
        overrun = None if turn.is_long else loop.call_later(OVERRUN_S, self._make_long, turn)
        try:
            yield turn
        finally:
            if overrun:
                overrun.cancel()
            self._end(turn)

    def send_away(self, stream: int) -> bool:
        """Refuse the call of this stream that came last and still waits; False if none does."""
        for lane in (self._short, self._long):
            if stream in lane.waiting:
                turn = lane.waiting[stream][-1]
                lane.remove(turn)
                turn.granted.set_exception(Crowded())
                return True
        return False

    def _lane_of(self, turn: Turn) -> Lane:
        return self._long if turn.is_long else self._short

    def _grant(self) -> None:
        for lane in (self._short, self._long):
            while lane.has_place and lane.waiting:
                turn = lane.waiting[self._shares.next(lane.waiting)][0]
                lane.remove(turn)
                if turn.granted.done():
                    continue  # it was cancelled
                turn.price_s = self._prices.of(turn.stream, turn.service)
                if lane is self._short and turn.price_s >= LONG_S:
                    turn.is_long = True  # as was learnt while it waited
                    self._long.add(turn)
                    continue
                lane.running += 1
                turn.began = time.monotonic()
                self._shares.charge(turn.stream, turn.price_s)
                turn.granted.set_result(None)

    def _make_long(self, turn: Turn) -> None:
        """It takes longer than expected: let others have its place, if there is one among the long ones."""
        self._prices.note(turn.stream, turn.service, LONG_S)
        if self._long.has_place and turn.makes_way():
            turn.is_long = True
            self._short.running -= 1
            self._long.running += 1
            self._grant()

    def _end(self, turn: Turn) -> None:
        took_s = time.monotonic() - turn.began
        if turn.took_s is not None:
            took_s = min(turn.took_s, took_s)
        self._shares.charge(turn.stream, took_s - turn.price_s)
        self._prices.note(turn.stream, turn.service, took_s)
        self._lane_of(turn).running -= 1
        self._grant()
