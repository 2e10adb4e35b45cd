"""How long people stay: how many in each band of seconds. Pure."""

from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from onlooker.console.breakdowns.age_by_gender import Segment
from onlooker.console.breakdowns.part_names import name_part
from onlooker.console.breakdowns.people_cells import PeopleCells
from onlooker.console.breakdowns.selection import Selection
from onlooker.console.dashboard.presentation import format_share, format_share_interval
from onlooker.metrics.changes import FEWEST_PEOPLE
from onlooker.metrics.dimensions import STAY_BANDS


@dataclass(frozen=True)
class StayKind:
    """What is measured of whom."""

    name: Any
    metric: str
    first: int
    """Who counts as one of them is in this band or a later one."""
    whose: Any


STAY_KINDS = {
    "stop_band": StayKind(
        _lazy("Stood still"),
        "interested",
        STAY_BANDS.index("3-5"),
        _lazy("Interested people, by how long they stood still"),
    ),
    "attention_band": StayKind(
        _lazy("Looked"),
        "interested",
        STAY_BANDS.index("1-3"),
        _lazy("Interested people, by how long they looked"),
    ),
    "presence_band": StayKind(
        _lazy("In view"),
        "passing_by",
        STAY_BANDS.index("1-3"),
        _lazy("People passing by, by how long they were in view"),
    ),
}


@dataclass(frozen=True)
class Stays:
    """The bars, and where their middle is."""

    kind: StayKind
    bands: tuple[Segment, ...]
    total: int
    median: str

    @property
    def data(self) -> dict[str, Any]:
        return {"bands": [[one.key, one.name, one.count, one.share] for one in self.bands]}


def make_stays(cells: PeopleCells, selection: Selection) -> Stays:
    dimension, kind = selection.stay, STAY_KINDS[selection.stay]
    sums = cells.add_up(dimension)
    kept = selection.kept.get(dimension, STAY_BANDS)
    bands = [band for band in STAY_BANDS[kind.first :] if band in kept]
    counts = [cells.count_of(kind.metric, sums.get((band,))) for band in bands]
    total = sum(counts)
    segments = tuple(
        Segment(
            key=band,
            name=name_part(dimension, band),
            count=count,
            address=selection.toggle({dimension: (band,)}),
            is_chosen=selection.has({dimension: (band,)}),
            share=format_share(count / total) if total >= FEWEST_PEOPLE else "",
            interval=format_share_interval(count, total),
        )
        for band, count in zip(bands, counts, strict=True)
    )
    return Stays(kind, segments, total, _describe_median(segments, total))


def _describe_median(bands: tuple[Segment, ...], total: int) -> str:
    if total < FEWEST_PEOPLE or len(bands) < 2:
        return ""
    counted = accumulate(one.count for one in bands)
    middle = next(one for one, so_far in zip(bands, counted, strict=True) if 2 * so_far >= total)
    return _("The median is in the band {band}.").format(band=middle.name)
