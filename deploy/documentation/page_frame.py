"""What stands around a page's content: navigation, the way to it, its headings, and the pages before and after."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template

from deploy.documentation.markdown_page import RenderedPage, Section
from deploy.documentation.site_links import SOURCE_LIST
from deploy.documentation.source_pages import Group

LAYOUT = Template(Path(__file__).with_name("layout.html").read_text(encoding="utf-8"))
HOME, SEARCH = "index.html", "search.html"
FEWEST_HEADINGS = 3
"""With fewer, a list of them says no more than the page."""


class PageFrame:
    """Of all pages of a site."""

    def __init__(self, groups: Sequence[Group], addresses: Mapping[str, str], *, version: str) -> None:
        self._groups = [
            Group(group.title, tuple((label, addresses[source]) for label, source in group.entries)) for group in groups
        ]
        self._order = [(label, address) for group in self._groups for label, address in group.entries]
        self._version = version

    def around(self, page: RenderedPage, address: str, relative: Callable[[str, str], str]) -> str:
        def link(target: str) -> str:
            return escape(relative(address, target))

        outline = "".join(_outline(page.sections))
        return LAYOUT.substitute(
            title=escape(page.title),
            root=link(".").rstrip("/") or ".",
            at_home=' aria-current="page"' if address == HOME else "",
            columns=" outlined" if outline else "",
            navigation="\n".join(self._navigation(address, link)),
            trail=self._trail(address, link),
            content=page.html,
            turns=self._turns(address, link),
            outline=outline,
            version=escape(self._version),
            source=f'<a href="{link(SOURCE_LIST)}">Source files</a>',
        )

    def group_of(self, address: str) -> str:
        """The title of the page's group; of a page that the README does not list, that of the pages in its folder."""
        listed = {one: group.title for group in reversed(self._groups) for _, one in group.entries}
        beside = [title for one, title in listed.items() if "/" in address and Path(one).parent == Path(address).parent]
        return listed.get(address) or (beside[0] if beside else "")

    @property
    def groups(self) -> Sequence[Group]:
        """With addresses in the place of paths."""
        return self._groups

    def _navigation(self, address: str, link: Callable[[str], str]) -> Iterator[str]:
        current = self.group_of(address)
        for group in self._groups:
            is_open = " open" if group.title == current else ""
            yield f"<details{is_open}><summary>{escape(group.title)}</summary>"
            yield f'<nav aria-label="{escape(group.title)}"><ul>'
            for label, target in group.entries:
                mark = ' aria-current="page"' if target == address else ""
                yield f'<li><a href="{link(target)}"{mark}>{escape(label)}</a></li>'
            yield "</ul></nav></details>"

    def _trail(self, address: str, link: Callable[[str], str]) -> str:
        group = self.group_of(address)
        if not group:
            return ""
        above = f'<li><a href="{link(HOME)}">Documentation</a></li>'
        return f'<nav class="breadcrumb" aria-label="Breadcrumb"><ol>{above}<li>{escape(group)}</li></ol></nav>\n'

    def _turns(self, address: str, link: Callable[[str], str]) -> str:
        addresses = [one for _, one in self._order]
        if address not in addresses:
            return ""
        at = addresses.index(address)
        before = self._order[at - 1] if at else None
        after = self._order[at + 1] if at + 1 < len(self._order) else None
        sides = [
            f'<a rel="{relation}" href="{link(one[1])}"><small>{word}</small> {escape(one[0])}</a>'
            for relation, word, one in (("prev", "Previous", before), ("next", "Next", after))
            if one
        ]
        return f'<nav class="turns" aria-label="Pages before and after">{"".join(sides)}</nav>\n'


def _outline(sections: Sequence[Section]) -> Iterator[str]:
    listed = [section for section in sections if section.level in (2, 3)]
    if len(listed) < FEWEST_HEADINGS:
        return
    yield '<aside class="outline" aria-label="On this page">\n<p>On this page</p>\n<ul>\n'
    for section in listed:
        link = f'<a href="#{escape(section.anchor)}">{escape(section.title)}</a>'
        yield f'<li class="level-{section.level}">{link}</li>\n'
    yield "</ul>\n</aside>\n"
