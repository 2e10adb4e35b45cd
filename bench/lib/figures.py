"""One measured figure and the target it must meet."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A measured value; without a target it is only reported."""

    name: str
    value: float
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""

    @property
    def met(self) -> bool:
        """A value that could not be measured meets nothing."""
        if math.isnan(self.value):
            return False
        if self.at_most is not None and self.value > self.at_most:
            return False
        return self.at_least is None or self.value >= self.at_least

    @property
    def target(self) -> str:
        low, high = self.at_least, self.at_most
        if low is not None and high is not None:
            return f"{low:g} to {high:g}"
        if low is not None:
            return f"at least {low:.3g}"
        return f"at most {high:.3g}" if high is not None else ""

    @property
    def verdict(self) -> str:
        if not self.target:
            return "no target"
        return "met" if self.met else "MISSED"
