"""The time chart as the page shows it: its lines and axes for scripts, and its table. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from onlooker.console.dashboard.figures import FIGURE_KINDS, NO_VALUE, OF_FACES
from onlooker.console.dashboard.period import format_period, format_range
from onlooker.console.dashboard.presentation import label_buckets
from onlooker.console.dashboard.report import COUNTS
from onlooker.console.time_chart.choice import ChartChoice
from onlooker.console.time_chart.series import ChartLines, ChartSource, MetricSeries
from onlooker.metrics.query import Time

_UNIT_NAMES = {"": _lazy("People"), "s": _lazy("Seconds"), "%": _lazy("Percent")}

# Rows are made here because a year has hundreds of them, and a template takes longer.
_ROW = '<tr><th scope="row">{{}}</th>{cells}</tr>\n'
_ROW_AHEAD = '<tr class="ahead"><th scope="row">{{}}</th>{cells}</tr>\n'
_CELL = "<td>{}</td>"
_DAYS_LINK = '<a href="?from={}&amp;to={}{}">{}</a>'


@dataclass(frozen=True)
class TimeChart:
    """What the templates need of it."""

    title: str
    """What is charted, by which buckets."""
    headings: tuple[str, ...]
    """Of the columns with numbers."""
    rows: SafeString
    data: dict[str, Any]
    """What scripts need besides the points."""
    notes: tuple[str, ...] = ()
    """What has to be known about the lines."""


@dataclass(frozen=True)
class _Line:
    role: str
    """`main`, `beside` or `ghost`."""
    name: str
    series: MetricSeries


def present_time_chart(
    data: Mapping[str, Any], lines: ChartLines, source: ChartSource, suffix: str | None
) -> TimeChart:
    """`data` has the points; `suffix` is what links to other periods take along; without one there are none."""
    choice, period = source.choice, source.period
    shown = list(_name_lines(lines, source))
    labels = label_buckets([*(point["key"] for point in data["points"]), *lines.ahead.keys], period.time)
    ahead = [
        {"key": key, "label": label} for key, label in zip(lines.ahead.keys, labels[len(data["points"]) :], strict=True)
    ]
    main_range = _main_range(source)
    bars = () if choice.metric else tuple(_with_range(_name_of(name), main_range) for name in COUNTS)
    sides = _sides_of(choice, source)
    charted = _name_of(choice.metric) if choice.metric else _("People")
    return TimeChart(
        title=str(period.grain.heading).format(name=charted),
        headings=(*bars, *(_with_unit(line) for line in shown)),
        rows=_make_rows(data, ahead, shown, has_bars=not choice.metric, suffix=suffix),
        data={
            "ahead": ahead,
            "bars": list(bars),
            "axes": _name_axes(choice, sides),
            "lines": [_draw_line(line, sides[line.role]) for line in shown],
        },
        notes=tuple(_explain_lines(lines, source)),
    )


def _name_lines(lines: ChartLines, source: ChartSource) -> Iterator[_Line]:
    """In the order in which the table has them."""
    if lines.main:
        yield _Line("main", _with_range(_name_of(lines.main.metric), _main_range(source)), lines.main)
    if lines.beside:
        yield _Line("beside", _name_beside(lines.beside, source), lines.beside)
    if lines.ghost and source.ghost:
        said = format_range(source.ghost.from_at, source.ghost.to_at, source.period.zone, now=source.now)
        yield _Line("ghost", _with_range(_name_of(lines.ghost.metric), said), lines.ghost)


def _main_range(source: ChartSource) -> str:
    """Both ranges are named where there are two."""
    return format_period(source.period, now=source.now) if source.ghost else ""


def _with_range(name: str, said: str) -> str:
    return f"{name}, {said}" if said else name


def _name_beside(series: MetricSeries, source: ChartSource) -> str:
    name, other = _name_of(series.metric), source.other
    if other is None:
        return name
    if other.time_zone == source.stream.time_zone:
        return f"{name}, {other.name}"
    said = _("{name}, {stream} (by the clock of {zone})")
    return said.format(name=name, stream=other.name, zone=source.stream.time_zone)


def _with_unit(line: _Line) -> str:
    unit = _unit_of(line.series.metric)
    return f"{line.name} ({unit})" if unit else line.name


def _sides_of(choice: ChartChoice, source: ChartSource) -> dict[str, str]:
    """Numbers of one unit share an axis: they can be compared by eye."""
    is_alike = source.other or not choice.beside or _unit_of(choice.main) == _unit_of(choice.beside)
    return {"main": "left", "ghost": "left", "beside": "left" if is_alike else "right"}


def _name_of(metric: str) -> str:
    return str(FIGURE_KINDS[metric].name)


def _unit_of(metric: str) -> str:
    return FIGURE_KINDS[metric].unit


def _name_axes(choice: ChartChoice, sides: Mapping[str, str]) -> dict[str, str]:
    """The usual chart counts people, and says so in its heading."""
    unit = _unit_of(choice.main)
    if choice.beside and sides["beside"] == "right":
        return {"left": _name_axis(choice.metric, unit), "right": _name_axis(choice.beside, _unit_of(choice.beside))}
    return {"left": str(_UNIT_NAMES[unit]) if choice.metric else "", "right": ""}


def _name_axis(metric: str, unit: str) -> str:
    if not metric:
        return str(_UNIT_NAMES[unit])
    name = _name_of(metric)
    return f"{name} ({unit})" if unit else name


def _draw_line(line: _Line, side: str) -> dict[str, Any]:
    series, unit = line.series, _unit_of(line.series.metric)
    return {
        "role": line.role,
        "metric": series.metric,
        "name": line.name,
        "unit": unit,
        "axis": side,
        "values": list(series.values),
        "few": [place for place, is_few in enumerate(series.is_few) if is_few],
    }


def _explain_lines(lines: ChartLines, source: ChartSource) -> Iterator[str]:
    shown = [one for one in (lines.main, lines.beside, lines.ghost) if one]
    if any(any(one.is_few) for one in shown):
        yield _("A mean or a share of fewer than 10 people is not shown; the table says that there were too few.")
    if lines.ghost and not any(value is not None for value in lines.ghost.values) and not any(lines.ghost.is_few):
        yield _("There is no ghost line: nothing was watched at that time.")
    if not lines.exact:
        yield _("Some visits that the lines need were deleted when their retention ended: they may be slightly off.")
    if source.other and not source.other.reads_faces and source.choice.main in OF_FACES:
        yield _("The other stream only counts: no face is looked for.")


def _make_rows(
    data: Mapping[str, Any],
    ahead: Sequence[Mapping[str, str]],
    lines: Sequence[_Line],
    *,
    has_bars: bool,
    suffix: str | None,
) -> SafeString:
    """Days link to their hours, weeks and months to their days."""
    is_linked = not Time(data["time"]).is_short
    points, bars = data["points"], COUNTS if has_bars else ()
    cells, few, later = _CELL * (len(bars) + len(lines) + 1), _("too few"), _("not over yet")
    past = (
        (
            _link(point, suffix) if suffix is not None and is_linked else point["label"],
            *(NO_VALUE if point["gap"] or point[name] is None else point[name] for name in bars),
            *(_show(line.series, place, few) for line in lines),
            point["words"],
        )
        for place, point in enumerate(points)
    )
    to_come = (
        (one["label"], *(NO_VALUE for _bar in bars), *(_show(line.series, place, few) for line in lines), later)
        for place, one in enumerate(ahead, start=len(points))
    )
    return format_html_join("", _ROW.format(cells=cells), past) + format_html_join(
        "", _ROW_AHEAD.format(cells=cells), to_come
    )


def _show(series: MetricSeries, place: int, few: str) -> str:
    """Of a bucket that has not begun only the ghost knows something. `few` says that there were too few people."""
    if place >= len(series.values):
        return NO_VALUE
    value = series.values[place]
    if value is None:
        return few if series.is_few[place] else NO_VALUE
    return FIGURE_KINDS[series.metric].show(value)


def _link(point: Mapping[str, Any], suffix: str) -> SafeString:
    last = datetime.fromisoformat(point["to"]) - datetime.resolution
    return format_html(_DAYS_LINK, point["key"][:10], last.date().isoformat(), suffix, point["label"])
