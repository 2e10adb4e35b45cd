"""How many requests a second a stream may send: one token bucket per stream."""

import math
import time
from collections import OrderedDict

from onlooker.errors import Code, Problem

STREAMS_REMEMBERED = 50_000


class RateLimit:
    """Refuses a stream that sends too fast. Streams do not affect one another."""

    def __init__(self, *, per_second: float, burst: int, what: str = "requests") -> None:
        self._what = what
        self._per_second = per_second
        self._burst = burst
        self._levels: OrderedDict[int, tuple[float, float]] = OrderedDict()
        """Tokens left, and when."""

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
        now = time.monotonic()
        level, then = self._levels.pop(stream_id, (float(self._burst), now))
        level = min(self._burst, level + (now - then) * self._per_second)
        taken = level >= 1
        self._levels[stream_id] = (level - 1 if taken else level, now)
        if len(self._levels) > STREAMS_REMEMBERED:
            self._levels.popitem(last=False)
        return 0.0 if taken else (1 - level) / self._per_second
