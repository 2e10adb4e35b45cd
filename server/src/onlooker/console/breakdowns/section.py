"""The section: four charts of the visits of a period, read with one statement."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from onlooker.console.breakdowns.age_by_gender import make_pyramid
from onlooker.console.breakdowns.cell_numbers import CellSource
from onlooker.console.breakdowns.heat_map import make_heat_map
from onlooker.console.breakdowns.mean_times import make_means
from onlooker.console.breakdowns.part_names import DIMENSION_NAMES
from onlooker.console.breakdowns.people_cells import PeopleCells, metrics_needed
from onlooker.console.breakdowns.selection import CHOICES, Selection
from onlooker.console.breakdowns.stays import STAY_KINDS, make_stays
from onlooker.console.dashboard.figures import FIGURE_KINDS
from onlooker.console.languages.locale_text import translate
from onlooker.console.time_chart.control import ChartOption
from onlooker.console.time_chart.series import ChartSource
from onlooker.metrics.breakdown import CellQuery
from onlooker.metrics.definitions import UNKNOWN

_LABELS: Mapping[str, Mapping[str, Any]] = {
    "mean": {name: FIGURE_KINDS[name].name for name in CHOICES["mean"]},
    "across": DIMENSION_NAMES | {"age,gender": _lazy("Age and gender"), "hour_of_day": _lazy("Hour of the day")},
    "stay": {name: kind.name for name, kind in STAY_KINDS.items()},
    "heat": {name: FIGURE_KINDS[name].name for name in CHOICES["heat"]},
}


def section_source(source: ChartSource, selection: Selection) -> CellSource:
    """What all four charts are sums of."""
    return CellSource(
        source.stream,
        source.period,
        source.now,
        source.choice.in_hours,
        CellQuery(by=("age", "gender", selection.stay), filters=selection.filters),
        metrics_needed(selection.mean, selection.heat),
    )


def present_section(cells: PeopleCells, selection: Selection) -> dict[str, Any]:
    """What the templates need."""
    pyramid, means = make_pyramid(cells, selection), make_means(cells, selection)
    stays, heat = make_stays(cells, selection), make_heat_map(cells, selection)
    nobody = _explain_nobody(cells)
    troubles = {
        "pyramid": nobody or _explain_unknown(cells),
        "means": nobody or ("" if means.has_values else _("Everywhere there are fewer than 10 people.")),
        "stays": "" if stays.total else nobody or _("No visit matches."),
        "heat": "" if heat.has_values else _explain_empty_week(heat.is_rate),
    }
    return {
        "pyramid": pyramid,
        "means": means,
        "stays": stays,
        "heat": heat,
        "troubles": troubles,
        "data": {"pyramid": pyramid.data, "means": means.data, "stays": stays.data, "heat": heat.data},
        "options": {name: offer(name, selection) for name in CHOICES},
        "hidden": {name: selection.hidden(name) for name in CHOICES},
        "exact": cells.exact,
    }


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
