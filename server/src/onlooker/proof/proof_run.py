"""Runs the checks on an installation, one after another, and makes the report of it."""

import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

from onlooker.proof.check import Check, Finding, Unchecked
from onlooker.proof.installation import Installation
from onlooker.proof.report import Ran, make_report

Say = Callable[[str], None]


def prove(installation: Installation, checks: Sequence[Check]) -> dict[str, Any]:
    """The report, not signed yet."""
    began, began_at = time.monotonic(), installation.clock()
    installation.storage  # noqa: B018 (what is written from now on is looked at)
    for check in checks:
        if check.begin:
            check.begin(installation)
    ran = [run_check(installation, check, f"{number}/{len(checks)}") for number, check in enumerate(checks, 1)]
    about = {
        "began_at": began_at.isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - began),
        "installation": installation.settings.public_url,
        "version": version("onlooker"),
    }
    return make_report(ran, about)


def run_check(installation: Installation, check: Check, number: str) -> Ran:
    installation.say(f"[{number}] {check.title}")
    began = time.monotonic()
    try:
        finding = check.run(installation)
    except Unchecked as reason:
        finding = Finding(
            "Nothing: it can't be done here.", str(reason), True, unchecked=check.promises, limits=(str(reason),)
        )
    installation.say(f"[{number}] {_mark(finding)}, {time.monotonic() - began:.0f} s: {finding.found}")
    return check, finding


def _mark(finding: Finding) -> str:
    if not finding.ok:
        return "broken"
    return "not checked" if finding.unchecked else "kept"
