"""All files of the site, from a tree of the repository; the same tree gives the same bytes."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path

from deploy.documentation.markdown_page import RenderedPage, Section, render_page
from deploy.documentation.page_frame import HOME, SEARCH, PageFrame
from deploy.documentation.site_links import SOURCE_LIST, SiteLinks, anchor_of, broken_targets
from deploy.documentation.source_pages import find_pages, read_groups

TASKS = (
    ("quickstart.html", "Quickstart", "From the first job to attachments, blobs and streaming."),
    ("guides/agent.html", "Connect a camera", "Install the agent on a device, and check what the camera sees."),
    ("guides/dashboard.html", "Read the dashboard", "What the numbers mean, gaps, and like-with-like comparisons."),
    ("guides/data.html", "Query the numbers", "The data endpoint: by hour or day, in any time zone, as a table."),
    ("guides/devices.html", "Run many devices", "Enrolment codes, health, and settings of a whole fleet."),
    ("concepts/privacy.html", "Privacy", "What is kept, what never is, and how that is checked."),
    ("guides/install.html", "Install a server", "A release with verified files, on a machine of your own."),
    ("/api/v1/", "Interface reference", "Every operation of the management interface with its parameters and answers."),
)
"""The home page's first links."""
INDEX_FILE = "search.json"
NOT_FOUND = "404.html"


@dataclass(frozen=True)
class DocumentationSite:
    """Files by address, and what is wrong with them."""

    files: Mapping[str, bytes]
    pages: int
    anchors: Mapping[str, set[str]]
    broken: Sequence[str]

    @property
    def bytes(self) -> int:
        return sum(map(len, self.files.values()))

    def stands_in(self, folder: Path) -> bool:
        """Whether the folder has these files and no other."""
        there = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
        return set(there) == set(self.files) and all(
            path.read_bytes() == self.files[name] for name, path in there.items()
        )

    def write(self, folder: Path) -> None:
        for address, content in self.files.items():
            path = folder / address
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def build_site(root: Path) -> DocumentationSite:
    sources = find_pages(root)
    addresses = {page.source: page.address for page in sources}
    project = tomllib.loads((root / "server" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    links = SiteLinks(root, addresses, forge=_forge_of(project))
    frame = PageFrame(
        read_groups((root / "README.md").read_text(encoding="utf-8")), addresses, version=project["version"]
    )
    rendered = {page.address: render_page(page.text, partial(links.resolve, page)) for page in sources}
    rendered |= {
        HOME: _home_page(frame),
        SEARCH: _search_page(),
        NOT_FOUND: _missing_page(),
        SOURCE_LIST: _source_page(links),
    }
    files = {
        address: frame.around(page, address, _absolute if address == NOT_FOUND else links.relative).encode()
        for address, page in sorted(rendered.items())
    }
    files |= {address: (root / path).read_bytes() for path, address in sorted(links.pictures.items())}
    files[INDEX_FILE] = _search_index(rendered, frame)
    anchors = {address: page.anchors for address, page in rendered.items()}
    anchors[SOURCE_LIST] = anchors[SOURCE_LIST] | {anchor_of(path) for path in links.listed}
    broken = [
        *links.missing,
        *(
            fault
            for address, page in rendered.items()
            for fault in broken_targets(address, page.targets, anchors, set(files))
        ),
    ]
    return DocumentationSite(files, len(rendered), anchors, broken)


def _forge_of(project: Mapping[str, Mapping[str, str]]) -> str:
    """Where the files of this version are, if the project says where its repository is."""
    repository = project.get("urls", {}).get("Source", "")
    return f"{repository.rstrip('/')}/blob/v{project['version']}" if repository else ""


def _absolute(_address: str, target: str) -> str:
    """A page that is shown at any address."""
    return "/docs" if target == "." else f"/docs/{target}"


def _home_page(frame: PageFrame) -> RenderedPage:
    cards = "\n".join(
        f'<a class="task" href="{address}"><strong>{escape(title)}</strong> <span>{escape(text)}</span></a>'
        for address, title, text in TASKS
    )
    groups = "\n".join(_home_group(group.title, group.entries) for group in frame.groups)
    content = (
        "<h1>Documentation</h1>\n<p>Onlooker counts who passes, who stops and who looks, on a server of your own. "
        "These pages belong to the version that this console runs.</p>\n"
        f'<div class="tasks">\n{cards}\n</div>\n{groups}'
    )
    inside = [address for address, _, _ in TASKS if not address.startswith("/")]
    targets = inside + [address for group in frame.groups for _, address in group.entries]
    return RenderedPage(content, (Section(1, "Documentation", ""),), tuple(targets))


def _home_group(title: str, entries: Sequence[tuple[str, str]]) -> str:
    items = "\n".join(f'<li><a href="{address}">{escape(label)}</a></li>' for label, address in entries)
    return f'<section class="group">\n<h2>{escape(title)}</h2>\n<ul>\n{items}\n</ul>\n</section>'


def _search_page() -> RenderedPage:
    content = (
        '<h1>Search</h1>\n<p id="found" role="status">Type what you look for.</p>\n'
        '<noscript><p>Searching needs JavaScript. <a href="index.html">All pages</a> are listed.</p></noscript>\n'
        '<ol id="results" class="results"></ol>'
    )
    return RenderedPage(content, (Section(1, "Search", ""),), (HOME,))


def _missing_page() -> RenderedPage:
    content = (
        "<h1>No such page</h1>\n<p>The documentation of this version has no page at this address. "
        'Search for it, or start from <a href="/docs/index.html">all pages</a>.</p>'
    )
    return RenderedPage(content, (Section(1, "No such page", ""),), ())


def _source_page(links: SiteLinks) -> RenderedPage:
    items = "\n".join(f'<li id="{anchor_of(path)}"><code>{escape(path)}</code></li>' for path in sorted(links.listed))
    content = (
        "<h1>Source files</h1>\n<p>These pages name files of Onlooker's repository. You have them in a clone; the "
        "source archives of a release contain those of its packages.</p>\n"
        f'<ul class="sources">\n{items}\n</ul>'
    )
    return RenderedPage(content, (Section(1, "Source files", ""),), ())


def _search_index(rendered: Mapping[str, RenderedPage], frame: PageFrame) -> bytes:
    """Pages with their sections: what `documentation.js` reads."""
    pages = [
        {
            "address": address,
            "title": page.title,
            "group": frame.group_of(address),
            "sections": [[section.anchor, section.title, section.text] for section in page.sections],
        }
        for address, page in sorted(rendered.items())
        if address not in (HOME, SEARCH, NOT_FOUND, SOURCE_LIST)
    ]
    return json.dumps(pages, ensure_ascii=False, separators=(",", ":")).encode()
