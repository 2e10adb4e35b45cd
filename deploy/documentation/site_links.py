"""Where a link of a Markdown file leads in the site."""

import posixpath
import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from deploy.documentation.source_pages import SourcePage

SOURCE_LIST = "source.html"
"""The page that names the files of the repository to which others link."""


@dataclass
class SiteLinks:
    """Between pages they are links between addresses; pictures are copied; other files are on the forge, or listed."""

    root: Path
    addresses: Mapping[str, str]
    """Of pages, by their path in the repository."""
    forge: str = ""
    """The address of the repository's files on a forge, without a slash at the end; empty if none is known."""
    pictures: dict[str, str] = field(default_factory=dict)
    """Files to copy: address by path in the repository."""
    listed: set[str] = field(default_factory=set)
    missing: list[str] = field(default_factory=list)

    def resolve(self, page: SourcePage, target: str) -> str:
        url = urlsplit(target)
        if url.scheme or not url.path or url.path.startswith("/"):  # the console, which serves the site, has the rest
            return target
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page.source), url.path))
        if not (self.root / path).exists():
            self.missing.append(f"{page.source}: {target}")
            return target
        found = self.relative(page.address, self._address_of(path))
        return f"{found}#{url.fragment}" if url.fragment else found

    def relative(self, address: str, target: str) -> str:
        if urlsplit(target).scheme:
            return target
        return posixpath.relpath(target, posixpath.dirname(address) or ".")

    def _address_of(self, path: str) -> str:
        for name in (path, f"{path}/README.md"):
            if name in self.addresses:
                return self.addresses[name]
        if path.startswith("docs/pictures/") and (self.root / path).is_file():
            self.pictures[path] = path.removeprefix("docs/")
            return self.pictures[path]
        if self.forge:
            return f"{self.forge}/{path}"
        self.listed.add(path)
        return f"{SOURCE_LIST}#{anchor_of(path)}"


def anchor_of(path: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", path.lower()).strip("-")


def broken_targets(address: str, targets: Iterable[str], anchors: Mapping[str, Set[str]], files: Set[str]) -> list[str]:
    """Of links inside the site: those to no page, no file, or no anchor."""
    broken = []
    for target in targets:
        url = urlsplit(target)
        if url.scheme or url.path.startswith("/"):
            continue
        found = posixpath.normpath(posixpath.join(posixpath.dirname(address), url.path)) if url.path else address
        has_anchor = not url.fragment or url.fragment in anchors.get(found, set())
        if found not in files or not has_anchor:
            broken.append(f"{address}: {target}")
    return broken
