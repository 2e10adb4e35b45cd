"""A day of a device's health as charts: what the page's script draws, and the same numbers as tables. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from onlooker.console.languages.locale_text import translate, write_decimal
from onlooker.console.streams.condition import DROP_TEXTS
from onlooker.devices.health import HealthMinute

BUCKET = timedelta(minutes=15)
BUCKETS = 96
"""A day."""
DROPS_SHOWN = 4
"""Reasons with a colour of their own; others are drawn together."""
_MARKS = ("passing-by", "female", "heat-5", "senior-female")
"""Of the stylesheet's charts."""
OTHER_MARK = "unknown"
NO_VALUE = "\N{EN DASH}"
NO_REPORT = gettext_noop("No report in the last 24 hours.")

Pair = tuple[float, float]


@dataclass(frozen=True)
class Series:
    """A value for each quarter of an hour, or a pair of the least and the most; None without a report."""

    name: str
    mark: str
    values: list[float | None] | list[Pair | None]


@dataclass(frozen=True)
class HealthChart:
    """One figure of the page."""

    key: str
    heading: str
    remark: str
    """What it is measured in, and what is unusual."""
    unit: str
    series: list[Series]
    is_range: bool = False
    from_zero: bool = False
    trouble: str = ""
    """Why there is nothing to draw."""
    rows: str = ""
    """Of its table."""

    @property
    def columns(self) -> list[str]:
        return [_("Least"), _("Most")] if self.is_range else [one.name for one in self.series]


@dataclass(frozen=True)
class _Reading:
    """Something of which every minute says how much there is."""

    key: str
    heading: str
    remark: str
    unit: str
    read: Callable[[HealthMinute], float | None]
    missing: str
    from_zero: bool = True


_READINGS = (
    _Reading(
        "temperature",
        gettext_noop("Temperature"),
        gettext_noop("°C; above 80 a small computer slows down"),
        "°C",
        lambda minute: minute.temperature_c,
        gettext_noop("The device has no thermometer that its agent can read."),
        from_zero=False,
    ),
    _Reading(
        "light",
        # Translators: how bright a camera's picture is
        gettext_noop("Light"),
        gettext_noop("mean brightness of the picture; 0 is black, 255 is white"),
        "",
        lambda minute: minute.light,
        gettext_noop("No picture was measured."),
    ),
    _Reading(
        "disk",
        gettext_noop("Free disk"),
        gettext_noop("GB"),
        gettext_noop("GB"),
        lambda minute: None if minute.disk_free_mb is None else minute.disk_free_mb / 1000,
        gettext_noop("The device did not say how much is free."),
    ),
    _Reading(
        "clock",
        gettext_noop("Clock"),
        gettext_noop("seconds that it differs from the server's"),
        "s",
        lambda minute: minute.clock_off_s,
        gettext_noop("The device could not compare its clock."),
        from_zero=False,
    ),
    _Reading(
        "line",
        # Translators: the connection between a device and the server
        gettext_noop("Line"),
        gettext_noop("milliseconds until a frame is answered"),
        "ms",
        lambda minute: minute.latency_ms,
        gettext_noop("No frame was answered."),
    ),
    _Reading(
        "journal",
        # Translators: where a device keeps visits until the server has them
        gettext_noop("Journal"),
        gettext_noop("visits that wait for the server"),
        "",
        lambda minute: minute.journal_waiting,
        gettext_noop("Only a device that computes by itself has a journal."),
    ),
)


def make_charts(minutes: Sequence[HealthMinute], now: datetime, zone: ZoneInfo) -> tuple[list[str], list[HealthChart]]:
    """When each quarter of an hour began, by the clock of the stream; and the charts, each of the last 24 hours."""
    end = now - timedelta(seconds=now.timestamp() % BUCKET.total_seconds()) + BUCKET
    starts = [end - BUCKET * (BUCKETS - number) for number in range(BUCKETS)]
    buckets: list[list[HealthMinute]] = [[] for _ in starts]
    for minute in minutes:
        place = (minute.at - starts[0]) // BUCKET
        if 0 <= place < BUCKETS:
            buckets[place].append(minute)
    keys = [start.astimezone(zone).isoformat() for start in starts]
    charts = [_chart_frames(buckets), _chart_drops(buckets), *(_chart_reading(one, buckets) for one in _READINGS)]
    return keys, [_with_table(chart, keys) for chart in charts]


def as_data(keys: list[str], charts: Iterable[HealthChart]) -> dict[str, Any]:
    """The JSON that the page's script draws from."""
    drawn = {
        chart.key: {
            "unit": chart.unit,
            "is_range": chart.is_range,
            "from_zero": chart.from_zero,
            "series": [{"name": one.name, "mark": one.mark, "values": one.values} for one in chart.series],
        }
        for chart in charts
        if not chart.trouble
    }
    return {"points": keys, "charts": drawn}


def _chart_frames(buckets: Sequence[list[HealthMinute]]) -> HealthChart:
    values = [_mean([minute.answered_s for minute in bucket]) for bucket in buckets]
    trouble = "" if any(value is not None for value in values) else _(NO_REPORT)
    if trouble and any(buckets):
        trouble = _("Frames are counted from the second report on.")
    series = [Series(_("Answered"), _MARKS[0], values)]
    # Translators: a unit, written behind a number of frames
    unit = _("a second")
    return HealthChart("frames", _("Frames a second"), _("answered ones"), unit, series, trouble=trouble)


def _chart_drops(buckets: Sequence[list[HealthMinute]]) -> HealthChart:
    """The reasons of most drops each in a colour, the others together."""
    counted = [sum((Counter(minute.dropped) for minute in bucket), Counter[str]()) for bucket in buckets]
    whole = sum(counted, Counter[str]())
    shown = [reason for reason, count in whole.most_common(DROPS_SHOWN) if count]
    series = [
        Series(capfirst(str(DROP_TEXTS.get(reason, reason))), mark, _amounts(counted, buckets, [reason]))
        for reason, mark in zip(shown, _MARKS, strict=False)
    ]
    others = [reason for reason in whole if reason not in shown]
    if others:
        series.append(Series(_("Other reasons"), OTHER_MARK, _amounts(counted, buckets, others)))
    trouble = "" if whole.total() else _("No frame was dropped.")
    if not any(buckets):
        trouble = _(NO_REPORT)
    remark = _("in a quarter of an hour, by reason")
    return HealthChart("drops", _("Dropped frames"), remark, "", series, trouble=trouble)


def _amounts(
    counted: Sequence[Counter[str]], buckets: Sequence[list[HealthMinute]], reasons: Sequence[str]
) -> list[float | None]:
    return [
        sum(counts[reason] for reason in reasons) if bucket else None
        for counts, bucket in zip(counted, buckets, strict=True)
    ]


def _chart_reading(reading: _Reading, buckets: Sequence[list[HealthMinute]]) -> HealthChart:
    values = [_ends([reading.read(minute) for minute in bucket]) for bucket in buckets]
    return HealthChart(
        reading.key,
        _(reading.heading),
        _(reading.remark),
        translate(reading.unit),
        [Series(_(reading.heading), _MARKS[0], values)],
        is_range=True,
        from_zero=reading.from_zero,
        trouble="" if any(values) else _(reading.missing if any(buckets) else NO_REPORT),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 2) if known else None


def _ends(values: Iterable[float | None]) -> Pair | None:
    known = [round(value, 2) for value in values if value is not None]
    return (min(known), max(known)) if known else None


def _with_table(chart: HealthChart, keys: Sequence[str]) -> HealthChart:
    """Quarters of an hour without a report have no row: there may be 90 of them."""
    if chart.trouble:
        return chart
    lines = []
    for number, key in enumerate(keys):
        values = [one.values[number] for one in chart.series]
        if all(value is None for value in values):
            continue
        cells = values[0] if chart.is_range else values
        assert isinstance(cells, (list, tuple))
        shown = format_html_join("", "<td>{}</td>", ((_show(value),) for value in cells))
        lines.append(format_html('<tr><th scope="row">{}</th>{}</tr>\n', key[11:16], shown))
    rows = SafeString("".join(lines))
    return replace(chart, rows=rows)


def _show(value: Any) -> str:
    if value is None:
        return NO_VALUE
    tenths = round(value, 1)
    return write_decimal(tenths, 0 if tenths == int(tenths) else 1)
