"""The guide to historic programs names what is played, and all of what the specification lists."""

import re
from pathlib import Path

import pytest

from bench.conformance.__main__ import ROWS

ROOT = Path(__file__).resolve().parents[3]
SPECIFIED = ROOT.parent / "shared" / "spec" / "historic-programs.md"


def first_column(text: str) -> list[str]:
    cells = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]
    return [cell for cell in cells if cell and cell not in ("program", "option", "historic")]


def test_the_guide_has_a_row_for_every_program_that_is_played() -> None:
    guide = (ROOT / "docs" / "guides" / "historic.md").read_text(encoding="utf-8")
    table = guide.partition("## What works")[2].partition("\n## ")[0]
    assert first_column(table) == [row.program for row in ROWS]


def test_every_program_of_the_specification_is_played() -> None:
    if not SPECIFIED.is_file():
        pytest.skip(f"the specification is not here: {SPECIFIED}")
    wanted = [re.sub(r" \(`upper_body.*", "", cell) for cell in first_column(SPECIFIED.read_text(encoding="utf-8"))]
    assert wanted == [row.program for row in ROWS]
