"""Sections of docs/reference/accuracy.md that recipes of their own write, between marks that others leave alone."""

from bench.lib.product import ROOT
from testkit.page_section import MarkedPage, marked

PAGE = ROOT / "docs/reference/accuracy.md"
PICTURES = ROOT / "docs/pictures/accuracy"
SECTIONS = ("ages", "map")
"""In this order."""


def write_section(name: str, text: str) -> None:
    """Replace one section of the page."""
    MarkedPage(PAGE).write(name, text)


def read_sections() -> str:
    """All of them as they are on the page, with their marks."""
    return "\n\n".join(MarkedPage(PAGE).read(name) or marked(name, "\n") for name in SECTIONS) + "\n"
