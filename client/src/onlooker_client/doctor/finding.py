"""What a check found: how good it is, the figure behind that, and what to do about it."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace


class Level(str, enum.Enum):
    """How much it matters; the value is what `--json` says."""

    GOOD = "good"
    WARN = "warn"
    """Works, and could be better."""
    BAD = "bad"
    """To be fixed."""
    UNCHECKED = "unchecked"
    """Could not be looked at, because of something else."""


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    level: Level
    figure: str
    """What was measured or seen, with its unit."""
    remedy: str = ""
    """What to do; with a good one, a note."""


def named(title: str, finding: Finding) -> Finding:
    """The same for where no title stands beside it."""
    return replace(finding, figure=f"{title}: {finding.figure}")


def good(figure: str, note: str = "") -> Finding:
    return Finding(Level.GOOD, figure, note)


def warn(figure: str, remedy: str) -> Finding:
    return Finding(Level.WARN, figure, remedy)


def bad(figure: str, remedy: str) -> Finding:
    return Finding(Level.BAD, figure, remedy)


def unchecked(reason: str) -> Finding:
    return Finding(Level.UNCHECKED, f"not checked: {reason}")
