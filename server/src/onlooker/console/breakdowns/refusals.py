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
    since = refusal.since
    return {"refusal": _say_why(refusal, stream), "remedy": _begin_at(since, selection) if since else ""}


def _say_why(refusal: CellRefusal, stream: Stream) -> str:
    if refusal.note is CellNote.GRID:
        return _("This stream is on the grid: it tells of whole quarters of an hour, and nothing of single visits.")
    if refusal.note is CellNote.GROUPS and stream.groups_of > 1:
        return _(
            "This stream tells about people in groups of at least {people}. Numbers that are broken down or filtered "
            "would tell of fewer. The data endpoint tells whole weeks that are over by gender and age."
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


def _begin_at(since: datetime, selection: Selection) -> str:
    """To the minute, as the form for a range has it."""
    said = [(name, value) for name, value in selection.address if name not in _PERIOD]
    local = since.replace(tzinfo=None).isoformat(timespec="minutes")
    return urlencode([("from", local), *said], safe=":,")
