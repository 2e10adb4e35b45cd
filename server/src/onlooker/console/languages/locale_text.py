"""Numbers, times and lists as the reader's language writes them; sentences of modules without Django. Pure."""

from collections.abc import Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import Any

from django.utils.formats import date_format, get_format, number_format
from django.utils.functional import Promise, lazy
from django.utils.translation import get_language, gettext, pgettext

from onlooker.sentences import Sentence
from onlooker.streams.video_time import as_duration


def translate(said: str | Promise | Exception) -> str:
    """A sentence of `onlooker.sentences`, or that of an error, in the reader's language."""
    text = said.args[0] if isinstance(said, Exception) and said.args else said
    if isinstance(text, Promise):
        return str(text)
    if not isinstance(text, Sentence):
        return gettext(str(text)) if str(text) else ""
    values = {name: _translate_value(value) for name, value in text.values.items()}
    return gettext(text.template).format(**values) if values else gettext(text.template)


def _translate_value(value: object) -> object:
    if isinstance(value, Sentence):
        return translate(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return _LocalNumber(value) if is_number else value


class _LocalNumber:
    """A number in a sentence: `{count:,}` and `{share:.1f}` write it as the reader's language does."""

    def __init__(self, number: Any) -> None:
        self._number = number

    def __format__(self, how: str) -> str:
        return number_format(format(self._number, how.replace(",", "")), force_grouping="," in how)


translate_lazily = lazy(translate, str)
"""For labels of forms and other constants, which are made before there is a reader."""


def write_count(number: float) -> str:
    """`1,234`."""
    return write_decimal(number, 0)


def write_decimal(number: float, digits: int) -> str:
    """`1,234.5`."""
    return f"{number:,.{digits}f}".translate(_marks_of(get_language()))


def write_short_number(number: float) -> str:
    """`0.2`, `30`: no more digits than it needs."""
    return number_format(f"{number:g}")


def write_date(day: date) -> str:
    """`9 November 2026`."""
    return date_format(day, "FIRST_DATE_FORMAT" if day.day == 1 else "DATE_FORMAT")


def write_short_date(day: date) -> str:
    """`9 Nov 2026`."""
    return date_format(day, "SHORT_DATE_FORMAT")


def write_datetime(moment: datetime) -> str:
    """`9 November 2026, 14:05`, in the time zone that the moment has."""
    return date_format(moment, "FIRST_DATETIME_FORMAT" if moment.day == 1 else "DATETIME_FORMAT")


def write_duration(seconds: float) -> str:
    """`2 h 5 min`, `0.1 s`: units are the same in all languages."""
    return as_duration(seconds).replace(".", str(get_format("DECIMAL_SEPARATOR")))


def write_named(name: str, value: object) -> str:
    """`Passing by: 12`. Templates have `{% translate ":" context "after a name" %}`."""
    colon = pgettext("after a name", ":")
    return f"{name}{colon} {value}"


def write_list(items: Sequence[str]) -> str:
    """`front, back and side`."""
    if len(items) < 2:
        return "".join(items)
    return pgettext("list", "{items} and {last}").format(items=", ".join(items[:-1]), last=items[-1])


def join_clauses(clauses: Sequence[str]) -> str:
    """`watched 22 h; offline 2 h`."""
    return _between_clauses(get_language()).join(clauses) if len(clauses) > 1 else "".join(clauses)


def write_percent(share: float, digits: int) -> str:
    """`12.5 %`."""
    # xgettext:no-python-format
    return gettext("{percent} %").format(percent=write_decimal(100 * share, digits))


def write_weekday(day: date, *, with_year: bool = False) -> str:
    """`Mon 9 Nov`, or `Mon 9 Nov 2026`."""
    return _write_day(_as_date(day), "WEEKDAY_DATE_FORMAT" if with_year else "WEEKDAY_DAY_FORMAT", get_language())


def write_month(day: date) -> str:
    """`Nov 2026`."""
    return _write_day(_as_date(day), "M Y", get_language())


def _as_date(day: date) -> date:
    """The same moment is another day elsewhere, but is equal."""
    return date(day.year, day.month, day.day)


@lru_cache(maxsize=10_000)
def _write_day(day: date, form: str, language: str | None) -> str:
    """A chart has hundreds of days, and most pages the same ones. `language` is the one in use."""
    return date_format(day, form)


@lru_cache
def _between_clauses(language: str | None) -> str:
    return pgettext("between clauses", "; ")


@lru_cache
def _marks_of(language: str | None) -> dict[int, str]:
    """What a language writes for the comma and the point of English numbers. All group three digits."""
    return str.maketrans(
        {",": get_format("THOUSAND_SEPARATOR", language), ".": get_format("DECIMAL_SEPARATOR", language)}
    )
