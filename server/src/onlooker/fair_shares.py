"""Fair shares of compute time: of the streams that wait, the one that has had the least is next."""

from collections import OrderedDict
from collections.abc import Iterable

STREAMS_REMEMBERED = 10_000
PRICES_REMEMBERED = 10_000
FADING = 0.9
"""What is left of a price after the next call was cheaper: a stream that alternates stays dear."""


class FairShares:
    """Counts the seconds of each stream.

    A stream that comes, or comes back, starts where the last one that was chosen stands: nobody saves up time.
    """

    def __init__(self) -> None:
        self._had_s: dict[int, float] = {}
        self._floor_s = 0.0

    def next(self, streams: Iterable[int]) -> int:
        """The stream whose turn it is; of equals, the first."""
        stream = min(streams, key=self._of)
        self._floor_s = max(self._floor_s, self._of(stream))
        return stream

    def charge(self, stream: int, seconds: float) -> None:
        """Negative seconds give back what was charged too much."""
        self._had_s[stream] = self._of(stream) + seconds
        if len(self._had_s) > STREAMS_REMEMBERED:
            self._had_s = {known: had_s for known, had_s in self._had_s.items() if had_s > self._floor_s}

    def _of(self, stream: int) -> float:
        return max(self._had_s.get(stream, 0.0), self._floor_s)


class Prices:
    """How long a call of a stream to a service takes, by those before it."""

    def __init__(self) -> None:
        self._seconds: OrderedDict[tuple[int, str], float] = OrderedDict()

    def of(self, stream: int, service: str) -> float:
        return self._seconds.get((stream, service), 0.0)

    def note(self, stream: int, service: str, seconds: float) -> None:
        faded = self._seconds.pop((stream, service), 0.0) * FADING
        self._seconds[stream, service] = max(seconds, faded)
        if len(self._seconds) > PRICES_REMEMBERED:
            self._seconds.popitem(last=False)
