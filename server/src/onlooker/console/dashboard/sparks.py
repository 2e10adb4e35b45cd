"""A stream's last days as a drawing of a few bars, and in words for those who can't see it. Pure."""

from dataclasses import dataclass

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from onlooker.console.dashboard.glance import Day, Glance

STEP, HEIGHT = 14, 32
"""In the drawing's own units."""
LEAST = 1.5
"""A day on which nobody came has a line, and is not mistaken for one that was not watched."""
_BAR = '<rect class="{}" x="{}" y="{}" width="10" height="{}"><title>{}</title></rect>'
"""Not in the template: there are hundreds on a page, and a template takes longer for them."""


@dataclass(frozen=True)
class Spark:
    """The bars, and the same in words."""

    bars: SafeString
    words: str
    width: int
    height: int = HEIGHT


def draw_spark(glance: Glance) -> Spark:
    most = max((day.passing_by for day in glance.days), default=0) or 1
    bars = [_draw_day(day, STEP * number, most) for number, day in enumerate(glance.days)]
    words = "; ".join(map(_say_day, glance.days))
    return Spark(format_html_join("", _BAR, bars), f"Passing by. {words}.", STEP * len(bars))


def _draw_day(day: Day, x: int, most: int) -> tuple[str, int, float, float, str]:
    """One that was not watched is as high as the drawing."""
    height = HEIGHT if day.gap else max(LEAST, round(HEIGHT * day.passing_by / most, 1))
    return "gap" if day.gap else "day", x, round(HEIGHT - height, 1), height, _say_day(day)


def _say_day(day: Day) -> str:
    return f"{day.begins_at:%a} {day.begins_at.day} {day.begins_at:%b}: {day.gap or f'{day.passing_by:,}'}"
