"""Interested people by age and gender: a pyramid, and its table. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from onlooker.console.breakdowns.cell_numbers import CellNumbers, Parts
from onlooker.console.breakdowns.part_names import name_group
from onlooker.console.breakdowns.selection import Selection
from onlooker.console.dashboard.presentation import format_share, format_share_interval
from onlooker.metrics.changes import FEWEST_PEOPLE
from onlooker.metrics.week_parts import join_name


@dataclass(frozen=True)
class Segment:
    """A part of a chart, with the number of people in it. It leads to the numbers of these people."""

    key: str
    """In the chart."""
    name: str
    count: int
    address: str
    is_chosen: bool
    share: str = ""
    interval: str = ""


@dataclass(frozen=True)
class AgeRow:
    """A band of ages, with a segment of each gender."""

    whole: Segment
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class AgePyramid:
    """Ages as rows, genders as columns."""

    genders: tuple[Segment, ...]
    rows: tuple[AgeRow, ...]
    total: int
    said: str
    """The shares of the genders."""

    @property
    def data(self) -> dict[str, Any]:
        return {
            "genders": [[one.key, one.name] for one in self.genders],
            "ages": [[row.whole.key, row.whole.name] for row in self.rows],
            "counts": [[one.count for one in row.segments] for row in self.rows],
        }


def make_pyramid(cells: CellNumbers, selection: Selection) -> AgePyramid:
    """Of the ages and genders that the filter keeps."""
    sums = cells.add_up("age", "gender")
    counts = {parts: cells.count_of("interested", figures) for parts, figures in sums.items()}
    ages, genders = cells.groups_of("age"), cells.groups_of("gender")
    total = sum(counts.values())

    def count(some_ages: Sequence[Parts], some_genders: Sequence[Parts]) -> int:
        named = ((join_name(age), join_name(gender)) for age in some_ages for gender in some_genders)
        return sum(counts.get(parts, 0) for parts in named)

    rows = tuple(
        AgeRow(
            _make_segment(selection, {"age": age}, count([age], genders), total),
            tuple(
                _make_segment(selection, {"age": age, "gender": gender}, count([age], [gender]), total)
                for gender in genders
            ),
        )
        for age in ages
    )
    columns = tuple(_make_segment(selection, {"gender": gender}, count(ages, [gender]), total) for gender in genders)
    return AgePyramid(columns, rows, total, _describe_shares(columns, total))


def _make_segment(selection: Selection, chosen: Mapping[str, Parts], count: int, total: int) -> Segment:
    return Segment(
        key=".".join(map(join_name, chosen.values())),
        name=", ".join(name_group(name, group) for name, group in chosen.items()),
        count=count,
        address=selection.toggle(chosen),
        is_chosen=selection.has(chosen),
        share=format_share(count / total) if total >= FEWEST_PEOPLE else "",
        interval=format_share_interval(count, total),
    )


def _describe_shares(columns: tuple[Segment, ...], total: int) -> str:
    if total < FEWEST_PEOPLE or len(columns) < 2:
        return ""
    shares = [f"{one.name} {one.share}" for one in columns if one.count]
    return _("Interested people: {shares}").format(shares=", ".join(shares))
