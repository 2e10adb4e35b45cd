"""The reference of the privacy promises: what checks each of them, on an installation and at each build."""

import re
import tomllib
from functools import cache
from pathlib import Path

from client_page import Table
from explanations import Undocumented

from onlooker.proof.build_checks import BUILD_CHECKS
from onlooker.proof.check import Check
from onlooker.proof.checks import load_checks
from onlooker.proof.promises import CONCEPT, PRIVACY, PROMISES, Promise

UP = "../../"
"""From the page to the repository's folder."""
IMPORT_RULE = "lint-imports: "
TEST_FOLDERS = ("tests", "client/tests", "pipeline/tests")
TITLES = {PRIVACY: "What is kept, and about whom", CONCEPT: "By construction"}


def check_page(root: Path, table: Table) -> str:
    checks = load_checks()
    _require_known(checks)
    rows: list[list[object]] = [[f"`{check.id}`", check.title, len(check.promises)] for check in checks]
    return "\n".join(
        [
            f"# Checks of the privacy promises\n\nEach row of the tables of [PRIVACY.md]({UP}PRIVACY.md) and of "
            "[privacy by construction](../concepts/privacy.md) is a promise, and each promise has a check. "
            "[`onlooker prove`](../guides/prove.md) checks on a running installation; tests, import rules and recipes "
            "check at each build.\n\n## On a running installation\n",
            table(["check", "what it does", "promises"], rows),
            *(_section(root, document, checks) for document in TITLES),
        ]
    )


def _section(root: Path, document: str, checks: list[Check]) -> str:
    promises = [one for one in PROMISES if one.document == document]
    name = document.rpartition("/")[2]
    head = f"## {TITLES[document]}\n\nThe rows of [{name}]({UP}{document}).\n"
    return "\n".join([head, *(_promise(root, one, checks) for one in promises)])


def _promise(root: Path, promise: Promise, checks: list[Check]) -> str:
    now = [f"`{check.id}`" for check in checks if promise.id in check.promises]
    by_build = [_link(root, name) for name in BUILD_CHECKS.get(promise.id, ())]
    if not now and not by_build:
        raise Undocumented(f"Nothing checks {promise.id}. Add a line to BUILD_CHECKS, or a check of `onlooker prove`.")
    lines = [f"### {promise.id}\n", f"*{promise.row if promise.row.endswith('.') else f'{promise.row} ...'}*\n"]
    if now:
        lines.append(f"- on a running installation: `onlooker prove`, {', '.join(now)}")
    if by_build:
        lines.append(f"- at each build: {', '.join(by_build)}")
    return "\n".join([*lines, ""])


def _link(root: Path, name: str) -> str:
    """To where it can be read; raises Undocumented if there is no such thing."""
    if name.startswith(IMPORT_RULE):
        return _import_rule(root, name.removeprefix(IMPORT_RULE))
    if name.startswith("just "):
        return _recipe(root, name)
    file_name, _, function = name.partition("::")
    file = _test_files(root).get(file_name)
    if file is None or (function and f"def {function}(" not in file.read_text(encoding="utf-8")):
        raise Undocumented(f"BUILD_CHECKS names {name}, which is not there.")
    return f"[{file.stem}]({UP}{file.relative_to(root).as_posix()})"


@cache
def _test_files(root: Path) -> dict[str, Path]:
    """By name: no two test files have the same."""
    return {file.name: file for folder in TEST_FOLDERS for file in (root / folder).rglob("test_*.py")}


def _import_rule(root: Path, contract: str) -> str:
    contracts = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    if contract not in {one["name"] for one in contracts}:
        raise Undocumented(f"BUILD_CHECKS names the import rule {contract!r}, which pyproject.toml does not have.")
    return f"[import rule]({UP}pyproject.toml): {contract[0].lower()}{contract[1:]}"


def _recipes_of(root: Path) -> str:
    return "\n".join((root / name).read_text(encoding="utf-8") for name in ("justfile", "drills.just"))


def _recipe(root: Path, command: str) -> str:
    recipes = re.findall(r"^([a-z][\w-]*)(?: [^\n:]*)?:(?!=)", _recipes_of(root), re.M)
    if command.split()[1] not in recipes:
        raise Undocumented(f"BUILD_CHECKS names `{command}`, which is no recipe of the justfile.")
    return f"[`{command}`]({UP}CONTRIBUTING.md#recipes)"


def _require_known(checks: list[Check]) -> None:
    """What checks name must be promises, and each promise is named by one id."""
    known = [one.id for one in PROMISES]
    if doubled := sorted({name for name in known if known.count(name) > 1}):
        raise Undocumented(f"Several promises have the id {', '.join(doubled)}. Change one in onlooker.proof.promises.")
    named = {*BUILD_CHECKS, *(name for check in checks for name in check.promises)}
    if strange := sorted(named - set(known)):
        raise Undocumented(f"Checks name promises that are none: {', '.join(strange)}. Correct onlooker.proof.")
