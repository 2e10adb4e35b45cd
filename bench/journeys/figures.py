"""What a run measures, each with what it has to reach."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class JourneyFigure:
    """A number and its target; without a target it is only told."""

    name: str
    value: float | None
    """None where it could not be measured, which meets no target."""
    at_most: float | None = None
    at_least: float | None = None

    @property
    def is_speed(self) -> bool:
        """Whether it depends on how busy the machine is."""
        return self.name.endswith(("_ms", "_per_second"))

    @property
    def is_met(self) -> bool:
        return self.is_met_by(1.0)

    def is_met_by(self, factor: float) -> bool:
        """Where a speed may miss its target by the factor."""
        if self.value is None:
            return self.at_most is None and self.at_least is None
        factor = factor if self.is_speed else 1.0
        return (self.at_most is None or self.value <= self.at_most * factor) and (
            self.at_least is None or self.value >= self.at_least / factor
        )


def as_members(figures: Iterable[JourneyFigure]) -> dict[str, Any]:
    """Members of the one JSON object that a command ends with."""
    members: dict[str, Any] = {}
    for figure in figures:
        target = figure.at_most if figure.at_most is not None else figure.at_least
        members[figure.name] = figure.value
        if target is not None:
            members[f"{figure.name}_target"] = target
    return members


def why_missed(figures: Iterable[JourneyFigure]) -> str:
    """Of figures that did not reach their targets."""
    return ", ".join(f"{figure.name} is {figure.value}" for figure in figures)
