"""What all pages share: the layout, the stylesheet, the error pages, and forms that screen readers understand."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.test import Client

import onlooker.console

pytest_plugins = ["pages"]

CONSOLE = Path(onlooker.console.__file__).parent
STATIC = CONSOLE / "static/console"
STYLE = Path(__file__).parents[3] / "server" / "style"
DOCUMENTATION = Path(__file__).parents[3] / "deploy/documentation"
ENTRANCES = ["/accounts/login/", "/accounts/signup/", "/accounts/password/reset/"]


class Page(HTMLParser):
    """The elements of a page, in order, each a tag with its attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def all(self, *tags: str) -> list[dict[str, str]]:
        return [attributes for tag, attributes in self.elements if tag in tags]

    @property
    def ids(self) -> set[str]:
        return {attributes["id"] for _, attributes in self.elements if "id" in attributes}


def open_page(browser: Client, path: str) -> Page:
    return Page(browser.get(path).content.decode())


@pytest.mark.parametrize("path", [*ENTRANCES, "/nothing/here/"])
def test_page_has_one_heading_a_language_and_a_way_past_the_bar(sign_in, path):
    page = open_page(sign_in(None), path)
    assert len(page.all("h1")) == 1
    assert page.all("html") == [{"lang": "en-gb"}]
    first_link = page.all("a")[0]
    assert first_link["href"] == "#content"
    assert page.all("main")[0]["id"] == "content"


@pytest.mark.parametrize("path", ENTRANCES)
def test_every_field_has_a_label(sign_in, path):
    page = open_page(sign_in(None), path)
    labelled = {label.get("for") for label in page.all("label")}
    fields = [field for field in page.all("input", "select", "textarea") if field.get("type") != "hidden"]
    assert fields
    assert all(field["id"] in labelled for field in fields)


def test_error_is_tied_to_its_field(sign_in):
    answer = sign_in(None).post("/accounts/signup/", {"email": "no address", "password1": "x"})
    page = Page(answer.content.decode())
    wrong = [field for field in page.all("input") if field.get("aria-invalid") == "true"]
    assert wrong
    for field in wrong:
        described = field["aria-describedby"].split()
        assert f"{field['id']}_error" in described
        assert set(described) <= page.ids


def test_browsers_are_told_what_to_fill_in(sign_in):
    fields = {
        field.get("name"): field.get("autocomplete") for field in open_page(sign_in(None), ENTRANCES[0]).all("input")
    }
    assert (fields["login"], fields["password"]) == ("email", "current-password")


def test_navigation_offers_what_a_person_may_do(sign_in, owner, staff):
    def links(account):
        return {link["href"] for link in open_page(sign_in(account), "/nothing/here/").all("a")}

    assert "/staff/" in links(staff)
    assert "/staff/" not in links(owner)
    assert "/streams/" in links(owner)
    assert "/accounts/login/" in links(None)
    assert "/streams/" not in links(None)


def test_signing_out_is_a_post(sign_in, owner):
    page = open_page(sign_in(owner), "/nothing/here/")
    assert {"method": "post", "action": "/accounts/logout/"} in page.all("form")
    assert "/accounts/logout/" not in {link["href"] for link in page.all("a")}


def test_htmx_sends_the_token_that_a_post_needs(sign_in, owner):
    browser = sign_in(owner)
    browser.handler.enforce_csrf_checks = True
    headers = open_page(browser, "/nothing/here/").all("body")[0]["hx-headers"]
    token = re.search(r'"X-CSRFToken": "(\w{64})"', headers)
    assert token
    assert browser.post("/accounts/logout/").status_code == 403
    answer = browser.post("/accounts/logout/", headers={"X-CSRFToken": token[1]})
    assert answer.status_code == 302


def test_stale_form_says_what_to_do(sign_in):
    browser = sign_in(None)
    browser.handler.enforce_csrf_checks = True
    answer = browser.post("/accounts/login/", {})
    assert answer.status_code == 403
    assert b"reload the page" in answer.content


def test_fault_page_needs_neither_context_nor_database():
    html = render_to_string("500.html")
    assert "went wrong" in html
    assert "csrf" not in html.lower()


@pytest.mark.parametrize("path", sorted(CONSOLE.glob("templates/**/*.html")), ids=lambda path: path.name)
def test_template_has_nothing_that_the_policy_forbids(path):
    page = Page(path.read_text())
    assert not page.all("style")
    assert all("src" in script or script.get("type") == "application/json" for script in page.all("script"))
    is_mail = path.name == "mail.html" or path.parent.name == "mails"  # programs that show mail know no other style
    names = r"on|hx-on" if is_mail else r"on|style$|hx-on"
    forbidden = [name for _, attributes in page.elements for name in attributes if re.match(names, name)]
    assert not forbidden


@pytest.mark.parametrize(
    "name",
    [
        *("console.css", "streams.css", "notices.css", "devices.css", "notes.css", "lines.css", "documentation.css"),
        *("staff.css", "comparison.css", "trying.css", "breakdowns.css"),
        *("console.js", "documentation.js", "logo.svg"),
    ],
)
def test_file_is_where_pages_look_and_asks_nobody_else(name):
    found = finders.find(f"console/{name}")
    assert found
    text = Path(found).read_text().replace("http://www.w3.org/", "").replace("https://picocss.com", "")
    assert "http://" not in text.replace("https:", "http:")
    assert "@import" not in text


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("console.css", 40_000),
        ("streams.css", 20_000),
        ("notices.css", 8_000),
        ("devices.css", 4_000),
        ("notes.css", 4_000),
        ("lines.css", 4_000),
        ("documentation.css", 8_000),
        ("staff.css", 4_000),
        ("trying.css", 4_000),
        ("comparison.css", 4_000),
        ("breakdowns.css", 4_000),
    ],
)
def test_stylesheet_is_small(name, limit):
    assert (CONSOLE / "static/console" / name).stat().st_size < limit


@pytest.mark.parametrize("name", ["streams.css", "notices.css", "devices.css", "documentation.css", "staff.css"])
def test_the_bar_has_one_width_on_all_pages(name):
    """console.css alone says how wide it is: it must not jump from page to page."""
    css = (CONSOLE / "static/console" / name).read_text()
    assert not re.findall(r"header[^{}]*\{[^}]*padding[^;}]*max\(", css)


@pytest.mark.parametrize(
    "path", [*sorted(STYLE.glob("*.scss")), *sorted(STATIC.rglob("*.js"))], ids=lambda path: path.name
)
def test_nothing_is_found_by_words_that_are_translated(path):
    if "vendor" not in path.parts:
        assert not re.findall(r"\[(?:aria-label|title|alt|placeholder|data-label)[*^$~|]?=", path.read_text())


def test_pages_ask_early_for_the_font_that_the_stylesheet_names(sign_in):
    (font,) = STATIC.glob("vendor/inter-*.woff2")
    css = (STATIC / "console.css").read_text()
    assert f"vendor/{font.name}" in css
    assert "font-display:optional" in css
    preloads = [link for link in open_page(sign_in(None), ENTRANCES[0]).all("link") if link["rel"] == "preload"]
    assert [link["href"] for link in preloads] == [f"/static/console/vendor/{font.name}"]
    assert f"/static/console/vendor/{font.name}" in (DOCUMENTATION / "layout.html").read_text()
    assert font.stat().st_size < 100_000
    assert "SIL OPEN FONT LICENSE" in (STATIC / "vendor/licence-inter.txt").read_text()


def luminance(colour: str) -> float:
    def linear(part: str) -> float:
        value = int(part, 16) / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(colour[start : start + 2]) for start in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["well", "look", "wrong", "rest"])
def test_words_of_a_state_stand_out_from_their_ground(scheme, name):
    source = (STYLE / "_colours.scss").read_text()
    block = re.search(rf"@mixin {scheme} \{{(.*?)\}}", source, re.DOTALL)
    assert block
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block[1]))
    brighter, darker = sorted((luminance(colours[name]), luminance(colours[f"{name}-ground"])), reverse=True)
    assert (brighter + 0.05) / (darker + 0.05) >= 4.5
