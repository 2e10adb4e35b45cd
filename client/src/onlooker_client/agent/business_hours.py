"""When a stream is open, as the server tells it: two weeks of spans, of which the last week goes on from then on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

WEEK_S = 7 * 86_400


@dataclass(frozen=True)
class OpeningTimes:
    """Unix times. Outside the spans nothing is sent or computed."""

    since_s: float = math.inf
    """What was before is open; so is everything, where there are no opening hours."""
    from_s: float = 0.0
    to_s: float = WEEK_S
    """What the spans are of. Later and earlier weeks are like those at its ends."""
    spans: tuple[tuple[float, float], ...] = ()

    @property
    def is_limited(self) -> bool:
        return self.since_s < math.inf

    def knows(self, at_s: float) -> bool:
        """Whether the spans themselves are of this moment, not of a week that is taken to be like it."""
        return self.from_s <= at_s < self.to_s

    def is_open(self, at_s: float) -> bool:
        if at_s < self.since_s:
            return True
        alike_s = self._alike_s(at_s)
        return any(begins <= alike_s < ends for begins, ends in self.spans)

    def opens_at(self, at_s: float) -> float | None:
        """When it opens after a moment at which it is closed; None where it is open, or never opens."""
        if self.is_open(at_s):
            return None
        later_s = at_s - self._alike_s(at_s)
        begins = [span[0] + weeks * WEEK_S + later_s for span in self.spans for weeks in (0, 1, 2)]
        return min((begin for begin in begins if begin > at_s), default=None)

    def _alike_s(self, at_s: float) -> float:
        """The same time of a week that is known."""
        if at_s >= self.to_s:
            return at_s - math.ceil((at_s - self.to_s + 1e-6) / WEEK_S) * WEEK_S
        return at_s + math.ceil(max(self.from_s - at_s, 0.0) / WEEK_S) * WEEK_S


ALWAYS_OPEN = OpeningTimes()


def read_opening(said: Any) -> OpeningTimes:
    """Of `opening` in an answer of `GET /stream`; older servers, and most streams, have none."""
    try:
        spans = tuple((float(begins), float(ends)) for begins, ends in said["spans"])
        found = OpeningTimes(float(said["since"]), float(said["from"]), float(said["to"]), spans)
    except (KeyError, TypeError, ValueError):
        return ALWAYS_OPEN
    return found if found.to_s - found.from_s >= WEEK_S else ALWAYS_OPEN
