"""What a run says at its end: the ends of failed logs, one table, one JSON object."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.drills.execution import DrillVerdict

LOG_LINES = 40
HEADS = ("check", "seconds", "verdict", "figure")


def write_logs(verdicts: Sequence[DrillVerdict]) -> list[str]:
    """The last lines of those that failed."""
    lines = []
    for verdict in verdicts:
        if not verdict.ok and verdict.log:
            lines += [f"--- {verdict.name}: {verdict.words}; the end of {verdict.log}", *_tail(verdict.log)]
    return lines


def write_table(verdicts: Sequence[DrillVerdict]) -> list[str]:
    rows = [HEADS, *(_row(verdict) for verdict in verdicts)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS) - 1)]
    return ["  ".join((*map(str.ljust, row[:-1], widths), row[-1])).rstrip() for row in rows]


def summarise(verdicts: Sequence[DrillVerdict], *, seconds: int) -> dict[str, Any]:
    return {
        "ok": bool(verdicts) and all(verdict.ok for verdict in verdicts),
        "checks": len(verdicts),
        "failed": [verdict.name for verdict in verdicts if not verdict.ok],
        "by_itself": [verdict.name for verdict in verdicts if verdict.ok and verdict.by_itself],
        "left_out": [verdict.name for verdict in verdicts if verdict.is_left_out],
        "seconds": seconds,
    }


def _row(verdict: DrillVerdict) -> tuple[str, ...]:
    words = verdict.words
    if verdict.is_left_out:
        words = f"LEFT OUT: {words}"
    elif not verdict.ok:
        words = f"FAILED: {words}"
    return (verdict.name, f"{verdict.seconds:.0f}", words, verdict.figure)


def _tail(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_LINES:]
