"""Which tests run in one process, one after the other: those that share a running product, else those of a file."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PRODUCTS = {
    "server": {
        "brief_stack": "brief_stack",
        "default_stack": "brief_stack",
        "watched_stack": "watched_stack",
        "another_gateway": "watched_stack",
        "stack": "stack",
        "stream": "stack",
        "client": "stack",
        "stored": "stack",
        "second_gateway": "stack",
    },
    "client": {"product": "product", "stream": "product", "client": "product"},
}
"""By package: fixtures of a shared product or of what is made with it, and that product. The first one counts."""
SHARED_FIXTURES = ("stack", "brief_stack", "default_stack", "watched_stack", "s3_stack", "s3_server", "product")
"""What runs until the last test of its unit has ended."""
LONGEST = (
    "server stack",
    "client product",
    "server/tests/journey/test_worker_death.py",
    "server/tests/journey/test_developer_month.py",
    "server watched_stack",
    "server brief_stack",
    "server/tests/bus/test_session_bytes.py",
    "server/tests/journey/test_up.py",
)
"""Units of more than half a minute, the longest first."""
_MENTIONED = re.compile(r"\b(" + "|".join({name for products in PRODUCTS.values() for name in products}) + r")\b")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def unit_of(nodeid: str) -> str:
    """Name of the unit that a test belongs to."""
    path, _, test = nodeid.partition("::")
    package = path.partition("/")[0]
    function = test.rpartition("::")[2].partition("[")[0]
    needed = _needed_fixtures(ROOT / path).get(function, frozenset())
    found = [product for fixture, product in PRODUCTS.get(package, {}).items() if fixture in needed]
    return f"{package} {found[0]}" if found else path


def turn_of(unit: str) -> int:
    """What takes longest begins first, so that no process waits long for the last one."""
    return LONGEST.index(unit) if unit in LONGEST else len(LONGEST)


@cache
def _needed_fixtures(file: Path) -> dict[str, frozenset[str]]:
    """By test: the fixtures that it needs, itself or by way of others in its file, and that the file does not define."""
    text = file.read_text(encoding="utf-8")
    if not _MENTIONED.search(text):
        return {}
    functions = {node.name: node for node in ast.walk(ast.parse(text)) if isinstance(node, _Function)}
    asked = {name: set(_asked_by(node)) for name, node in functions.items()}
    return {name: frozenset(_closure(name, asked)) for name in functions if name.startswith("test_")}


def _asked_by(function: _Function) -> Iterator[str]:
    """Arguments, and what `usefixtures` names."""
    yield from (argument.arg for argument in (*function.args.args, *function.args.kwonlyargs))
    for mark in function.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith("usefixtures"):
            yield from (str(name.value) for name in mark.args if isinstance(name, ast.Constant))


def _closure(test: str, asked: dict[str, set[str]]) -> set[str]:
    seen, left = {test}, [test]
    while left:
        found = asked[left.pop()] - seen
        seen |= found
        left += [name for name in found if name in asked]
    return seen - asked.keys()
