"""Which tests run in one process, one after the other: those that share a running product, else those of a file.

Tests that are alone are units of their own, and come last: nobody waits for them who has something else to do.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
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
ALONE = ", alone"
"""How the name of a unit ends whose tests are alone."""
LONGEST = (
    "client product",
    "server stack",
    "server/tests/journey/test_demo.py",
    "server/tests/bus/test_session_bytes.py",
    "server/tests/docs/test_doc_commands.py",
    "server watched_stack",
    "server/tests/visits/test_recorder.py",
    "server/tests/journey/test_earlier_release.py",
    "server/tests/journey/test_up.py",
    "server/tests/journey/test_worker_death.py",
    "server/tests/journey/test_traces.py",
    "server/tests/journey/test_two_gateways.py",
    "server/tests/data/test_retention_attack.py",
    "server/tests/docs/test_docs.py",
    "server/tests/console/test_agent_install.py",
    "server/tests/docs/test_backup_guide.py",
    "server/tests/console/test_removals_journey.py",
    "server/tests/data/test_data_limits.py",
    "server/tests/deploy/test_running_monitoring.py",
    "server brief_stack",
)
"""Units of more than twenty seconds, the longest first."""
_SPECIAL = re.compile(
    r"\bmark\.alone\b|\b(" + "|".join({name for known in PRODUCTS.values() for name in known}) + r")\b"
)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class SourceTest:
    """What the source says about a test."""

    fixtures: frozenset[str] = frozenset()
    """Those that it needs, also by way of others in its file, and that the file does not define."""
    is_alone: bool = False


def unit_of(nodeid: str) -> str:
    """Name of the unit that a test belongs to."""
    path, _, test = nodeid.partition("::")
    package = path.partition("/")[0]
    function = test.rpartition("::")[2].partition("[")[0]
    found = _tests_of(ROOT / path).get(function, SourceTest())
    products = [product for fixture, product in PRODUCTS.get(package, {}).items() if fixture in found.fixtures]
    return (f"{package} {products[0]}" if products else path) + (ALONE if found.is_alone else "")


def turn_of(unit: str) -> int:
    """What takes longest begins first, so that no process waits long for the last one."""
    if unit.endswith(ALONE):
        return len(LONGEST) + 1
    return LONGEST.index(unit) if unit in LONGEST else len(LONGEST)


@cache
def _tests_of(file: Path) -> dict[str, SourceTest]:
    text = file.read_text(encoding="utf-8")
    if not _SPECIAL.search(text):
        return {}
    functions = {node.name: node for node in ast.walk(ast.parse(text)) if isinstance(node, _Function)}
    asked = {name: set(_asked_by(node)) for name, node in functions.items()}
    return {
        name: SourceTest(frozenset(_closure(name, asked)), "pytest.mark.alone" in map(ast.unparse, node.decorator_list))
        for name, node in functions.items()
        if name.startswith("test_")
    }


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
