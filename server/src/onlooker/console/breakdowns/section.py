"""The section: four charts of the visits of a period."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from onlooker.console.breakdowns.age_by_gender import make_pyramid
from onlooker.console.breakdowns.cell_numbers import CellSource
from onlooker.console.breakdowns.heat_map import make_heat_map
from onlooker.console.breakdowns.mean_times import make_means
from onlooker.console.breakdowns.part_names import DIMENSION_NAMES
from onlooker.console.breakdowns.people_cells import OF_TIME, PeopleCells, metrics_needed, read_people
from onlooker.console.breakdowns.selection import CHOICES, Selection
from onlooker.console.breakdowns.stays import STAY_KINDS, make_stays
from onlooker.console.dashboard.figures import COUNTED, FIGURE_KINDS
from onlooker.console.languages.locale_text import translate
from onlooker.console.time_chart.control import ChartOption
from onlooker.console.time_chart.series import ChartSource
from onlooker.database import Pool
from onlooker.metrics.breakdown import CellQuery
from onlooker.metrics.definitions import METRICS, UNKNOWN
from onlooker.metrics.dimensions import DIMENSIONS

CHARTS = ("pyramid", "means", "stays", "heat")
_MAKE: Mapping[str, Callable[[PeopleCells, Selection], Any]] = {
    "pyramid": make_pyramid,
    "means": make_means,
    "stays": make_stays,
    "heat": make_heat_map,
}
_NEEDS: Mapping[str, Callable[[Selection], tuple[Sequence[str], Sequence[str], bool]]] = {
    "pyramid": lambda _: (("age", "gender"), ("interested",), False),
    "means": lambda selection: (selection.across.split(","), ("interested", selection.mean), True),
    "stays": lambda selection: ((selection.stay,), (STAY_KINDS[selection.stay].metric,), False),
    "heat": lambda selection: ((), (selection.heat,), True),
}
"""Dimensions, metrics, and whether hours are told apart."""
_LABELS: Mapping[str, Mapping[str, Any]] = {
    "mean": {name: FIGURE_KINDS[name].name for name in CHOICES["mean"]},
    "across": DIMENSION_NAMES | {"age,gender": _lazy("Age and gender"), "hour_of_day": _lazy("Hour of the day")},
    "stay": {name: kind.name for name, kind in STAY_KINDS.items()},
    "heat": {name: FIGURE_KINDS[name].name for name in CHOICES["heat"]},
}


def section_sources(source: ChartSource, selection: Selection) -> dict[str, CellSource]:
    """What is read for each chart: those of interested people are sums of the same cells. Interested people are few
    among those who pass by, so the others are read for the charts alone that count them."""
    alone = {name: chart_source(name, source, selection) for name in CHARTS}
    together = [one for one in alone.values() if _is_of_interested(one)]
    interested = replace(
        alone["means"],
        breakdown=_break_down({"age", "gender"}.union(*(one.breakdown.by for one in together)), selection),
        metrics=metrics_needed(*(name for one in together for name in one.metrics)),
        with_coverage=any(one.with_coverage for one in together),
    )
    return {name: interested if one in together else one for name, one in alone.items()}


def chart_source(name: str, source: ChartSource, selection: Selection) -> CellSource:
    """What is read for a chart that is fetched alone."""
    by, metrics, by_hour = _NEEDS[name](selection)
    return CellSource(
        source.stream,
        source.period,
        source.now,
        source.choice.in_hours,
        _break_down(set(by), selection),
        metrics_needed(*metrics),
        by_hour=by_hour,
        with_coverage=name == "heat" and selection.heat in COUNTED,
    )


def _break_down(by: set[str], selection: Selection) -> CellQuery:
    """By what is not told by the hour."""
    return CellQuery(by=tuple(name for name in DIMENSIONS if name in by - {*OF_TIME}), filters=selection.filters)


def _is_of_interested(source: CellSource) -> bool:
    return all(METRICS[name].is_of_interested for name in source.metrics)


async def read_section(pool: Pool, sources: Mapping[str, CellSource]) -> dict[str, PeopleCells]:
    """By chart. Raises a CellRefusal where visits can't be broken down."""
    different = list(dict.fromkeys(sources.values()))
    cells = await asyncio.gather(*(read_people(pool, one) for one in different))
    found = dict(zip(different, cells, strict=True))
    return {name: found[one] for name, one in sources.items()}


def present_section(found: Mapping[str, PeopleCells], selection: Selection) -> dict[str, Any]:
    """What the templates need, of the charts that were read."""
    charts: dict[str, Any] = {name: _MAKE[name](cells, selection) for name, cells in found.items()}
    return {
        **charts,
        "troubles": {name: _explain_empty(name, chart, found[name]) for name, chart in charts.items()},
        "data": {name: chart.data for name, chart in charts.items()},
        "options": {name: offer(name, selection) for name in CHOICES},
        "hidden": {name: selection.hidden(name) for name in CHOICES},
        "exact": all(cells.exact for cells in found.values()),
    }


def _explain_empty(name: str, chart: Any, cells: PeopleCells) -> str:
    """Why there is nothing to draw; empty where there is something."""
    match name:
        case "pyramid":
            return _explain_nobody(cells) or _explain_unknown(cells)
        case "means":
            few = _("Everywhere there are fewer than 10 people.")
            return _explain_nobody(cells) or ("" if chart.has_values else few)
        case "stays":
            if chart.total:
                return ""
            return (_explain_nobody(cells) if _is_of_interested(cells.source) else "") or _("No visit matches.")
        case _:
            return "" if chart.has_values else _explain_empty_week(chart.is_rate)


def offer(name: str, selection: Selection) -> list[ChartOption]:
    """What can be chosen; the first is what is shown without a choice, and not in the address."""
    chosen = getattr(selection, name)
    return [
        ChartOption("" if value == CHOICES[name][0] else value, translate(str(_LABELS[name][value])), value == chosen)
        for value in CHOICES[name]
    ]


def _explain_nobody(cells: PeopleCells) -> str:
    """Why charts of interested people are empty."""
    figures = cells.add_up().get(())
    if cells.count_of("interested", figures):
        return ""
    if not cells.source.stream.reads_faces:
        return _("This stream only counts: no face is looked for.")
    if cells.source.breakdown.filters:
        return _("No interested person matches.")
    return _("Nobody was interested.")


def _explain_unknown(cells: PeopleCells) -> str:
    """What was read before it was switched off is still shown."""
    stream = cells.source.stream
    known = {part for parts in cells.add_up("age", "gender") for part in parts} - {UNKNOWN}
    if known or stream.reads_age or stream.reads_gender:
        return ""
    return _("Age and gender are switched off for this stream.")


def _explain_empty_week(is_rate: bool) -> str:
    return _("No hour was watched.") if is_rate else _("In every hour there are fewer than 10 people.")
