"""Sections of docs/reference/accuracy.md that recipes of their own write, between marks that others leave alone."""

import re

from bench.lib.product import ROOT

PAGE = ROOT / "docs/reference/accuracy.md"
PICTURES = ROOT / "docs/pictures/accuracy"
SECTIONS = ("ages", "map")
"""In this order."""


def write_section(name: str, text: str) -> None:
    """Replace one section of the page."""
    page = PAGE.read_text(encoding="utf-8")
    between = _marked(name, f"\n{text.strip()}\n")
    PAGE.write_text(_pattern(name).sub(lambda _: between, page), encoding="utf-8")


def read_sections() -> str:
    """All of them as they are on the page, with their marks."""
    page = PAGE.read_text(encoding="utf-8")
    found = {name: _pattern(name).search(page) for name in SECTIONS}
    return "\n\n".join(match[0] if (match := found[name]) else _marked(name, "\n") for name in SECTIONS) + "\n"


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?s)<!-- {name} -->.*<!-- /{name} -->")


def _marked(name: str, text: str) -> str:
    return f"<!-- {name} -->\n{text}\n<!-- /{name} -->"
