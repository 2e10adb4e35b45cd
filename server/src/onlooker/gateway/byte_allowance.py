"""How many bytes a second each stream may have: of bodies to be read, and of results to be kept."""

import time
from collections import OrderedDict

STREAMS_REMEMBERED = 50_000


class ByteAllowance:
    """Fills up over time. How much something takes shows when it is there, so a stream may owe for a while."""

    def __init__(self, *, per_second: float, burst_s: float) -> None:
        self.per_second = per_second
        self._burst_bytes = per_second * burst_s
        self._left: OrderedDict[int, tuple[float, float]] = OrderedDict()
        """Bytes left, and when."""

    def owing_s(self, stream_id: int) -> float:
        """How long until the stream owes nothing."""
        return max(0.0, -self._left_now(stream_id) / self.per_second)

    def charge(self, stream_id: int, size_bytes: int) -> None:
        left = self._left_now(stream_id) - size_bytes
        self._left[stream_id] = left, time.monotonic()
        self._left.move_to_end(stream_id)
        if len(self._left) > STREAMS_REMEMBERED:
            self._left.popitem(last=False)

    def _left_now(self, stream_id: int) -> float:
        left, then = self._left.get(stream_id, (self._burst_bytes, 0.0))
        return min(self._burst_bytes, left + (time.monotonic() - then) * self.per_second)
