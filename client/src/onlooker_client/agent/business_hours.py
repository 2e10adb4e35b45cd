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
    """What the spans are of. Later and earlier weeks are like those at its ends, on the stream's local clock."""
    spans: tuple[tuple[float, float], ...] = ()
    changes: tuple[tuple[float, float], ...] = ()
    """When that clock is set, from `from_s` on, and by how many seconds."""

    @property
    def is_limited(self) -> bool:
        return self.since_s < math.inf

    def knows(self, at_s: float) -> bool:
        """Whether the spans themselves are of this moment, not of a week that is taken to be like it."""
        return self.from_s <= at_s < self.to_s

    def is_open(self, at_s: float) -> bool:
        if at_s < self.since_s:
            return True
        if self.knows(at_s):
            return any(begins <= at_s < ends for begins, ends in self.spans)
        alike_s = self._alike_s(self._clock_s(at_s))
        return any(self._clock_s(begins) <= alike_s < self._end_clock_s(ends) for begins, ends in self.spans)

    def opens_at(self, at_s: float) -> float | None:
        """When it opens after a moment at which it is closed; None where it is open, or never opens."""
        if self.is_open(at_s):
            return None
        clock_s = self._clock_s(at_s)
        later_s = clock_s - self._alike_s(clock_s)
        begins = [self._clock_s(span[0]) + weeks * WEEK_S + later_s for span in self.spans for weeks in (0, 1, 2)]
        next_s = min((begin for begin in begins if begin > clock_s), default=None)
        return None if next_s is None else self._moment_s(next_s)

    def _clock_s(self, at_s: float) -> float:
        """What the local clock shows, as seconds that are equal to Unix time at `from_s`."""
        return at_s + sum(by_s for set_at_s, by_s in self.changes if set_at_s <= at_s)

    def _end_clock_s(self, at_s: float) -> float:
        """The same of an end: what the clock comes to show, before it is set at that moment."""
        return at_s + sum(by_s for set_at_s, by_s in self.changes if set_at_s < at_s)

    def _moment_s(self, clock_s: float) -> float:
        """The first moment at which the clock shows that; where it skips it, the moment of the skip."""
        moment_s, set_by_s = clock_s, 0.0
        for set_at_s, by_s in self.changes:
            if clock_s - set_by_s < set_at_s:
                break
            set_by_s += by_s
            moment_s = max(clock_s - set_by_s, set_at_s)
        return moment_s

    def _alike_s(self, clock_s: float) -> float:
        """The same time of a week that is known, on the local clock."""
        end_s = self._end_clock_s(self.to_s)
        if clock_s >= end_s:
            return clock_s - math.ceil((clock_s - end_s + 1e-6) / WEEK_S) * WEEK_S
        return clock_s + math.ceil(max(self.from_s - clock_s, 0.0) / WEEK_S) * WEEK_S


ALWAYS_OPEN = OpeningTimes()


def read_opening(said: Any) -> OpeningTimes:
    """Of `opening` in an answer of `GET /stream`; most streams have none, and older servers no `changes` in it."""
    try:
        spans = tuple((float(begins), float(ends)) for begins, ends in said["spans"])
        changes = tuple((float(set_at), float(by)) for set_at, by in said.get("changes") or ())
        found = OpeningTimes(float(said["since"]), float(said["from"]), float(said["to"]), spans, changes)
    except (KeyError, TypeError, ValueError):
        return ALWAYS_OPEN
    return found if found.to_s - found.from_s >= WEEK_S else ALWAYS_OPEN
