"""Sections of a page that a program writes, between marks; the rest of the page is left alone."""

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class MarkedPage:
    """A page in Markdown with sections between `<!-- name -->` and `<!-- /name -->`."""

    path: Path

    def write(self, name: str, text: str) -> None:
        """Replace one section."""
        page = self.path.read_text(encoding="utf-8")
        between = marked(name, f"\n{text.strip()}\n")
        self.path.write_text(_pattern(name).sub(lambda _: between, page), encoding="utf-8")

    def read(self, name: str) -> str | None:
        """One section with its marks; None if it is not there."""
        found = _pattern(name).search(self.path.read_text(encoding="utf-8"))
        return found[0] if found else None

    def holds(self, name: str, text: str) -> bool:
        """Whether a section says exactly this."""
        return self.read(name) == marked(name, f"\n{text.strip()}\n")


def marked(name: str, text: str) -> str:
    return f"<!-- {name} -->\n{text}\n<!-- /{name} -->"


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?s)<!-- {name} -->.*<!-- /{name} -->")
