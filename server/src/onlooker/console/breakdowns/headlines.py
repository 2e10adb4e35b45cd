"""The headline numbers of a dashboard, of those alone whom the filter keeps."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import OperationalError
from django.utils.translation import gettext as _

from onlooker.console.accounts.page_access import PersonRequest
from onlooker.console.breakdowns.cell_numbers import CellSource
from onlooker.console.breakdowns.part_names import DIMENSION_NAMES, name_part
from onlooker.console.breakdowns.people_cells import PeopleCells, metrics_needed, read_cells
from onlooker.console.breakdowns.refusals import describe_refusal, explain_busy
from onlooker.console.breakdowns.selection import Selection
from onlooker.console.dashboard.figures import HEADLINES, Figure, PeriodChange, make_figure, number_of
from onlooker.console.dashboard.report import Report
from onlooker.console.numbers import read_numbers
from onlooker.console.time_chart.series import ChartSource
from onlooker.metrics.breakdown import CellQuery
from onlooker.metrics.cells import CellRefusal
from onlooker.metrics.definitions import METRICS


@dataclass(frozen=True)
class FilterChip:
    """A dimension of the filter, and the address without it."""

    dimension: str
    name: str
    parts: str
    address: str


def list_chips(selection: Selection) -> list[FilterChip]:
    return [
        FilterChip(
            name,
            str(DIMENSION_NAMES[name]),
            ", ".join(name_part(name, part) for part in parts),
            selection.without(name),
        )
        for name, parts in selection.filters
    ]


def filter_headlines(
    request: PersonRequest, source: ChartSource, selection: Selection, report: Report, figures: list[Figure]
) -> dict[str, Any]:
    """What the page shows instead; nothing without a filter. Where it can't be, its numbers stay those of everybody."""
    if not selection.filters:
        return {}
    context: dict[str, Any] = {"chips": list_chips(selection), "unfiltered": selection.without(*selection.kept)}
    asked = CellSource(
        source.stream,
        source.period,
        source.now,
        source.choice.in_hours,
        CellQuery(filters=selection.filters),
        metrics_needed(*HEADLINES),
    )
    try:
        cells = read_numbers(request, lambda pool: read_cells(pool, asked))
    except CellRefusal as refusal:
        return context | describe_refusal(refusal, source.stream, selection)
    except OperationalError:
        return context | {"refusal": explain_busy()}
    return context | {"figures": _make_figures(cells, report, figures)}


def _make_figures(cells: PeopleCells, report: Report, figures: Sequence[Figure]) -> list[Figure]:
    """What is a dash without the filter stays one."""
    clusters = cells.add_up_hours().get((), [])
    totals = cells.add_up().get((), (0,) * sum(len(METRICS[name].figures) for name in cells.source.metrics))
    values = {name: cells.shape(name, totals) for name in cells.source.metrics}
    by_metric = {name: [row[piece] for row in clusters or [totals]] for name, piece in cells.pieces.items()}
    comparison = replace(report.comparison, changes={}, clusters=by_metric)
    alone = PeriodChange("none", _("not compared: filtered"))
    return [
        make_figure(figure.metric, number_of(figure.metric, values), comparison, none=alone) if figure.value else figure
        for figure in figures
    ]
