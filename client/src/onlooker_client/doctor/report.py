"""The report: for people line by line as it becomes known, for programs as one object."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from typing import Any

from onlooker_client.doctor.checks import Check
from onlooker_client.doctor.finding import Finding, Level
from onlooker_client.terminal import Terminal
from onlooker_client.version import VERSION

TITLE_WIDTH = 13
INDENT = 4
"""Of what stands behind a line's sign."""
Found = Sequence[tuple[Check, Finding]]


def announce(terminal: Terminal, check: Check) -> None:
    """Say what is under way; the line is written over when it is done."""
    waiting = f"{check.doing} ..." if check.doing else "..."
    terminal.replace_line(terminal.paint(f"    {check.title:<{TITLE_WIDTH}}{waiting}", "grey"))


def show(terminal: Terminal, check: Check, finding: Finding) -> None:
    terminal.replace_line("")
    lines = textwrap.wrap(finding.figure, terminal.width - INDENT - TITLE_WIDTH) or [""]
    first = f"{check.title:<{TITLE_WIDTH}}{lines[0]}"
    if finding.level is Level.UNCHECKED:
        terminal.say(terminal.paint(f"  - {first}", "grey"))
    else:
        {Level.GOOD: terminal.good, Level.WARN: terminal.warn, Level.BAD: terminal.bad}[finding.level](first)
    margin = " " * (INDENT + TITLE_WIDTH)
    for line in lines[1:]:
        terminal.say(f"{margin}{line}")
    for line in textwrap.wrap(finding.remedy, terminal.width - INDENT - TITLE_WIDTH):
        terminal.say(margin + (terminal.paint(line, "grey") if finding.level is Level.GOOD else line))


def summary(found: Found) -> str:
    bad, warned = _count(found, Level.BAD), _count(found, Level.WARN)
    if not bad and not warned:
        return "All is well."
    parts = [f"{bad} {'thing' if bad == 1 else 'things'} to fix"] if bad else []
    if warned:
        parts.append(f"{warned} to look at" if bad else f"{warned} {'thing' if warned == 1 else 'things'} to look at")
    return f"{', '.join(parts)}."


def as_json(found: Found) -> str:
    checks: list[dict[str, Any]] = [
        {"name": check.name, "level": finding.level.value, "figure": finding.figure, "remedy": finding.remedy or None}
        for check, finding in found
    ]
    bad, warned = _count(found, Level.BAD), _count(found, Level.WARN)
    said = {"ok": not bad, "to_fix": bad, "to_look_at": warned, "checks": checks, "version": VERSION}
    return json.dumps(said, ensure_ascii=False)


def has_faults(found: Found) -> bool:
    return bool(_count(found, Level.BAD))


def _count(found: Found, level: Level) -> int:
    return sum(finding.level is level for _, finding in found)
