"""What was watched of the hours of a cell: coverage is read by local hours where a breakdown or a filter is of time."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from onlooker.database import Pool
from onlooker.errors import bad_request
from onlooker.metrics.breakdown import CellQuery
from onlooker.metrics.buckets import Buckets, all_hours
from onlooker.metrics.coverage import Watched, sum_coverage
from onlooker.metrics.extension_values import read_extensions
from onlooker.metrics.extensions import EXTENSIONS, GAPS, WATCHED
from onlooker.metrics.query import Query

MOST_HOURS = 20_000
"""Of one page: more than two years."""


@dataclass(frozen=True)
class CellCoverage:
    """The extension metrics of a bucket, and of each of its cells."""

    bucket: dict[str, Any]
    cells: list[dict[str, Any]]


@dataclass(frozen=True)
class _Piece:
    """A part of an hour that lies in one bucket."""

    bucket: int
    hour: int
    """Of the local week."""


async def read_cell_coverage(
    pool: Pool, query: Query, breakdown: CellQuery, cells: Sequence[tuple[str, ...]], buckets: Buckets
) -> list[CellCoverage]:
    """By bucket; only what the query asks for."""
    if not any(name in EXTENSIONS for name in query.metrics):
        return [CellCoverage({}, [{}] * len(cells))] * len(buckets.keys)
    if not breakdown.is_of_time:
        found = await read_extensions(pool, query, buckets)
        whole = [{name: values[place] for name, values in found.items()} for place in range(len(buckets.keys))]
        return [CellCoverage(one, [one] * len(cells)) for one in whole]
    window = replace(query, from_at=max(query.from_at, buckets.edges[0]), to_at=min(query.to_at, buckets.edges[-1]))
    pieces, edges = _cut_hours(window, buckets)
    found = await read_extensions(pool, window, edges)
    by_bucket: list[list[int]] = [[] for _ in buckets.keys]
    for place, piece in enumerate(pieces):
        if breakdown.has_hour(piece.hour):
            by_bucket[piece.bucket].append(place)
    return [_sum_bucket(places, pieces, breakdown, cells, found) for places in by_bucket]


def _sum_bucket(
    places: Sequence[int],
    pieces: Sequence[_Piece],
    breakdown: CellQuery,
    cells: Sequence[tuple[str, ...]],
    found: dict[str, Sequence[Any]],
) -> CellCoverage:
    by_hour: dict[int, list[int]] = {}
    for place in places:
        by_hour.setdefault(pieces[place].hour, []).append(place)

    def add_up(places: Iterable[int]) -> dict[str, Any]:
        chosen = list(places)
        return {name: _SUMS[name](values[place] for place in chosen) for name, values in found.items()}

    in_cells = [
        add_up(place for hour, inside in by_hour.items() if breakdown.is_in_cell(hour, cell) for place in inside)
        for cell in cells
    ]
    return CellCoverage(add_up(places), in_cells)


def _cut_hours(window: Query, buckets: Buckets) -> tuple[list[_Piece], Buckets]:
    """The local hours of a page, cut where a bucket begins. Raises a Problem if there are too many."""
    if (window.to_at - window.from_at).total_seconds() > MOST_HOURS * 3600:
        raise bad_request(
            f"What was watched is divided by hours of at most {MOST_HOURS // 24} days at once. Ask for a shorter "
            "range, or for shorter buckets, such as `time=by_month`."
        )
    hours = all_hours(window)
    begin_s, end_s = window.from_at.timestamp(), window.to_at.timestamp()
    inside = sorted({at_s for at_s in (*hours.edges_s, *buckets.edges_s) if begin_s < at_s < end_s})
    begins_s = [begin_s, *inside]
    pieces = [
        _Piece(bisect_right(buckets.edges_s, at_s) - 1, hours.of_week[bisect_right(hours.edges_s, at_s) - 1])
        for at_s in begins_s
    ]
    return pieces, Buckets(("",) * len(pieces), (*begins_s, end_s))


def _sum_watched(values: Iterable[Watched]) -> Watched:
    found = list(values)
    covered_s, length_s = sum(one.covered_s for one in found), sum(one.length_s for one in found)
    return Watched(covered_s, length_s, all(one.is_known for one in found))


_SUMS: dict[str, Callable[[Iterable[Any]], Any]] = {WATCHED.name: _sum_watched, GAPS.name: sum_coverage}
