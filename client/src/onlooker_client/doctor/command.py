"""`onlooker-agent doctor`: its options and its report, for people and as JSON."""

from __future__ import annotations

import argparse
import json
import textwrap
import time
from collections.abc import Sequence
from typing import Any

from onlooker_client.command import exit_codes
from onlooker_client.command.options import add_server_options, number, read_config
from onlooker_client.doctor.checks import Check, run_checks
from onlooker_client.doctor.examination import Examination
from onlooker_client.doctor.findings import Finding, Severity
from onlooker_client.enrolment.renewal import checked_config
from onlooker_client.terminal import Terminal
from onlooker_client.version import VERSION

SUMMARY = "Check camera, light, network and account, and say what to fix."
TITLE_WIDTH = 13
INDENT = 4
"""Of what stands behind a line's sign."""
Found = Sequence[tuple[Check, Finding]]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source", nargs="?", metavar="SOURCE", help="camera, address, video or folder (default: the configured one)"
    )
    parser.add_argument(
        "--view-degrees",
        type=number(10, 170),
        metavar="N",
        help="how wide the lens sees, from its data sheet; for how far away people may stand",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    add_server_options(parser)


def run(arguments: argparse.Namespace) -> int:
    config = checked_config(read_config(arguments))
    examination = Examination(config, clock=time.time, view_degrees=arguments.view_degrees)
    terminal = Terminal.of()
    is_shown = not arguments.json
    found = []

    def announce(check: Check) -> None:
        if is_shown:
            announce_check(terminal, check)

    try:
        for check, finding in run_checks(examination, announce):
            found.append((check, finding))
            if is_shown:
                show_finding(terminal, check, finding)
    finally:
        examination.close()
    terminal.say(as_json(found) if arguments.json else f"\n{summarise(found)}")
    return exit_codes.FAULTS_FOUND if has_faults(found) else exit_codes.OK


def announce_check(terminal: Terminal, check: Check) -> None:
    """Say what is running; the line is overwritten when it is done."""
    waiting = f"{check.doing} ..." if check.doing else "..."
    terminal.replace_line(terminal.paint(f"    {check.title:<{TITLE_WIDTH}}{waiting}", "grey"))


def show_finding(terminal: Terminal, check: Check, finding: Finding) -> None:
    terminal.replace_line("")
    lines = textwrap.wrap(finding.figure, terminal.width - INDENT - TITLE_WIDTH) or [""]
    first = f"{check.title:<{TITLE_WIDTH}}{lines[0]}"
    if finding.level is Severity.UNCHECKED:
        terminal.say(terminal.paint(f"  - {first}", "grey"))
    else:
        {Severity.GOOD: terminal.good, Severity.WARN: terminal.warn, Severity.BAD: terminal.bad}[finding.level](first)
    margin = " " * (INDENT + TITLE_WIDTH)
    for line in lines[1:]:
        terminal.say(f"{margin}{line}")
    for line in textwrap.wrap(finding.remedy, terminal.width - INDENT - TITLE_WIDTH):
        terminal.say(margin + (terminal.paint(line, "grey") if finding.level is Severity.GOOD else line))


def summarise(found: Found) -> str:
    bad, warned = _count(found, Severity.BAD), _count(found, Severity.WARN)
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
    bad, warned = _count(found, Severity.BAD), _count(found, Severity.WARN)
    said = {"ok": not bad, "to_fix": bad, "to_look_at": warned, "checks": checks, "version": VERSION}
    return json.dumps(said, ensure_ascii=False)


def has_faults(found: Found) -> bool:
    return bool(_count(found, Severity.BAD))


def _count(found: Found, level: Severity) -> int:
    return sum(finding.level is level for _, finding in found)
