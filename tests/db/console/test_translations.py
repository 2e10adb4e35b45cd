"""Every sentence of the console can be said in every language: none is left out of templates or catalogues."""

import gettext
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.template.base import Lexer, TokenType

CONSOLE = Path(__file__).resolve().parents[3] / "server" / "src" / "onlooker" / "console"
ENGLISH_ONLY = CONSOLE / "templates" / "api"
"""The reference of the management interface: all that is said under /api/ is English."""
TEMPLATES = sorted(
    path
    for path in (CONSOLE / "templates").rglob("*")
    if path.suffix in (".html", ".txt") and not path.is_relative_to(ENGLISH_ONLY)
)
SPOKEN_ATTRIBUTES = ("alt", "aria-label", "content", "data-label", "label", "placeholder", "title")
_NAMES = "Onlooker API CSV JSON Parquet QR ID URL HTTPS PDF Docker systemd Linux Windows Grafana Python Stripe OpenID"
_UNITS = "client_id access_token s h px kB MB GB ms fps UTC"
SAME_EVERYWHERE = {*_NAMES.split(), *_UNITS.split()}
"""Names and units; what is left of a text without them has no letters."""
_TAG = re.compile(r"<(script|style|code|pre|kbd)\b.*?</\1>|<!--.*?-->|<!doctype[^>]*>", re.DOTALL | re.IGNORECASE)
_ATTRIBUTE = re.compile(rf'\s({"|".join(SPOKEN_ATTRIBUTES)})="([^"]*)"')
_CLASS_BLOCK = re.compile(r"{% block main_class %}.*?{% endblock %}")
_META = re.compile(r"<meta\b[^>]*>")


def unmarked_texts(source: str, *, is_html: bool) -> Iterator[str]:
    """What a template says that no translator would be shown."""
    kept = []
    within = False
    for token in Lexer(_CLASS_BLOCK.sub("", source)).tokenize():
        word = token.contents.split()[0] if token.token_type is TokenType.BLOCK else ""
        if word in ("blocktranslate", "blocktrans", "endblocktranslate", "endblocktrans", "comment", "endcomment"):
            within = not word.startswith("end")
        elif not within:
            kept.append(token.contents if token.token_type is TokenType.TEXT else "\x00")
    text = "".join(kept)
    if is_html:
        text = _META.sub("", _TAG.sub("", text))
        for _, value in _ATTRIBUTE.findall(text):
            yield from _spoken(value)
        text = re.sub(r"<[^>]*>", "\n", text)
    for line in text.splitlines():
        yield from _spoken(line)


def _spoken(text: str) -> Iterator[str]:
    without_addresses = re.sub(r"\S*(?:://|@|/)\S*|&#?\w+;", " ", text.replace("\x00", " "))
    words = re.findall(r"[^\W\d_][\w'-]*", without_addresses)
    if any(word not in SAME_EVERYWHERE for word in words):
        yield " ".join(text.replace("\x00", "…").split())


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(CONSOLE / "templates")))
def test_every_text_of_a_template_can_be_translated(path: Path) -> None:
    assert not list(unmarked_texts(path.read_text(), is_html=path.suffix == ".html"))


def test_unmarked_texts_are_found() -> None:
    marked = "{% translate 'Marked' %}{% blocktranslate %}Marked too{% endblocktranslate %}"
    template = f'<p title="Close">{marked} Not marked {{{{ count }}}}</p>'
    assert list(unmarked_texts(template, is_html=True)) == ["Close", "… Not marked …"]


def entries(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Each sentence of a catalogue, with its translation in each plural form."""
    for block in path.read_text("utf-8").split("\n\n")[1:]:
        fields: dict[str, str] = {}
        name = ""
        for line in block.splitlines():
            if found := re.match(r'(msg\w+(?:\[\d\])?) "(.*)"$', line):
                name, fields[found[1]] = found[1], found[2]
            elif line.startswith('"'):
                fields[name] += line[1:-1]
        if "msgid" in fields:
            yield fields["msgid"], [value for name, value in fields.items() if name.startswith("msgstr")]


CATALOGUE_FILES = sorted((CONSOLE / "locale").glob("*/LC_MESSAGES/*.po"))


@pytest.mark.parametrize("path", CATALOGUE_FILES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_nothing_is_untranslated(path: Path) -> None:
    missing = [said for said, translations in entries(path) if not all(translations)]
    assert not missing, f"{len(missing)}: {missing[:10]}"
    assert "#, fuzzy" not in path.read_text("utf-8").split("\n\n", 1)[1]


PLACEHOLDERS = re.compile(r"%\(\w+\)[sd]|(?<!\{)\{\w*(?::[^}]*)?\}(?!\})")
TAGS = re.compile(r"</?\w+[^>]*>")


@pytest.mark.parametrize("path", CATALOGUE_FILES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_translations_keep_values_and_markup(path: Path) -> None:
    for said, translations in entries(path):
        for translation in translations:
            for pattern in (PLACEHOLDERS, TAGS):
                wanted, found = set(pattern.findall(said)), set(pattern.findall(translation))
                is_plural = len(translations) > 1  # "one person" needs no number
                assert found <= wanted or is_plural, (said, translation)
                assert wanted <= found or is_plural, (said, translation)


@pytest.mark.parametrize("language", [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE])
def test_catalogues_are_compiled(language: str) -> None:
    for path in (CONSOLE / "locale" / language / "LC_MESSAGES").glob("*.po"):
        said = {text for text, _ in entries(path) if text}
        with path.with_suffix(".mo").open("rb") as file:
            compiled = gettext.GNUTranslations(file)
        assert len(compiled._catalog) > len(said) / 2  # type: ignore[attr-defined]
