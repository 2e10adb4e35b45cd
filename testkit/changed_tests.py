"""Test files that a change touches by imports; `python -m testkit.changed_tests [REVISION]` prints their names."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grimp

from testkit.layout import PACKAGES, ROOT

SOURCES = ("server/src", "pipeline/src", "client/src")
TIERS = ("tests/unit", "tests/db", "tests/product", "client/tests/unit", "client/tests/product", "pipeline/tests/unit")
SUPPORT = ("tests/support", "client/tests/support", "pipeline/tests/support", "testkit")


def changed_files(revision: str) -> set[Path]:
    """What differs from a revision, also what git does not know yet."""
    listings = (
        ["git", "diff", "--name-only", "--diff-filter=d", revision],
        ["git", "ls-files", "--others", "--exclude-standard"],
    )
    names = [subprocess.check_output(command, cwd=ROOT, text=True).splitlines() for command in listings]
    return {ROOT / name for listing in names for name in listing}


def touched_tests(changed: set[Path]) -> list[Path]:
    """Test files that changed, and those that import what changed, in whatever many steps."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    modules = {module for path in changed if (module := _module_of(path)) in graph.modules}
    touched = modules.union(*(graph.find_downstream_modules(module) for module in modules))
    support = [path for folder in SUPPORT for path in (ROOT / folder).rglob("*.py")]
    imports = {path: set(_imports_of(path)) for path in support}
    names = {path: _support_name(path) for path in support}
    while more := {
        names[path] for path in support if names[path] not in touched and (path in changed or imports[path] & touched)
    }:
        touched |= more
    tests = [path for folder in TIERS for path in sorted((ROOT / folder).rglob("test_*.py"))]
    return [path for path in tests if path in changed or touched.intersection(_imports_of(path))]


def _module_of(path: Path) -> str:
    for folder in SOURCES:
        if path.is_relative_to(ROOT / folder) and path.suffix == ".py":
            return ".".join(path.relative_to(ROOT / folder).with_suffix("").parts).removesuffix(".__init__")
    return ""


def _support_name(path: Path) -> str:
    """As a test imports it, or asks for it as a plugin."""
    base = ROOT if path.is_relative_to(ROOT / "testkit") else next(p for p in path.parents if p.name == "support")
    return ".".join(path.relative_to(base).with_suffix("").parts).removesuffix(".__init__")


def _imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytest_plugins":
            yield from ast.literal_eval(node.value)


def main() -> int:
    revision = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    for path in touched_tests(changed_files(revision)):
        print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
