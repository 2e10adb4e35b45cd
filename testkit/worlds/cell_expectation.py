"""The answer that the oracle gives to a question with a breakdown or filters, and where an actual answer differs."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Any

from onlooker.metrics.definitions import METRICS
from onlooker_pipeline.visits.visit import Visit
from testkit.block_oracle import StreamGroups
from testkit.cell_oracle import OF_TIME, break_down, cells_of, part_of_moment
from testkit.coverage_oracle import CameraLog, expect_coverage
from testkit.oracle import SECOND_US, Figures, Judged, judge
from testkit.week_oracle import StreamWeeks
from testkit.worlds.cameras import coverage_values
from testkit.worlds.clocks import EDGES, Era, moment_at
from testkit.worlds.expectation import KNOWN, PAGE, buckets_of, cuts, slots_of, wrong_values
from testkit.worlds.week_expectation import tell_weeks, why_no_weeks
from testkit.worlds.world import Question

CELLS_A_PAGE = 2400
GROUPED, ON_GRID, DELETED = "tells about people in groups", "is on the grid", "were deleted after"


@dataclass(frozen=True)
class ExpectedCells:
    """All buckets of a range, each with its cells; or the reason for which there are none."""

    keys: list[str]
    figures: list[Figures]
    cells: list[list[dict[str, Any]]]
    page_size: int
    inexact_pages: frozenset[int]
    refusal: str = ""
    is_of_weeks: bool = False
    """A stream with groups told it."""

    @property
    def named_parts(self) -> list[list[str]]:
        """Of all cells."""
        return [list(cell["by"].values()) for cells in self.cells for cell in cells]


def expect_cells(
    question: Question,
    zone: str,
    era: Era,
    visits: Iterable[Visit],
    log: CameraLog,
    *,
    kept_us: int,
    groups: StreamGroups,
    weeks: StreamWeeks,
    is_own_zone: bool,
) -> ExpectedCells:
    """`is_own_zone`: the question is asked in the stream's time zone."""
    edges_us, keys = buckets_of(question, zone, era)
    count = len(cells_of(question.by, question.filters_by_name))
    size = min(PAGE, max(1, CELLS_A_PAGE // count))
    slots = slots_of(visits)
    asks_for_people = any(name in METRICS for name in question.metrics)
    refusal = _refusal_of(question, slots, kept_us=kept_us, groups=groups) if asks_for_people else ""
    if refusal == GROUPED:
        refusal = why_no_weeks(question, weeks, edges_us, is_own_zone=is_own_zone)
        if refusal:
            return ExpectedCells(keys, [], [], size, frozenset(), refusal)
        return replace(_expect_weeks(question, (zone, era), log, weeks), page_size=size)
    if refusal:
        return ExpectedCells(keys, [], [], size, frozenset(), refusal)
    kept = {slot_us: members for slot_us, members in slots.items() if slot_us >= kept_us}
    gone = {slot_us: members for slot_us, members in slots.items() if slot_us < kept_us}
    pages = range(1, 1 - (-len(keys) // size))
    inexact = {
        page
        for page in pages
        for slot_us, members in gone.items()
        if asks_for_people and cuts(question, edges_us[(page - 1) * size : page * size + 1], slot_us, members)
    }
    judged = (judge(visit, question.from_us, question.to_us) for members in kept.values() for visit in members)
    people: list[list[tuple[Judged, datetime]]] = [[] for _ in keys]
    for one in judged:
        if one:
            people[bisect_right(edges_us, one.first_us) - 1].append((one, moment_at(one.first_us, zone)))
    found = [break_down(here, question.by, question.filters_by_name, KNOWN) for here in people]
    for (figures, cells), (begins_us, ends_us) in zip(found, pairwise(edges_us), strict=True):
        within_us = max(begins_us, question.from_us), min(ends_us, question.to_us)
        _add_coverage(question, log, _hours_of(within_us, zone, era), figures, cells)
    inexact = set(pages) if groups.grid else inexact
    totals, cells_of_all = [figures for figures, _ in found], [cells for _, cells in found]
    return ExpectedCells(keys, totals, cells_of_all, size, frozenset(inexact))


def _refusal_of(question: Question, slots: Mapping[int, list[Visit]], *, kept_us: int, groups: StreamGroups) -> str:
    """Why nothing is told, by words of the problem."""
    if groups.grid:
        return ON_GRID
    reaching = (
        visit.present[-1][1] * 1000 > question.from_us
        for slot_us, members in slots.items()
        for visit in members
        if kept_us <= slot_us < groups.grouped_until_us and 1000 * visit.began_ms < question.from_us
    )
    if groups.grouped_until_us > question.from_us or any(reaching):
        return GROUPED
    return DELETED if kept_us > question.from_us else ""


def _expect_weeks(question: Question, clock: tuple[str, Era], log: CameraLog, weeks: StreamWeeks) -> ExpectedCells:
    """Sums of the cells of whole weeks."""
    edges_us, keys = buckets_of(question, *clock)
    told = [tell_weeks(question, weeks.weeks, within_us) for within_us in pairwise(edges_us)]
    for (figures, cells), within_us in zip(told, pairwise(edges_us), strict=True):
        _add_coverage(question, log, _hours_of(within_us, *clock), figures, cells)
    totals, cells_of_all = [figures for figures, _ in told], [cells for _, cells in told]
    return ExpectedCells(keys, totals, cells_of_all, PAGE, frozenset(), is_of_weeks=True)


def _hours_of(within_us: tuple[int, int], zone: str, era: Era) -> list[tuple[int, int, datetime]]:
    """The hours of the local clock inside a bucket: their beginnings, ends, and what the clock shows."""
    edges_us = [SECOND_US * edge for edge in EDGES["by_hour"](era, zone)]
    begins_us, ends_us = within_us
    cut = [begins_us, *(edge for edge in edges_us if begins_us < edge < ends_us), ends_us]
    return [(begin_us, end_us, moment_at(begin_us, zone)) for begin_us, end_us in pairwise(cut)]


def _add_coverage(
    question: Question,
    log: CameraLog,
    hours: Sequence[tuple[int, int, datetime]],
    figures: Figures,
    cells: list[dict[str, Any]],
) -> None:
    """What was watched of the hours of each cell; of all hours, where neither cells nor filters are of time."""
    now_us = int(datetime.now().timestamp()) * SECOND_US
    filters = {name: parts for name, parts in question.filters_by_name.items() if name in OF_TIME}
    kept = [
        (expect_coverage(log, begin_us, end_us, now_us=now_us), (end_us - begin_us) / SECOND_US, local)
        for begin_us, end_us, local in hours
        if all(part_of_moment(name, local) in parts for name, parts in filters.items())
    ]
    figures.update(_sum_coverage(kept))
    for cell in cells:
        timed = {name: part for name, part in cell["by"].items() if name in OF_TIME}
        cell.update(_sum_coverage([one for one in kept if _is_in(timed, one[2])]))


def _is_in(timed: Mapping[str, str], local: datetime) -> bool:
    return all(part_of_moment(name, local) == part for name, part in timed.items())


def _sum_coverage(hours: Sequence[tuple[dict[str, float], float, datetime]]) -> dict[str, Any]:
    total: dict[str, float] = defaultdict(float)
    for found, _, _ in hours:
        for why, seconds in found.items():
            total[why] += seconds
    return coverage_values(total, sum(length_s for _, length_s, _ in hours))


def cell_differences(question: Question, expected: ExpectedCells, bodies: list[dict[str, Any]]) -> list[str]:
    """What is wrong with the pages of an answer."""
    pages = -(-len(expected.keys) // expected.page_size)
    frames = [(len(expected.keys), pages, number) for number in range(1, pages + 1)]
    if (said := [(body["total_results"], body["nb_of_pages"], body["page"]) for body in bodies]) != frames:
        return [f"pages say {said} instead of {frames}"]
    inexact = {body["page"] for body in bodies if body.get("exact") is False}
    found = [f"pages {inexact} are not exact"] if inexact != expected.inexact_pages else []
    members = {"by": list(question.by), "filter": {name: list(parts) for name, parts in question.filters}}
    for name, value in members.items():
        found += [f"{name} is {body.get(name)}" for body in bodies if body.get(name, type(value)()) != value]
    buckets = {key: values for body in bodies for key, values in body["entities"].items()}
    if list(buckets) != expected.keys:
        return [*found, f"buckets are {list(buckets)} instead of {expected.keys}"]
    for values, key, figures, cells in zip(
        buckets.values(), expected.keys, expected.figures, expected.cells, strict=True
    ):
        said_cells = values.pop("cells", [])
        found += [f"{key}: {line}" for line in wrong_values(question, values, figures)]
        if not question.by:
            found += [f"{key}: there are cells"] if said_cells else []
        elif [cell["by"] for cell in said_cells] != [cell["by"] for cell in cells]:
            found.append(f"{key}: cells are {[cell['by'] for cell in said_cells]}")
        else:
            for said_cell, cell in zip(said_cells, cells, strict=True):
                part = said_cell.pop("by")
                found += [f"{key} {part}: {line}" for line in wrong_values(question, said_cell, cell)]
    return found
