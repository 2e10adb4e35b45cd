"""Interested people by age and gender: a pyramid, and its table. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from onlooker.console.breakdowns.part_names import name_part
from onlooker.console.breakdowns.people_cells import PeopleCells
from onlooker.console.breakdowns.selection import Selection
from onlooker.console.dashboard.presentation import format_share, format_share_interval
from onlooker.metrics.changes import FEWEST_PEOPLE
from onlooker.metrics.definitions import UNKNOWN
from onlooker.metrics.dimensions import DIMENSIONS

GENDERS = ("female", "male", UNKNOWN)


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


def make_pyramid(cells: PeopleCells, selection: Selection) -> AgePyramid:
    """Of the ages and genders that the filter keeps; the unknown come last."""
    sums = cells.add_up("age", "gender")
    counts = {parts: cells.count_of("interested", figures) for parts, figures in sums.items()}
    ages = selection.kept.get("age", DIMENSIONS["age"].parts)
    genders = [one for one in GENDERS if one in selection.kept.get("gender", GENDERS)]
    total = sum(counts.values())
    rows = tuple(
        AgeRow(
            _make_segment(selection, {"age": age}, sum(counts.get((age, gender), 0) for gender in genders), total),
            tuple(
                _make_segment(selection, {"age": age, "gender": gender}, counts.get((age, gender), 0), total)
                for gender in genders
            ),
        )
        for age in ages
    )
    columns = tuple(
        _make_segment(selection, {"gender": gender}, sum(counts.get((age, gender), 0) for age in ages), total)
        for gender in genders
    )
    return AgePyramid(columns, rows, total, _describe_shares(columns, total))


def _make_segment(selection: Selection, parts: Mapping[str, str], count: int, total: int) -> Segment:
    chosen = {name: (part,) for name, part in parts.items()}
    return Segment(
        key=".".join(parts.values()),
        name=", ".join(name_part(name, part) for name, part in parts.items()),
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
