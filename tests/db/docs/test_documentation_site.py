"""The documentation's site: its links and anchors, what its pages may contain, and how the console serves it."""

import asyncio
import posixpath
import re
import zlib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.test import Client
from django.urls import resolve
from starlette.applications import Starlette

import onlooker.console
from deploy.documentation.__main__ import LIMIT_BYTES, PLACE
from deploy.documentation.markdown_page import render_page, slug_of
from deploy.documentation.site import INDEX_FILE, DocumentationSite, build_site
from deploy.documentation.site_links import SiteLinks
from deploy.documentation.source_pages import SourcePage, find_pages, read_groups
from doc_pages import ROOT, pages
from onlooker.console.documentation.static_site import BUILT_BY, SITE, site_routes

pytest_plugins = ["pages"]

TEMPLATES = Path(onlooker.console.__file__).parent / "templates"
HELPED = {
    *("guides/dashboard.html", "concepts/groups.html", "concepts/privacy.html", "guides/devices.html"),
    *("guides/keys.html", "guides/webhooks.html", "guides/camera-check.html", "guides/agent.html"),
}
"""Where questions arise: numbers, comparisons and gaps, k and privacy, enrolment, keys, webhooks, checks, set-up."""


class SitePage(HTMLParser):
    """A page as a browser reads it: its elements, and the anchors of its own."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    @property
    def anchors(self) -> set[str]:
        return {value for _, attributes in self.elements if (value := attributes.get("id"))}

    @property
    def targets(self) -> list[str]:
        values = [attributes.get("href") or attributes.get("src") or "" for _, attributes in self.elements]
        return [value for value in values if value]


@pytest.fixture(scope="module")
def site() -> DocumentationSite:
    return build_site(ROOT)


@pytest.fixture(scope="module")
def html(site: DocumentationSite) -> dict[str, SitePage]:
    texts = {address: content for address, content in site.files.items() if address.endswith(".html")}
    return {address: SitePage(content.decode()) for address, content in texts.items()}


def leads_somewhere(address: str, target: str, html: dict[str, SitePage], site: DocumentationSite) -> bool:
    url = urlsplit(target)
    if url.scheme or url.netloc:
        return url.scheme in ("https", "http", "mailto")
    if url.path.startswith("/static/"):
        return finders.find(url.path.removeprefix("/static/")) is not None
    if url.path.startswith("/") and not url.path.startswith("/docs/"):
        return bool(resolve(url.path).url_name)
    base = "" if url.path.startswith("/docs/") else posixpath.dirname(address)
    path = posixpath.normpath(posixpath.join(base, url.path.removeprefix("/docs/"))) if url.path else address
    return path in site.files and (not url.fragment or url.fragment in html[path].anchors)


def test_every_link_of_every_page_leads_to_a_page_and_an_anchor(
    site: DocumentationSite, html: dict[str, SitePage]
) -> None:
    assert site.broken == []
    checked = [(address, target) for address, page in html.items() for target in page.targets]
    assert len(checked) > 5_000
    assert [one for one in checked if not leads_somewhere(*one, html, site)] == []


def test_every_markdown_file_of_the_documentation_is_a_page(site: DocumentationSite) -> None:
    documentation = [page for page in find_pages(ROOT) if page.source.startswith("docs/")]
    assert {page.source for page in documentation} == {
        str(path.relative_to(ROOT)) for path in pages() if path.is_relative_to(ROOT / "docs")
    }
    assert {page.address for page in documentation} <= site.files.keys()


def test_a_page_has_nothing_that_the_policy_forbids_and_asks_no_other_host(html: dict[str, SitePage]) -> None:
    for address, page in html.items():
        for tag, attributes in page.elements:
            assert tag != "style", address
            assert tag != "script" or attributes.get("src"), address
            assert not [name for name in attributes if name.startswith("on") or name == "style"], address
            loaded = attributes.get("src") if tag != "link" else attributes.get("href")
            assert not urlsplit(loaded or "").netloc, f"{address} loads {loaded}"


def test_the_site_is_small_in_the_wheel(site: DocumentationSite) -> None:
    assert sum(len(zlib.compress(content)) for content in site.files.values()) <= LIMIT_BYTES


def test_anchors_are_those_of_forges() -> None:
    page = render_page("# Keys\n\n## `GET /x`: a, b\n\n## Again\n\n## Again\n", str)
    assert [section.anchor for section in page.sections] == ["keys", "get-x-a-b", "again", "again-1"]
    assert slug_of("Why is this zero?") == "why-is-this-zero"


def test_comments_are_left_out_except_in_examples() -> None:
    page = render_page("# A\n\n<!-- run by just x -->\n```html\n<!-- kept -->\n```\n", str)
    assert "run by" not in page.html
    assert "kept" in page.html


def test_links_to_source_files_lead_to_the_forge_or_to_the_list_of_files() -> None:
    page = SourcePage("docs/guides/keys.md", "")
    addresses = {"docs/guides/data.md": "guides/data.html"}
    links = SiteLinks(ROOT, addresses)
    assert links.resolve(page, "data.md#ask") == "data.html#ask"
    assert links.resolve(page, "../../justfile") == "../source.html#justfile"
    assert links.listed == {"justfile"}
    forge = SiteLinks(ROOT, addresses, forge="https://forge.example/onlooker/blob/v1")
    assert forge.resolve(page, "../../justfile") == "https://forge.example/onlooker/blob/v1/justfile"
    links.resolve(page, "nowhere.md")
    assert links.missing == ["docs/guides/keys.md: nowhere.md"]


def test_the_navigation_follows_the_readme() -> None:
    groups = read_groups((ROOT / "README.md").read_text(encoding="utf-8"))
    assert [group.title for group in groups] == [
        "Start",
        "Guides for devices and programs",
        "Guides",
        "Concepts",
        "Reference",
        "Project",
    ]
    assert ("Operations of the management interface", "docs/reference/api.md") in groups[4].entries


def test_every_help_link_of_the_console_leads_to_a_page_and_an_anchor(
    site: DocumentationSite, html: dict[str, SitePage]
) -> None:
    texts = [path.read_text(encoding="utf-8") for path in TEMPLATES.rglob("*.html")]
    used = [found for text in texts for found in re.findall(r'documentation/read_more.html" with (.*?) %}', text)]
    links = [
        match[1] for one in used if (match := re.fullmatch(r'page="([^"]+)" text=(?:_\("[^"]+"\)|"[^"]+"|\w+)', one))
    ]
    assert len(links) == len(used), "a help link names its page and its text, in this order"
    assert {link.partition("#")[0] for link in links} >= HELPED
    assert [link for link in links if not leads_somewhere("index.html", link, html, site)] == []


def test_the_footer_leads_to_the_routes_and_they_to_the_raw_description(
    site: DocumentationSite, html: dict[str, SitePage]
) -> None:
    footer = (TEMPLATES / "base.html").read_text(encoding="utf-8").partition("<footer>")[2]
    links = [link for link in re.findall(r'href="([^"{]+)"', footer) if link != "/docs/"]
    assert links == ["/docs/reference/routes.html#routes-of-the-console"]
    assert leads_somewhere("index.html", links[0], html, site)
    assert {"/openapi.json", "/api/v1/"} <= set(html["reference/routes.html"].targets)


def test_a_help_link_leads_into_the_site() -> None:
    shown = render_to_string("documentation/read_more.html", {"page": "guides/keys.html#scopes", "text": "Scopes"})
    assert shown == '<a class="read-more" href="/docs/guides/keys.html#scopes">Scopes</a>'


def test_the_package_is_where_the_console_looks() -> None:
    assert ROOT / PLACE == SITE


@pytest.fixture(scope="module")
def folder(site: DocumentationSite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("site")
    site.write(made)
    return made


def ask_served(folder: Path, path: str, **headers: str) -> httpx2.Response:
    """What the console's route answers."""
    transport = httpx2.ASGITransport(app=Starlette(routes=site_routes(folder)))

    async def ask() -> httpx2.Response:
        async with httpx2.AsyncClient(transport=transport, base_url="http://console") as browser:
            return await browser.get(path, headers=headers)

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/docs/", 200),
        ("/docs/guides/keys.html", 200),
        (f"/docs/{INDEX_FILE}", 200),
        ("/docs/nowhere.html", 404),
        ("/docs/..%2f__init__.py", 404),
    ],
)
def test_the_site_is_served_under_the_consoles_policy(folder: Path, path: str, status: int) -> None:
    answer = ask_served(folder, path)
    assert answer.status_code == status
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-cache"


def test_a_browser_that_has_a_page_is_told_so(folder: Path) -> None:
    first = ask_served(folder, "/docs/")
    assert ask_served(folder, "/docs/", **{"if-none-match": first.headers["etag"]}).status_code == 304


def test_without_a_built_site_the_console_says_which_command_builds_it(
    tmp_path: Path, sign_in: Callable[..., Client]
) -> None:
    assert site_routes(tmp_path) == []
    for path in ("/docs/", "/docs/guides/keys.html"):
        answer = sign_in(None).get(path)
        assert answer.status_code == 404
        assert BUILT_BY in answer.content.decode()
