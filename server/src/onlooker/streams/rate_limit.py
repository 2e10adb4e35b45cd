"""How many requests a second a stream may send: one token bucket per stream, kept as the time at which it is full."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

from onlooker.errors import Code, Problem

STREAMS_REMEMBERED = 50_000

SLACK_S = 1.0
"""A bucket that would take longer than an empty one and this to be full is damaged, or of an earlier boot."""
ROUNDING_S = 1e-8

Change = Callable[[float], float]
"""From the number of a key, 0 if it has none, to its next one."""


class Table(Protocol):
    """Numbers by key, of one process or (`SharedTable`) of several. It is bounded, so it may forget a key."""

    def get(self, key: int) -> float:
        """The number of a key; 0 if it has none."""

    def update(self, key: int, change: Change) -> None:
        """Replace a key's number; nobody else does so meanwhile."""


class MemoryTable:
    """Numbers of one process; the key that was not used for longest is forgotten first."""

    def __init__(self, size: int = STREAMS_REMEMBERED) -> None:
        self._size = size
        self._numbers: OrderedDict[int, float] = OrderedDict()

    def get(self, key: int) -> float:
        return self._numbers.get(key, 0.0)

    def update(self, key: int, change: Change) -> None:
        self._numbers[key] = change(self._numbers.pop(key, 0.0))
        if len(self._numbers) > self._size:
            self._numbers.popitem(last=False)


class RateLimit:
    """Refuses a stream that sends too fast. Streams do not affect one another; processes that share a table do."""

    def __init__(self, *, per_second: float, burst: int, table: Table | None = None, what: str = "requests") -> None:
        self._what = what
        self._per_second = per_second
        self._fill_s = burst / per_second
        """How long an empty bucket takes to be full."""
        self._table = table or MemoryTable()

    def take(self, stream_id: int) -> None:
        """Take one token or raise `rate_limited`."""
        wait_s = self.wait_s(stream_id)
        if wait_s > 0:
            raise Problem(
                Code.RATE_LIMITED,
                f"This stream may send {self._per_second:g} {self._what} a second. Wait, then go on.",
                headers={"Retry-After": str(math.ceil(wait_s))},
            )

    def wait_s(self, stream_id: int) -> float:
        """Take a token if there is one (0), else say how long until the next."""
        wait_s = 0.0

        def take_one(full_at: float) -> float:
            nonlocal wait_s
            now = time.monotonic()  # the same clock in all processes of a machine
            if not now < full_at < now + self._fill_s + SLACK_S:
                full_at = now
            next_full_at = full_at + 1 / self._per_second
            wait_s = next_full_at - now - self._fill_s
            return next_full_at if wait_s <= ROUNDING_S else full_at

        self._table.update(stream_id, take_one)
        return wait_s if wait_s > ROUNDING_S else 0.0
