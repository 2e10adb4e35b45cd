"""When a device was refused, and why."""

import time
from collections import Counter
from dataclasses import dataclass, field


@dataclass
class RefusedTimes:
    """From the first refusal until the next answer, by the monotonic clock."""

    found: list[tuple[float, float]] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    _since: float | None = None

    def refuse(self, asked_at: float, reason: str) -> None:
        self.reasons[reason] += 1
        if self._since is None:
            self._since = asked_at

    def answer(self) -> None:
        if self._since is not None:
            self.found.append((self._since, time.monotonic()))
            self._since = None

    def longest_s(self, began: float, ended: float) -> float:
        """Of those that began in a span of time."""
        return max((until - since for since, until in self.found if began <= since < ended), default=0.0)
