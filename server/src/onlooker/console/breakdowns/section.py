"""The section: four charts of the visits of a period."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from onlooker.console.breakdowns.age_by_gender import make_pyramid
from onlooker.console.breakdowns.cell_numbers import CellSource
from onlooker.console.breakdowns.heat_map import make_heat_map
from onlooker.console.breakdowns.mean_times import make_means
from onlooker.console.breakdowns.part_names import DIMENSION_NAMES
from onlooker.console.breakdowns.people_cells import (
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
class SectionSources:
    """What the charts are sums of. Interested people are few among those who pass by, so the others are read for the
    charts alone that count them."""

    interested: CellSource
    stays: CellSource | None
    heat: CellSource | None


@dataclass(frozen=True)
class SectionCells:
    """What is read of these sources."""

    interested: PeopleCells
    stays: PeopleCells
    heat: PeopleCells

    @property
    def exact(self) -> bool:
        return self.interested.exact and self.stays.exact and self.heat.exact


def section_sources(source: ChartSource, selection: Selection) -> SectionSources:
    stays_of, heat = STAY_KINDS[selection.stay].metric, selection.heat

    def make_source(by: tuple[str, ...], *names: str, by_hour: bool = True) -> CellSource:
        return CellSource(
            source.stream,
            source.period,
            source.now,
            source.choice.in_hours,
            CellQuery(by=by, filters=selection.filters),
            metrics_needed(*names),
            by_hour=by_hour,
            with_coverage=heat in names and heat in COUNTED,
        )

    has_stays, has_heat = is_of_interested(stays_of), is_of_interested(heat)
    by = ("age", "gender", selection.stay) if has_stays else ("age", "gender")
    return SectionSources(
        make_source(by, "interested", selection.mean, *((heat,) if has_heat else ())),
        None if has_stays else make_source((selection.stay,), stays_of, by_hour=False),
        None if has_heat else make_source((), heat),
    )


async def read_section(pool: Pool, sources: SectionSources) -> SectionCells:
    """Raises a CellRefusal where visits can't be broken down."""
    interested = await read_cells(pool, sources.interested)
    stays = await read_cells(pool, sources.stays) if sources.stays else interested
    if sources.heat is None:
        return SectionCells(interested, stays, interested)
    is_whole = not sources.heat.breakdown.filters
    return SectionCells(interested, stays, await (read_counts if is_whole else read_cells)(pool, sources.heat))


def present_section(found: SectionCells, selection: Selection) -> dict[str, Any]:
    """What the templates need."""
    cells = found.interested
    pyramid, means = make_pyramid(cells, selection), make_means(cells, selection)
    stays, heat = make_stays(found.stays, selection), make_heat_map(found.heat, selection)
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
