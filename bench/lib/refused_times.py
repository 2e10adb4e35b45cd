"""When a device was refused, and why."""

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple


class RefusedSpan(NamedTuple):
    """From the first refusal until the next answer, by the monotonic clock."""

    since: float
    until: float
    reasons: tuple[str, ...]

    @property
    def length_s(self) -> float:
        return self.until - self.since


NEVER = RefusedSpan(0.0, 0.0, ())


@dataclass
class RefusedTimes:
    """All of one device."""

    found: list[RefusedSpan] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    _since: float | None = None
    _why: dict[str, None] = field(default_factory=dict)

    def refuse(self, asked_at: float, reason: str) -> None:
        self.reasons[reason] += 1
        self._why[reason] = None
        if self._since is None:
            self._since = asked_at

    def answer(self) -> None:
        if self._since is not None:
            self.found.append(RefusedSpan(self._since, time.monotonic(), tuple(self._why)))
            self._since, self._why = None, {}

    def longest(self, began: float, ended: float) -> RefusedSpan:
        """Of those that began in a span of time."""
        within = (one for one in self.found if began <= one.since < ended)
        return max(within, key=lambda one: one.length_s, default=NEVER)

    def longest_s(self, began: float, ended: float) -> float:
        return self.longest(began, ended).length_s
