"""Which Markdown files become pages, where each is served, and how the README's list groups them."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT_FILES = (
    *("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "PRIVACY.md"),
    *("SECURITY.md", "examples/README.md"),
)
"""What the README's list names outside docs."""
START, PROJECT = "Start", "Project"
FIVE_MINUTES = "Five-minute start"
_ENTRY = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class SourcePage:
    """A Markdown file of the repository."""

    source: str
    """Its path in the repository."""
    text: str

    @property
    def address(self) -> str:
        """Its path in the site."""
        path = self.source.removeprefix("docs/")
        if path == "README.md":
            return "readme.html"
        if path.endswith("README.md"):
            return path.removesuffix("README.md") + "index.html"
        return (path if "/" in path else path.lower()).removesuffix(".md") + ".html"


@dataclass(frozen=True)
class Group:
    """A heading of the navigation with its pages: label and path in the repository."""

    title: str
    entries: tuple[tuple[str, str], ...]


def find_pages(root: Path) -> list[SourcePage]:
    """All of docs, and the files beside it that the README names."""
    paths = [*(root / "docs").rglob("*.md"), *(root / name for name in ROOT_FILES)]
    sources = sorted(str(path.relative_to(root)) for path in paths)
    return [SourcePage(source, (root / source).read_text(encoding="utf-8")) for source in sources]


def read_groups(readme: str) -> list[Group]:
    """The README's list of documentation: a line of several links is a group, others are where people start."""
    section = readme.partition("\n## Documentation\n")[2].partition("\n## ")[0]
    start: list[tuple[str, str]] = [(FIVE_MINUTES, "README.md")]
    groups: list[Group] = []
    for item in re.split(r"^- ", section, flags=re.MULTILINE)[1:]:
        text = " ".join(item.split())
        entries = tuple((_capitalised(label), target) for label, target in _ENTRY.findall(text))
        if not text.startswith("["):
            groups.append(Group(text.partition(":")[0], entries))
        elif len(entries) == 1:
            start += entries
        else:
            groups.append(Group(PROJECT, entries))
    return [Group(START, tuple(start)), *groups]


def _capitalised(label: str) -> str:
    return label[:1].upper() + label[1:]
