"""Sizes, names and import cycles of all modules; `python -m testkit.layout` prints them and fails on a fault."""

import ast
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
AREAS = {
    "server": "server/src",
    "pipeline": "pipeline/src",
    "client": "client/src",
    "bench": "bench",
    "deploy": "deploy",
    "testkit": "testkit",
}
ONE_NAMESPACE = (("server", "pipeline"), ("client",), ("bench", "deploy", "testkit"))
"""Areas that are read together: within each of these a class name means one thing."""
TEST_FOLDERS = ("tests", "pipeline/tests", "client/tests")
PACKAGES = ("onlooker", "onlooker_pipeline", "onlooker_client")

MEDIAN_LINES = 120
P90_LINES = 350
MOST_LINES = 500
SMALL_LINES = 30
SMALL_SHARE = 0.1

DJANGO_FILES = {"admin.py", "apps.py", "models.py", "urls.py"}
DJANGO_FOLDERS = {"migrations", "templatetags"}
TRADE_WORDS = {
    "billing": "what the trade calls charging customers",
    "dunning": "what the trade calls asking for an overdue payment",
    "encoding": "the noun of HTTP and of picture formats, as in Content-Encoding",
    "monitoring": "what operators call watching a service",
    "processing": "a job's computation, as in image processing",
    "sending": "the agent's folder for what sends frames, beside capture and status",
    "sighting": "a noun of the glossary: one person in one frame",
    "signing": "a signing key is what the trade calls it",
    "tracking": "what computer vision calls following objects from frame to frame",
}
"""Words in -ing that are no gerund to the reader, each with the reason."""
_GERUND = re.compile(r"\w{3,}ing$")
_NOUNS = {"string"}


@dataclass(frozen=True)
class Module:
    """One Python file."""

    area: str
    path: Path
    text: str

    @property
    def name(self) -> str:
        return str(self.path.relative_to(ROOT))

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    @property
    def has_free_size(self) -> bool:
        """Whether Django or the subject decides how long it is: not counted among the small ones."""
        parts = self.path.relative_to(ROOT).parts
        return (
            self.path.name in {"__init__.py", "__main__.py", *DJANGO_FILES}
            or bool(DJANGO_FOLDERS & set(parts))
            or "catalogue" in parts
        )

    def class_names(self) -> Iterator[str]:
        """Of the module itself: a class within another is read with it."""
        return (node.name for node in ast.parse(self.text).body if isinstance(node, ast.ClassDef))


@dataclass(frozen=True)
class Layout:
    """All modules of the repository that are not tests."""

    modules: tuple[Module, ...]

    @classmethod
    def read(cls) -> "Layout":
        found = [
            Module(area, path, path.read_text(encoding="utf-8"))
            for area, folder in AREAS.items()
            for path in sorted((ROOT / folder).rglob("*.py"))
            if not {"migrations", "node_modules"} & set(path.parts)
        ]
        return cls(tuple(found))

    def too_long(self) -> list[str]:
        return [f"{one.name}: {one.lines} lines" for one in self.modules if one.lines > MOST_LINES]

    def small(self) -> list[str]:
        return [f"{one.name}: {one.lines} lines" for one in self._judged if one.lines < SMALL_LINES]

    @property
    def small_share(self) -> float:
        return len(self.small()) / len(self._judged)

    @cached_property
    def _judged(self) -> list[Module]:
        return [one for one in self.modules if not one.has_free_size]

    def duplicate_classes(self) -> list[str]:
        """Class names with two meanings, and where."""
        faults: list[str] = []
        for areas in ONE_NAMESPACE:
            homes: dict[str, list[str]] = defaultdict(list)
            for module in self.modules:
                if module.area in areas:
                    for name in module.class_names():
                        homes[name].append(module.name)
            faults += [f"{name}: {', '.join(where)}" for name, where in sorted(homes.items()) if len(where) > 1]
        return faults

    def gerunds(self) -> list[str]:
        """Modules and folders that are named by what they do."""
        parts = {part for one in self.modules for part in _named_parts(one.path.relative_to(ROOT / AREAS[one.area]))}
        return sorted(str(part) for part in parts if _is_gerund(part.stem))

    def rows(self) -> Iterator[str]:
        """A table, a line an area."""
        yield f"{'layout':10}{'files':>7}{'median':>8}{'p90':>6}{'longest':>9}{'under ' + str(SMALL_LINES):>10}"
        for area in (*AREAS, "all"):
            sizes = [one.lines for one in self.modules if area in (one.area, "all") and one.lines > 1]
            judged = [one.lines for one in self._judged if area in (one.area, "all")]
            share = sum(lines < SMALL_LINES for lines in judged) / max(len(judged), 1)
            yield (
                f"{area:10}{len(sizes):7}{statistics.median(sizes):8.0f}{percentile_90(sizes):6.0f}"
                f"{max(sizes):9}{share:10.1%}"
            )


def percentile_90(sizes: Iterable[int]) -> float:
    return statistics.quantiles(sizes, n=10)[-1]


def _named_parts(path: Path) -> Iterator[Path]:
    """A module and the folders it lies in."""
    yield path
    yield from (parent for parent in path.parents if parent.name)


def _is_gerund(name: str) -> bool:
    words = name.strip("_").split("_")
    return any(_GERUND.match(word) and word not in _NOUNS and word not in TRADE_WORDS for word in words)


def duplicate_tests() -> list[str]:
    """Test modules with the same name: pytest would collect only the first of them."""
    homes: dict[str, list[str]] = defaultdict(list)
    for folder in TEST_FOLDERS:
        for path in sorted((ROOT / folder).rglob("test_*.py")):
            homes[path.name].append(str(path.parent.relative_to(ROOT)))
    return [f"{name}: {', '.join(where)}" for name, where in homes.items() if len(where) > 1]


def import_cycles() -> list[str]:
    """Modules that import one another, in whatever many steps; imports for types alone do not count."""
    first, *others = PACKAGES
    graph = grimp.build_graph(first, *others, exclude_type_checking_imports=True, cache_dir=None)
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    return [" <-> ".join(sorted(members)) for members in connected_components(imported) if len(members) > 1]


def connected_components(edges: Mapping[str, set[str]]) -> list[set[str]]:
    """Groups of nodes of which each is reached from each."""
    reached = {node: _reached_from(node, edges) for node in edges}
    found: list[set[str]] = []
    seen: set[str] = set()
    for node in sorted(edges):
        if node not in seen:
            group = {other for other in reached[node] if node in reached[other]} | {node}
            seen |= group
            found.append(group)
    return found


def _reached_from(node: str, edges: Mapping[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = [node]
    while waiting:
        new = edges[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached


def main() -> int:
    layout = Layout.read()
    print("\n".join(layout.rows()))
    faults = {
        "over 500 lines": layout.too_long(),
        "duplicate class names": layout.duplicate_classes(),
        "duplicate test names": duplicate_tests(),
        "gerund module names": layout.gerunds(),
        "circular imports": import_cycles(),
    }
    if layout.small_share > SMALL_SHARE:
        faults[f"under {SMALL_LINES} lines, more than {SMALL_SHARE:.0%} of all"] = layout.small()
    print(", ".join(f"{name}: {len(found)}" for name, found in faults.items()))
    for name, found in faults.items():
        for fault in found:
            print(f"  {name}: {fault}")
    return 1 if any(faults.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
