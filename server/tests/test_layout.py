"""Files and functions stay small, names mean one thing, and no module is a drawer for everything."""

import ast
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from testkit.layout import MOST_LINES, SMALL_SHARE, Layout, connected_components, import_cycles

ROOT = Path(__file__).resolve().parents[2]
BANNED = {"utils", "util", "common", "core", "helpers", "helper", "manager", "misc"}
Definition = ast.FunctionDef | ast.AsyncFunctionDef


def sources() -> list[Path]:
    folders = (
        "client/src",
        "pipeline/src",
        "pipeline/tests",
        "testkit",
        "client/tests",
        "server/src",
        "server/tests",
        "bench",
        "docs",
        "examples",
        "models/building",
        "models/src",
        "models/tests",
    )
    files = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in files if "migrations" not in path.parts]


@dataclass(frozen=True)
class Function:
    """A function and where it is."""

    where: str
    lines: int
    positional: int


def functions_of(path: Path) -> Iterator[Function]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, Definition):
            names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
            positional = len([name for name in names if name not in ("self", "cls")])
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            yield Function(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", lines, positional)


@pytest.fixture(scope="module")
def files() -> dict[str, int]:
    """Lines by path; package files of one line say nothing about size."""
    counted = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in sources()}
    return {path: lines for path, lines in counted.items() if lines > 1}


@pytest.fixture(scope="module")
def functions() -> list[Function]:
    return [function for path in sources() for function in functions_of(path)]


def share_below(sizes: list[int], limit: int) -> float:
    return sum(size < limit for size in sizes) / len(sizes)


def test_files_are_small(files: dict[str, int]) -> None:
    sizes = list(files.values())
    assert statistics.median(sizes) <= 120, f"median {statistics.median(sizes)}"
    assert share_below(sizes, 350) >= 0.9
    assert [f"{path}: {lines}" for path, lines in files.items() if lines > 500] == []


def test_functions_are_small(functions: list[Function]) -> None:
    sizes = [function.lines for function in functions]
    report = ", ".join(f"{f.where} {f.lines}" for f in sorted(functions, key=lambda f: -f.lines)[:10])
    assert statistics.median(sizes) <= 12, f"median {statistics.median(sizes)}; longest: {report}"
    assert share_below(sizes, 35) >= 0.9, f"{share_below(sizes, 35):.1%} under 35 lines; longest: {report}"


def test_functions_take_at_most_five_positional_arguments(functions: list[Function]) -> None:
    assert [f"{f.where}: {f.positional}" for f in functions if f.positional > 5] == []


def test_every_module_says_in_one_line_what_it_is() -> None:
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sources()}
    first_lines = {path: (ast.get_docstring(tree) or "").partition("\n")[0] for path, tree in trees.items()}
    assert [str(path.relative_to(ROOT)) for path, line in first_lines.items() if not line.strip()] == []


def test_no_module_is_named_after_nothing() -> None:
    named = [path for path in sources() if BANNED & {path.stem, *path.relative_to(ROOT).parts[:-1]}]
    assert [str(path.relative_to(ROOT)) for path in named] == []


@pytest.fixture(scope="module")
def layout() -> Layout:
    return Layout.read()


def test_no_module_is_too_long(layout: Layout) -> None:
    assert layout.too_long() == [], f"over {MOST_LINES} lines"


def test_few_modules_are_small(layout: Layout) -> None:
    assert layout.small_share <= SMALL_SHARE, layout.small()


def test_a_class_name_means_one_thing(layout: Layout) -> None:
    assert layout.duplicate_classes() == []


def test_modules_are_named_by_nouns(layout: Layout) -> None:
    assert layout.gerunds() == []


def test_no_modules_import_one_another() -> None:
    assert import_cycles() == []


def test_a_cycle_is_found() -> None:
    edges = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"e"}}
    assert sorted(map(sorted, connected_components(edges))) == [["a", "b", "c"], ["d"], ["e"]]
