"""How many requests a key may send to a console."""

import math
import threading

from onlooker.errors import Code, Problem
from onlooker.streams.rate_limit import MemoryTable, RateLimit

KEYS_REMEMBERED = 10_000


class KeyLimit:
    """A minute's requests at once, then as many as the minute has room for. Keys do not affect one another."""

    def __init__(self, *, per_minute: int) -> None:
        self._per_minute = per_minute
        self._limit = RateLimit(per_second=per_minute / 60, burst=per_minute, table=MemoryTable(KEYS_REMEMBERED))
        self._lock = threading.Lock()  # requests run on threads

    def take(self, key_id: int) -> None:
        """Raises Problem where the key has sent too many."""
        with self._lock:
            wait_s = math.ceil(self._limit.wait_s(key_id))
        if wait_s:
            detail = f"A key may send {self._per_minute} requests a minute. Wait {wait_s} s, then go on."
            raise Problem(Code.RATE_LIMITED, detail, headers={"Retry-After": str(wait_s)})
