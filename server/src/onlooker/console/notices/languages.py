"""The languages of notices: which one a reader gets, and how dates and numbers are written in it."""

import re
from collections.abc import Mapping
from datetime import date
from enum import StrEnum

from django.utils.translation.trans_real import parse_accept_lang_header

from onlooker.console.notices.sentences.english import ENGLISH
from onlooker.console.notices.sentences.french import FRENCH
from onlooker.console.notices.sentences.german import GERMAN
from onlooker.streams.business_hours import WEEKDAYS


class Language(StrEnum):
    """Of notices and of the public page."""

    ENGLISH = "en"
    FRENCH = "fr"
    GERMAN = "de"


WORDINGS: Mapping[Language, Mapping[str, str]] = {
    Language.ENGLISH: ENGLISH,
    Language.FRENCH: FRENCH,
    Language.GERMAN: GERMAN,
}
LANGUAGE_NAMES = {Language.ENGLISH: "English", Language.FRENCH: "Français", Language.GERMAN: "Deutsch"}
"""Each in itself."""


def choose_language(asked: str, accepted: str) -> Language:
    """The one that a link names, else the best that the browser accepts, else English."""
    preferred = [code for code, _ in parse_accept_lang_header(accepted)]
    for code in (asked, *preferred):
        base = code.lower().partition("-")[0]
        if base in set(Language):
            return Language(base)
    return Language.ENGLISH


def say(language: Language, key: str, **values: object) -> str:
    """A whole sentence."""
    return WORDINGS[language][key].format(**values)


def write_date(language: Language, day: date) -> str:
    months = WORDINGS[language]["months"].split()
    key = "date_first" if day.day == 1 else "date"
    return say(language, key, day=day.day, month=months[day.month - 1], year=day.year)


def write_hours(language: Language, hours: str) -> str:
    """Opening hours with the language's names of weekdays."""
    names = dict(zip(WEEKDAYS, WORDINGS[language]["weekdays"].split(), strict=True))
    return re.sub(r"[a-z]+", lambda found: names[found[0]], hours)


def write_number(language: Language, number: int) -> str:
    """With the language's mark between thousands."""
    return f"{number:,}".replace(",", WORDINGS[language]["thousands"])
