"""The console in every language: nothing left in English, the same machine values, pictures of each page."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.journeys.dashboard.breakdowns import settle_all
from bench.journeys.dashboard.stage import Stage, dashboard_path
from bench.journeys.figures import JourneyFigure
from bench.lib.browser.inspection import look_at
from bench.lib.browser.pictures import View
from bench.lib.clients import OWNER

ENGLISH, OTHERS = "en-gb", ("fr", "de", "es")
PICTURED: Sequence[View] = (
    *(("1440", 1440, "light"), ("1440-dark", 1440, "dark"), ("768", 768, "light"), ("390", 390, "light")),
)
CHECKED: Sequence[View] = (("1440", 1440, "light"), ("390", 390, "light"))
FEWEST_WORDS = 2
"""What is one word may be the same in two languages, as `Conversion` is."""
_SPEAK = "UPDATE accounts_account SET language = %s WHERE email = %s RETURNING id"
_ORGANISATION = "SELECT organisation_id FROM streams_stream WHERE id = %s"
_TEXTS = """
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const texts = [];
while (walker.nextNode()) {
    const { parentElement, textContent } = walker.currentNode;
    if (!parentElement.closest("script, style, code, pre, svg, option[value*='/'], [data-name], [lang]:not(html)"))
        texts.push(textContent.trim().replace(/\\s+/g, " "));
}
for (const name of ["title", "alt", "placeholder", "aria-label", "data-label"])
    for (const element of document.querySelectorAll(`[${name}]`)) texts.push(element.getAttribute(name));
return texts.filter((text) => text);
"""
_MACHINE_VALUES = """
const spoken = "data-label|data-said|data-words.*|aria-.*|title|alt|placeholder|class|style";
const ofTheMoment = "data-read-at|data-in-view|data-looking";
const varies = new RegExp(`^(${spoken}|${ofTheMoment})$`);
const read = ["id", "name", "value", "href"];
return [...document.querySelectorAll("main *")].flatMap((element) => [...element.attributes]
    .filter(({ name }) => read.includes(name) || (name.startsWith("data-") && !varies.test(name)))
    .filter(({ name }) => name !== "value" || !["csrfmiddlewaretoken", "form_key"].includes(element.name))
    .map(({ name, value }) => `${element.localName} ${name}=${value}`));
"""


def speak_every_language(stage: Stage) -> list[JourneyFigure]:
    """Every page in English first: what the others say otherwise is held against it."""
    paths = _paths(stage)
    texts, values = {}, {}
    for name, path in paths.items():
        texts[name], values[name] = _read(stage, path)
    words = 0
    for language in OTHERS:
        with speaking(stage, language):
            for name, path in paths.items():
                said, machine = _read(stage, path)
                where = f"{name} in {language}"
                spoken = stage.person.browser.execute_script("return document.documentElement.lang")
                stage.compare(spoken, language, f"{where}: the language of the page")
                stage.compare(machine, values[name], f"{where}: machine values")
                for left in _unsaid(said, texts[name], _names(stage)):
                    stage.faults.append(f"{where}: {left!r} is as in English")
                words += len(said)
                stage.person.pages.append(f"{language}-{name}")
                stage.faults += look_at(
                    stage.person.browser,
                    stage.pictures / "languages",
                    f"{language}-{name}",
                    views=PICTURED,
                    checked=CHECKED,
                    settle=settle_all,
                )
    return [JourneyFigure("texts_in_other_languages", words, at_least=1000)]


@contextmanager
def speaking(stage: Stage, language: str) -> Iterator[None]:
    """The owner's account has chosen this language; its page is tested by itself."""
    stage.stack.execute(_SPEAK, language, OWNER)
    try:
        yield
    finally:
        stage.stack.execute(_SPEAK, "", OWNER)


def _paths(stage: Stage) -> Mapping[str, str]:
    """Of ranges that are over, so that numbers stay as they are from one language to the next."""
    shop, museum = stage.world.shop, stage.world.museum
    today = datetime.now(UTC).date()
    week = {"from_": str(today - timedelta(days=9)), "to": str(today - timedelta(days=2))}
    rows = f"row=stream:{shop.client_id}&row=stream:{museum.client_id}"
    one, day = f"/streams/{shop.client_id}", today - timedelta(days=14)
    [(organisation,)] = stage.stack.execute(_ORGANISATION, shop.id)
    many = f"/organisations/{organisation}"
    return {
        "dashboard": dashboard_path(shop, **week),
        "line": dashboard_path(shop, **week, metric="stop_time", beside="interested"),
        "rows": f"/streams/compare/?{rows}&from={week['from_']}&to={week['to']}",
        "before-and-after": f"/streams/compare/before-after/?row=stream:{shop.client_id}&date={day}&weeks=1",
        "stream": f"{one}/",
        "settings": f"{one}/settings/",
        "notices": f"{one}/notices/",
        "new-stream": "/streams/new/",
        "devices": "/devices/",
        "new-code": "/devices/codes/new/",
        "people": f"{many}/",
        "keys": f"{many}/keys/",
        "notes": f"{many}/notes/",
        "account": "/accounts/",
    }


def _read(stage: Stage, path: str) -> tuple[list[str], list[str]]:
    stage.person.open(path)
    settle_all(stage.person.browser)
    texts: list[str] = stage.person.browser.execute_script(_TEXTS)
    values: list[str] = stage.person.browser.execute_script(_MACHINE_VALUES)
    return texts, values


def _names(stage: Stage) -> set[str]:
    """What people called things: the same in every language."""
    tables: Any = ("streams_stream", "streams_organisation", "streams_site", "streams_tag")
    return {name for table in tables for (name,) in stage.stack.execute(f"SELECT name FROM {table}")}


def _unsaid(said: Sequence[str], english: Sequence[str], names: set[str]) -> list[str]:
    """Texts of several words that are those of the English page."""
    same = dict.fromkeys(text for text in said if text in set(english))
    return [text for text in same if _word_count(text, names) >= FEWEST_WORDS]


def _word_count(text: str, names: set[str]) -> int:
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, " ")
    words = re.findall(r"[^\W\d_]{2,}", re.sub(r"\S*[/@_:.]\S+", " ", text))
    return len([word for word in words if word != "Onlooker"])
