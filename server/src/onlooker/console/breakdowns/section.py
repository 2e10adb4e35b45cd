"""The section: four charts of the visits of a period."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from onlooker.console.breakdowns.age_by_gender import make_pyramid
from onlooker.console.breakdowns.heat_map import make_heat_map
from onlooker.console.breakdowns.mean_times import make_means
from onlooker.console.breakdowns.part_names import DIMENSION_NAMES
from onlooker.console.breakdowns.people_cells import (
    CellSource,
    PeopleCells,
    is_of_interested,
    metrics_needed,
    read_cells,
    read_counts,
)
from onlooker.console.breakdowns.selection import CHOICES, Selection
from onlooker.console.breakdowns.stays import STAY_KINDS, make_stays
from onlooker.console.dashboard.figures import COUNTED, FIGURE_KINDS
from onlooker.console.languages.locale_text import translate
from onlooker.console.time_chart.control import ChartOption
from onlooker.console.time_chart.series import ChartSource
from onlooker.database import Pool
from onlooker.metrics.breakdown import CellQuery
from onlooker.metrics.definitions import UNKNOWN

_LABELS: Mapping[str, Mapping[str, Any]] = {
    "mean": {name: FIGURE_KINDS[name].name for name in CHOICES["mean"]},
    "across": DIMENSION_NAMES | {"age,gender": _lazy("Age and gender"), "hour_of_day": _lazy("Hour of the day")},
    "stay": {name: kind.name for name, kind in STAY_KINDS.items()},
    "heat": {name: FIGURE_KINDS[name].name for name in CHOICES["heat"]},
}


@dataclass(frozen=True)
class SectionCells:
    """What the charts are sums of: most are of interested people, who are few among those who pass by."""

    interested: PeopleCells
    everybody: PeopleCells | None
    """For charts that count people who pass by, if there are any."""

    def of(self, metric: str) -> PeopleCells:
        return self.interested if is_of_interested(metric) or self.everybody is None else self.everybody

    @property
    def exact(self) -> bool:
        return self.interested.exact and (self.everybody is None or self.everybody.exact)


def section_sources(source: ChartSource, selection: Selection) -> tuple[CellSource, CellSource | None]:
    """Of interested people, and of everybody."""
    stays_of, heat = STAY_KINDS[selection.stay].metric, selection.heat
    by_stay = (selection.stay,)

    def make_source(by: tuple[str, ...], *names: str) -> CellSource:
        breakdown = CellQuery(by=by, filters=selection.filters)
        metrics, with_coverage = metrics_needed(*names), heat in names and heat in COUNTED
        return CellSource(
            source.stream, source.period, source.now, source.choice.in_hours, breakdown, metrics, with_coverage
        )

    kept = [name for name in (selection.mean, heat, stays_of) if is_of_interested(name)]
    interested = make_source(("age", "gender", *(by_stay if stays_of in kept else ())), *kept)
    rest = [name for name in (heat, stays_of) if name not in kept]
    return interested, make_source(by_stay if stays_of in rest else (), *rest) if rest else None


async def read_section(pool: Pool, sources: tuple[CellSource, CellSource | None]) -> SectionCells:
    """Raises a CellRefusal where visits can't be broken down."""
    interested, everybody = sources
    cells = await read_cells(pool, interested)
    if everybody is None:
        return SectionCells(cells, None)
    is_whole = not (everybody.breakdown.by or everybody.breakdown.filters)
    return SectionCells(cells, await (read_counts if is_whole else read_cells)(pool, everybody))


def present_section(found: SectionCells, selection: Selection) -> dict[str, Any]:
    """What the templates need."""
    cells = found.interested
    pyramid, means = make_pyramid(cells, selection), make_means(cells, selection)
    stays = make_stays(found.of(STAY_KINDS[selection.stay].metric), selection)
    heat = make_heat_map(found.of(selection.heat), selection)
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
        "exact": found.exact,
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
