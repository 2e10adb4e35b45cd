"""Opening hours with the weekdays of the reader's language; they are stored with English ones."""

import re
import unicodedata
from collections.abc import Sequence

from django.utils.dates import WEEKDAYS as FULL_NAMES

from onlooker.console.languages.locale_text import translate
from onlooker.streams.business_hours import WEEKDAY_LIST, WEEKDAYS

_WORD = re.compile(r"[^\W\d_]+\.?")
_SHORTEST = 2
"""Letters that tell the weekdays of a language apart."""


def write_hours(hours: str, names: Sequence[str] = ()) -> str:
    """`lu-ve 09:00-18:30`, or with other names of the weekdays. What is no English weekday stays as it is."""
    named = dict(zip(WEEKDAYS, names or translate(WEEKDAY_LIST).split(", "), strict=True))
    return _WORD.sub(lambda found: named.get(found[0], found[0]), hours)


def read_hours(text: str) -> str:
    """With English weekdays: of a name in the reader's language, the first two letters or more; else an English one.

    What is neither stays as it is; `check_hours` refuses it.
    """
    names = [_simplify(str(FULL_NAMES[day])) for day in range(7)]
    return _WORD.sub(lambda found: _read_weekday(found[0], names), unicodedata.normalize("NFC", text))


def _read_weekday(word: str, names: Sequence[str]) -> str:
    begun = _simplify(word.rstrip("."))
    found = (code for code, name in zip(WEEKDAYS, names, strict=True) if name.startswith(begun))
    return next(found, word) if len(begun) >= _SHORTEST else word


def _simplify(word: str) -> str:
    """In small letters, without accents."""
    letters = unicodedata.normalize("NFD", word.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
