"""Every command of the operators' guides is run: by a test, by a recipe that a mark names, or the mark says why not."""

import re

import pytest

from bench.containers.guide_commands import PLAYED, blocks_of
from doc_pages import ROOT

GUIDES = ROOT / "docs" / "guides"
BLOCK = re.compile(r"(?:^ *<!-- (?P<mark>[^\n]+) -->\n)?^ *```sh\n(?P<commands>.*?)^ *```$", re.MULTILINE | re.DOTALL)
RECIPE = re.compile(r"^([a-z][\w-]*)(?: [^:\n]*)?:", re.MULTILINE)
INSIDE = "# not tested: "
"""How the guide to Kubernetes marks its blocks."""
TESTED = {
    "backup": 6,  # test_guide_options.py
    "cell": 0,
    "edge": 0,
    "local-feed": 0,
    "compose": sum(len(blocks_of(title)) for title in PLAYED),  # just compose
    "kubernetes": 2,  # test_kubernetes_guide.py
    "monitoring": 1,  # test_running_monitoring.py
    "operate": 6,  # test_guide_options.py
    "upgrade": 0,
}
"""How many blocks of a guide have no mark, since what is named beside them checks them all."""


def blocks_with_marks(guide: str) -> list[tuple[str, str]]:
    text = (GUIDES / f"{guide}.md").read_text(encoding="utf-8")
    return [(found["mark"] or "", found["commands"]) for found in BLOCK.finditer(text)]


@pytest.mark.parametrize("guide", TESTED)
def test_commands_without_a_mark_are_those_that_are_run(guide: str) -> None:
    blocks = blocks_with_marks(guide)
    assert blocks
    assert sum(not mark and not commands.startswith(INSIDE) for mark, commands in blocks) == TESTED[guide]


@pytest.mark.parametrize("guide", TESTED)
def test_a_mark_names_a_recipe_or_a_reason(guide: str) -> None:
    recipes = {
        name
        for file in ("justfile", "drills.just")
        for name in RECIPE.findall((ROOT / file).read_text(encoding="utf-8"))
    }
    for mark, commands in blocks_with_marks(guide):
        named = re.match(r"run by just ([\w-]+)", mark)
        is_reason = mark.startswith("not run by a test: ") or commands.startswith(INSIDE)
        assert not mark or is_reason or (named and named[1] in recipes), mark
