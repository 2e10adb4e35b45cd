"""Why visits can't be broken down, as pages say it."""

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from onlooker.console.breakdowns.selection import Selection
from onlooker.console.languages.locale_text import write_count, write_datetime
from onlooker.metrics.cells import MOST_VISITS, CellNote, CellRefusal
from onlooker.streams.models import Stream

_PERIOD = ("period", "from", "to")


def describe_refusal(refusal: CellRefusal, stream: Stream, selection: Selection) -> dict[str, Any]:
    """The sentence, and the address of a period that would do, if one is known."""
    remedy = lead_to(selection, _("Show the time since then"), since=refusal.since) if refusal.since else {}
    return {"refusal": _say_why(refusal, stream)} | remedy


def lead_to(selection: Selection, said: str, *, since: datetime, until: datetime | None = None) -> dict[str, str]:
    """The address of another period, by the stream's clock; its offset tells the hours apart that autumn repeats."""
    others = [(name, value) for name, value in selection.address if name not in _PERIOD]
    ends = [("from", since), *([("to", until)] if until else [])]
    local = [(name, at.isoformat(timespec="seconds")) for name, at in ends]
    return {"remedy": urlencode([*local, *others], safe=":,"), "remedy_said": said}


def _say_why(refusal: CellRefusal, stream: Stream) -> str:
    if refusal.note is CellNote.GRID:
        return _("This stream is on the grid: it tells of whole quarters of an hour, and nothing of single visits.")
    if refusal.note is CellNote.GROUPS and stream.groups_of > 1:
        return _(
            "This stream tells about people in groups of at least {people}. A filter works only under Who, and how "
            "long, and only for whole weeks."
        ).format(people=stream.groups_of)
    if refusal.note is CellNote.GROUPS:
        return _(
            "For a part of this period the stream told about people in groups. Numbers that are broken down or "
            "filtered would tell of fewer."
        )
    if refusal.note is CellNote.DELETED and refusal.since:
        return _(
            "Visits that began before {moment} were deleted at the end of their retention. Only visits can be broken "
            "down or filtered; totals stay."
        ).format(moment=write_datetime(refusal.since))
    return _(
        "More than {people} people passed by in this period: too many to be broken down or filtered at once. Choose a "
        "shorter period."
    ).format(people=write_count(MOST_VISITS))


def explain_busy() -> str:
    """Where the database did not answer in time, or not at all."""
    return _("The database is busy, or the period has too many people for it. Try again, or choose a shorter one.")
