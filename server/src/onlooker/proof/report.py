"""The report of a proof: each promise with what was done and found, as values and as Markdown."""

from collections.abc import Iterable, Sequence
from typing import Any

from onlooker.proof.build_checks import BUILD_CHECKS
from onlooker.proof.check import Check, Finding
from onlooker.proof.promises import PROMISES

KEPT, BROKEN, UNCHECKED, AT_BUILD = "kept", "broken", "not checked", "checked at each build"
_ORDER = (BROKEN, UNCHECKED, KEPT, AT_BUILD)
Ran = tuple[Check, Finding]


def promise_state(promise: str, ran: Iterable[Ran]) -> str:
    """Broken if one check says so; kept only if all checks of it could look."""
    states = {_state_by(promise, finding) for check, finding in ran if promise in check.promises}
    found = next((state for state in _ORDER if state in states), None)
    return found or (AT_BUILD if promise in BUILD_CHECKS else UNCHECKED)


def _state_by(promise: str, finding: Finding) -> str:
    if promise in finding.broken or (not finding.ok and not finding.broken):
        return BROKEN
    return UNCHECKED if promise in finding.unchecked else KEPT


def make_report(ran: Sequence[Ran], about: dict[str, Any]) -> dict[str, Any]:
    """Plain values of JSON; `about` says when, where and how long."""
    promises = [
        {
            "id": one.id,
            "document": one.document,
            "row": one.row,
            "state": promise_state(one.id, ran),
            "checked_now_by": [check.id for check, _ in ran if one.id in check.promises],
            "checked_at_each_build_by": list(BUILD_CHECKS.get(one.id, ())),
        }
        for one in PROMISES
    ]
    states = [promise["state"] for promise in promises]
    return {
        **about,
        "ok": BROKEN not in states and UNCHECKED not in states,
        "counts": {state: states.count(state) for state in _ORDER},
        "promises": promises,
        "checks": [
            {
                "id": check.id,
                "title": check.title,
                "ok": finding.ok,
                "done": finding.done,
                "found": finding.found,
                "limits": list(finding.limits),
                "figures": dict(finding.figures),
            }
            for check, finding in ran
        ],
    }


def broken_rows(report: dict[str, Any]) -> list[str]:
    """One line for each broken promise: its document and its row."""
    return [f"{one['document']}: {one['row']} ({one['id']})" for one in report["promises"] if one["state"] == BROKEN]


def render_report(signed: dict[str, Any]) -> str:
    """Markdown, for people; the JSON file is what is signed."""
    report = signed["report"]
    counts = report["counts"]
    lines = [
        "# Proof of the privacy promises",
        "",
        f"{report['began_at']}, {report['installation']}, Onlooker {report['version']}, {report['seconds']} seconds.",
        "",
        f"**{_verdict(counts)}** Checked on the running installation: {counts[KEPT]} kept, {counts[BROKEN]} broken, "
        f"{counts[UNCHECKED]} not checked. {counts[AT_BUILD]} more can't be checked there: a test or a recipe checks "
        "them at each build.",
        "",
    ]
    lines += [line for state in _ORDER for line in _table(report, state)]
    lines += ["## What was done", ""]
    for check in report["checks"]:
        lines += [f"### {check['id']}", "", f"Done: {check['done']}", "", f"Found: {check['found']}", ""]
        if check["limits"]:
            lines += ["Not looked at:", "", *(f"- {limit}" for limit in check["limits"]), ""]
    key = signed["signature"]
    lines += [
        "## Signature",
        "",
        f"{key['algorithm']}, public key `{key['public_key']}`, over the report in the JSON file beside this one:",
        "",
        f"`{key['value']}`",
        "",
    ]
    return "\n".join(lines)


def _verdict(counts: dict[str, int]) -> str:
    if counts[BROKEN]:
        return f"{counts[BROKEN]} promises are broken."
    if counts[UNCHECKED]:
        return "No promise was found broken, but not all could be checked."
    return "All promises that were checked are kept."


_HEADS = {
    BROKEN: "## Broken",
    UNCHECKED: "## Not checked",
    KEPT: "## Kept: checked now, on this installation",
    AT_BUILD: "## Checked at each build, not here",
}


def _table(report: dict[str, Any], state: str) -> list[str]:
    found = [one for one in report["promises"] if one["state"] == state]
    if not found:
        return []
    column = "checked_at_each_build_by" if state == AT_BUILD else "checked_now_by"
    rows = [f"| {one['row']} | {one['document']} | {', '.join(f'`{by}`' for by in one[column])} |" for one in found]
    return [_HEADS[state], "", "| promise | document | checked by |", "|---|---|---|", *rows, ""]
