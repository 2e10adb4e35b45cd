"""What a stream that tells about people in groups answers to a question with a breakdown or filters: whole weeks."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product
from typing import Any

from onlooker.metrics.definitions import METRICS
from testkit.cell_oracle import PARTS
from testkit.oracle import Figures, Judged, figures_of
from testkit.week_oracle import Cell, ExpectedWeek, StreamWeeks
from testkit.worlds.expectation import KNOWN
from testkit.worlds.world import Question

TOLD = {"interested", "stop_time", "attention_time", "satisfaction", "emotion"}
PLACES = {"gender": 0, "age": 1}
"""Of the dimensions in a cell."""


def why_no_weeks(question: Question, weeks: StreamWeeks, edges_us: Sequence[int], *, is_own_zone: bool) -> str:
    """Why nothing is told, by words of the problem."""
    if not {*question.by, *question.filters_by_name} <= PLACES.keys():
        return "take only gender and age"
    if not {name for name in question.metrics if name in METRICS} <= TOLD:
        return "can't be broken down"
    is_whole = {question.from_us, question.to_us} <= set(weeks.edges_us)
    if not (is_whole and is_own_zone and question.time in ("global", "by_week")):
        return "take only whole weeks"
    if question.to_us > weeks.until_us:
        return "once it is over"
    return _why_not_these(question, weeks, edges_us)


def _why_not_these(question: Question, weeks: StreamWeeks, edges_us: Sequence[int]) -> str:
    if not _inside(weeks.weeks, (question.from_us, question.to_us)):
        return "nothing can be told"
    for within_us in pairwise(edges_us):
        for name, kept in question.filters:
            if any(set(group) & set(kept) and not set(group) <= set(kept) for group in _groups(weeks, name, within_us)):
                return "told only together"
    return ""


def tell_weeks(
    question: Question, weeks: Sequence[ExpectedWeek], within_us: tuple[int, int]
) -> tuple[Figures, list[dict[str, Any]]]:
    """The figures of a bucket, and of each of its cells."""
    here = _inside(weeks, within_us)
    kept = question.filters_by_name
    groups = [
        [group for group in _joined(name, here) if set(group) <= set(kept.get(name, group))] for name in question.by
    ]
    told = list(_people_of(here, kept.items()))
    cells = [
        {
            "by": dict(zip(question.by, map("|".join, chosen), strict=True)),
            **figures_of(list(_people_of(here, [*kept.items(), *zip(question.by, chosen, strict=True)])), KNOWN),
        }
        for chosen in product(*groups)
    ]
    return figures_of(told, KNOWN), cells if question.by else []


def _people_of(weeks: Iterable[ExpectedWeek], chosen: Iterable[tuple[str, Sequence[str]]]) -> Iterator[Judged]:
    wanted = list(chosen)
    for week in weeks:
        for cell, people in week.cells.items():
            if all(set(cell[PLACES[name]]) <= set(parts) for name, parts in wanted):
                yield from people


def _groups(weeks: StreamWeeks, name: str, within_us: tuple[int, int]) -> list[tuple[str, ...]]:
    return _joined(name, _inside(weeks.weeks, within_us))


def _joined(name: str, weeks: Sequence[ExpectedWeek]) -> list[tuple[str, ...]]:
    """Parts that any week tells only together stay together, and so do those that are together with one of them."""
    numbers = {part: number for number, part in enumerate(PARTS[name])}
    cells: list[Cell] = [cell for week in weeks for cell in week.cells]
    for _ in numbers:
        for cell in cells:
            lowest = min(numbers[part] for part in cell[PLACES[name]])
            numbers |= dict.fromkeys(cell[PLACES[name]], lowest)
    return [tuple(part for part in numbers if numbers[part] == one) for one in sorted(set(numbers.values()))]


def _inside(weeks: Iterable[ExpectedWeek], within_us: tuple[int, int]) -> list[ExpectedWeek]:
    return [one for one in weeks if within_us[0] <= one.begins_us and one.ends_us <= within_us[1]]
