"""The headline numbers of a dashboard; with a filter, of those alone whom it keeps."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

from onlooker.console.breakdowns.cell_numbers import CellSource
from onlooker.console.breakdowns.part_names import DIMENSION_NAMES, name_part
from onlooker.console.breakdowns.people_cells import PeopleCells, metrics_needed, read_cells
from onlooker.console.breakdowns.refusals import describe_refusal, explain_busy
from onlooker.console.breakdowns.selection import Selection
from onlooker.console.dashboard.figures import (
    HEADLINES,
    Figure,
    PeriodChange,
    describe_compared,
    make_figure,
    make_figures,
    number_of,
)
from onlooker.console.dashboard.report import Totals, read_totals
from onlooker.console.time_chart.series import ChartSource
from onlooker.database import DATABASE_UNAVAILABLE, Pool
from onlooker.metrics.breakdown import CellQuery
from onlooker.metrics.cells import CellRefusal
from onlooker.metrics.definitions import METRICS
from onlooker.streams.models import Stream


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


@dataclass(frozen=True)
class FilteredCells:
    """The visits that the filter keeps, or why there are none to tell of."""

    cells: PeopleCells | None = None
    refusal: CellRefusal | None = None
    """Neither: the database did not answer in time, which it may do without a filter."""


async def read_filtered(pool: Pool, source: ChartSource, selection: Selection) -> FilteredCells | None:
    """None without a filter."""
    if not selection.filters:
        return None
    asked = CellSource(
        source.stream,
        source.period,
        source.now,
        source.choice.in_hours,
        CellQuery(filters=selection.filters),
        metrics_needed(*HEADLINES),
    )
    try:
        return FilteredCells(await read_cells(pool, asked))
    except CellRefusal as refusal:
        return FilteredCells(refusal=refusal)
    except DATABASE_UNAVAILABLE:
        return FilteredCells()


async def read_headlines(pool: Pool, source: ChartSource, selection: Selection) -> tuple[Totals, FilteredCells | None]:
    """Those of everybody too."""
    stream, in_hours = source.stream, source.choice.in_hours
    return await asyncio.gather(
        read_totals(pool, stream.pk, source.period, now=source.now, grid=stream.grid, in_hours=in_hours),
        read_filtered(pool, source, selection),
    )


def present_headlines(
    totals: Totals, filtered: FilteredCells | None, source: ChartSource, selection: Selection
) -> dict[str, Any]:
    """What the templates need."""
    stream = source.stream
    reads = {"reads_expression": stream.reads_expression, "reads_faces": stream.reads_faces}
    figures = make_figures(totals, **reads, groups_of=stream.groups_of)
    compared = describe_compared(totals.comparison.like)
    return {"figures": figures, "compared": compared} | _filter_headlines(filtered, stream, selection, totals, figures)


def _filter_headlines(
    found: FilteredCells | None, stream: Stream, selection: Selection, totals: Totals, figures: list[Figure]
) -> dict[str, Any]:
    """What the page shows instead; nothing without a filter. Where it can't be, its numbers stay those of everybody."""
    if found is None:
        return {}
    context: dict[str, Any] = {"chips": list_chips(selection), "unfiltered": selection.without(*selection.kept)}
    if found.refusal:
        return context | describe_refusal(found.refusal, stream, selection)
    if found.cells is None:
        return context | {"refusal": explain_busy()}
    return context | {"figures": _make_figures(found.cells, totals, figures)}


def _make_figures(cells: PeopleCells, totals: Totals, figures: Sequence[Figure]) -> list[Figure]:
    """What is a dash without the filter stays one."""
    clusters = cells.add_up_hours().get((), [])
    nobody = (0,) * sum(len(METRICS[name].figures) for name in cells.source.metrics)
    whole = cells.add_up().get((), nobody)
    values = {name: cells.shape(name, whole) for name in cells.source.metrics}
    by_metric = {name: [row[piece] for row in clusters or [whole]] for name, piece in cells.pieces.items()}
    comparison = replace(totals.comparison, changes={}, clusters=by_metric)
    alone = PeriodChange("none", _("not compared: filtered"))
    return [
        make_figure(figure.metric, number_of(figure.metric, values), comparison, none=alone) if figure.value else figure
        for figure in figures
    ]
