"""The last column of the tables of privacy promises: a link to each row's check."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from explanations import Undocumented

from onlooker.proof.promises import PROMISES, Promise

PAGE = Path("docs/reference/checks.md")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_CHECKED = re.compile(r" \[check\]\([^)]*\) \|$")
HEAD, RULE = " check |", "---|"


def linked_rows(root: Path, promises: Sequence[Promise] = PROMISES) -> dict[Path, str]:
    """The documents by path, with a link in each row; raises Undocumented for a row that is no promise."""
    documents = dict.fromkeys(one.document for one in promises)
    return {root / name: link_rows((root / name).read_text(encoding="utf-8"), name, promises) for name in documents}


def link_rows(text: str, document: str, promises: Sequence[Promise] = PROMISES) -> str:
    """Every line that begins with `|` belongs to a table of promises: its head, its rule, and its rows."""
    left = {one.id: one for one in promises if one.document == document}
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if not line.startswith("|"):
            continue
        if line.startswith("|---"):
            lines[number] = _with(line, RULE, lines[number - 1].count("|") - 1)
        elif lines[number + 1].startswith("|---"):
            lines[number] = line if line.endswith(HEAD) else line + HEAD
        else:
            promise = _promise_of(line, document, left)
            lines[number] = f"{_CHECKED.sub('', line)} [check]({_target(document)}#{promise.id}) |"
    if left:
        rows = ", ".join(repr(one.row) for one in left.values())
        raise Undocumented(f"{document} has no row for the promises {rows}. Correct onlooker.proof.promises.")
    return "\n".join(lines) + "\n"


def _with(rule: str, cell: str, columns: int) -> str:
    return rule if rule.count(cell) == columns else rule + cell


def _promise_of(line: str, document: str, left: dict[str, Promise]) -> Promise:
    """The promise of a row, which has none of the others any more; of several that fit, the most precise."""
    first = _LINK.sub(r"\1", line.removeprefix("| ").partition(" | ")[0])
    fitting = [one for one in left.values() if first.startswith(one.row)]
    if not fitting:
        raise Undocumented(
            f"A row of {document} has no check: {first!r}. Add it to onlooker.proof.promises, and what checks it to "
            "onlooker.proof.build_checks or to a check of `onlooker prove`."
        )
    return left.pop(max(fitting, key=lambda one: len(one.row)).id)


def _target(document: str) -> str:
    return Path(os.path.relpath(PAGE, Path(document).parent)).as_posix()
