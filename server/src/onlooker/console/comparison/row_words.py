"""What a row shows: its numbers over compared time with their intervals and ranks, and why one is missing. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from onlooker.console.comparison.request import SHOWN
from onlooker.console.comparison.rows import ChosenRow
from onlooker.console.dashboard.figures import (
    NO_VALUE,
    OF_FACES,
    Figure,
    PeriodChange,
    find_interval,
    make_figure,
    number_of,
)
from onlooker.console.dashboard.presentation import format_share
from onlooker.console.languages.locale_text import write_decimal
from onlooker.metrics.changes import FEWEST_PEOPLE, sum_figures
from onlooker.metrics.comparison import Comparison, LikeTime, NoComparison
from onlooker.metrics.definitions import METRICS, Unit, Value
from onlooker.metrics.intervals import Interval
from onlooker.metrics.like_time import TimeRange
from onlooker.metrics.pooled_figures import POOLED, PooledCluster, clusters_of
from onlooker.metrics.row_ranks import RankInterval, rank_rows
from onlooker.metrics.side_by_side import ComparedRow, SideBySide
from onlooker.streams.models import Stream

EN_DASH = "\N{EN DASH}"
NAMED_AT_MOST = 5
"""Streams that are left out; others are counted."""
_NOTHING = PeriodChange("none", "")
_NOWHEN = TimeRange(datetime.min, datetime.min)
_NO_TIME = LikeTime(_NOWHEN, 0.0, (), (), NoComparison.NO_COMMON_TIME)
_NOT_WATCHED = gettext_noop("watched for less than a third of the time")
_NO_FACES = gettext_noop("only counts: no face is looked for")
_SOME_NO_FACES = gettext_noop("some of its streams only count: no face is looked for")
_NOT_READ = gettext_noop("expression is switched off")
_IN_GROUPS = gettext_noop(
    "people are told about in groups, and fewer than 10 are in groups that lie inside the compared time"
)


@dataclass(frozen=True)
class RowFigure:
    """A number of a row. Without one, `why` says why."""

    figure: Figure
    why: str
    interval: Interval | None = None
    """Of a mean or a share."""
    hourly: str = ""
    """Of a count: how many in an hour that was watched."""
    rank: RankInterval | None = None

    @property
    def place(self) -> str:
        """`3`, or from the first to the last of the places that it may have."""
        if self.rank is None:
            return ""
        return EN_DASH.join(dict.fromkeys((str(self.rank.best), str(self.rank.worst))))


@dataclass(frozen=True)
class ShownRow:
    """A row of the table."""

    chosen: ChosenRow
    row: ComparedRow
    mark: str
    """Its colour in the chart."""
    streams: int
    left_out: list[str]
    """Names of streams that were watched too little."""
    left_out_more: int
    watched: str
    figures: list[RowFigure]


def show_rows(found: SideBySide, chosen: Sequence[ChosenRow], streams: Sequence[Sequence[Stream]]) -> list[ShownRow]:
    """In the order of the address."""
    whys = [_explain(row, of_row) for row, of_row in zip(found.rows, streams, strict=True)]
    numbers = [add_up(row.clusters) for row in found.rows]
    columns = [_make_column(metric, found, numbers, [why[metric] for why in whys]) for metric in SHOWN]
    shown = []
    for number, (row, asked, of_row) in enumerate(zip(found.rows, chosen, streams, strict=True)):
        enough = {one.stream.stream_id for one in row.taking_part}
        left_out = [stream.name for stream in of_row if stream.pk not in enough]
        shown.append(
            ShownRow(
                chosen=asked,
                row=row,
                mark=f"row-{number + 1}",
                streams=len(of_row),
                left_out=left_out[:NAMED_AT_MOST],
                left_out_more=max(0, len(left_out) - NAMED_AT_MOST),
                watched=NO_VALUE if row.watched_share is None else format_share(row.watched_share),
                figures=[column[number] for column in columns],
            )
        )
    return shown


def _explain(row: ComparedRow, streams: Sequence[Stream]) -> dict[str, str]:
    """By metric, why there is no number; empty where there may be one."""
    if not row.taking_part:
        return dict.fromkeys(SHOWN, _NOT_WATCHED)
    enough = {one.stream.stream_id for one in row.taking_part}
    present = [stream for stream in streams if stream.pk in enough]
    why = dict.fromkeys(SHOWN, "")
    if not any(stream.reads_faces for stream in present):
        why |= dict.fromkeys(OF_FACES, _NO_FACES)
    elif not all(stream.reads_faces for stream in present):
        why["conversion"] = _SOME_NO_FACES
    if not why["satisfaction"] and not any(stream.reads_expression for stream in present):
        why["satisfaction"] = _NOT_READ
    if any(stream.groups_of > 1 for stream in present):
        [interested] = sum_figures(clusters_of("interested", row.clusters))
        for metric in ("stop_time", "attention_time", "satisfaction"):
            told = sum_figures(clusters_of(metric, row.clusters))[-1]
            if not why[metric] and told < FEWEST_PEOPLE <= interested:
                why[metric] = _IN_GROUPS
    return why


@dataclass(frozen=True)
class RowNumbers:
    """All numbers of some clusters, without changes: they are set beside other rows, not beside another time."""

    alone: Comparison
    values: dict[str, Value]

    def figure(self, metric: str) -> Figure:
        return make_figure(metric, number_of(metric, self.values), self.alone, none=_NOTHING)


def add_up(clusters: Sequence[PooledCluster]) -> RowNumbers:
    by_metric = {name: clusters_of(name, clusters) for name in POOLED}
    values = {name: METRICS[name].shape(sum_figures(by_metric[name])) for name in POOLED}
    return RowNumbers(Comparison(_NO_TIME, {}, by_metric, (), exact=True), values)


def _make_column(metric: str, found: SideBySide, numbers: Sequence[RowNumbers], whys: Sequence[str]) -> list[RowFigure]:
    nothing = ComparedRow(())
    ranks = rank_rows([nothing if why else row for row, why in zip(found.rows, whys, strict=True)], metric)
    is_ranked = sum(rank is not None for rank in ranks) > 1
    return [
        replace(_make_figure(metric, row, of_row, why), rank=rank if is_ranked else None)
        for row, of_row, rank, why in zip(found.rows, numbers, ranks, whys, strict=True)
    ]


def _make_figure(metric: str, row: ComparedRow, numbers: RowNumbers, why: str) -> RowFigure:
    figure = numbers.figure(metric)
    if why:
        empty = replace(figure, value="", shown=NO_VALUE, unit="", interval="", change=_NOTHING)
        return RowFigure(empty, _(why))
    hourly = ""
    if metric in METRICS and METRICS[metric].unit is Unit.PEOPLE and row.hours:
        hourly = write_decimal(int(numbers.values[metric]["value"] or 0) / row.hours, 1)
    interval = find_interval(metric, numbers.alone) if figure.interval else None
    return RowFigure(figure, figure.change.words, interval, hourly)
