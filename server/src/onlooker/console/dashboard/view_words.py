"""What the live strip says: who is in view now, or how the stream stands. Pure."""

from datetime import datetime
from zoneinfo import ZoneInfo

import msgspec
from django.utils.dateformat import format as format_date

from onlooker.console.streams.standing import Sign, Standing
from onlooker.metrics.in_view import InView


class View(msgspec.Struct, frozen=True):
    """A live strip."""

    in_view: int | None
    """None where nobody can know."""
    looking: int | None
    sign: str
    """The badge's name in the stylesheet."""
    label: str
    words: str


UNKNOWN = View(None, None, "unknown", "Not known", "a part of the server is away, it will be back")


def describe(standing: Standing, in_view: InView, zone: ZoneInfo) -> View:
    sign, label = standing.sign, standing.sign.value.capitalize()
    if sign is Sign.LIVE:
        return View(in_view.people, in_view.looking, sign.badge, label, _count(in_view))
    words = {
        Sign.NEVER_SEEN: "no frame has come yet",
        Sign.QUOTA: f"goes on {_moment(standing.goes_on_at, zone)}",
    }
    return View(None, None, sign.badge, label, words.get(sign, f"since {_moment(standing.since, zone)}"))


def _count(in_view: InView) -> str:
    if not in_view.people:
        return "Nobody in view"
    return f"{in_view.people} in view, {in_view.looking or 'none'} looking"


def _moment(at: datetime, zone: ZoneInfo) -> str:
    return format_date(at.astimezone(zone), "j M Y, H:i:s")
