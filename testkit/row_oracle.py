"""Streams together and side by side, computed slot by slot and visit by visit: slow, and plainly right."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain, pairwise
from math import floor
from zoneinfo import ZoneInfo

from onlooker_pipeline.visits.visit import Visit
from testkit.block_oracle import EVER_US, StreamGroups, untold
from testkit.comparison import (
    HOURS_UP_TO,
    SLOTS_UP_TO,
    ComparedPeople,
    ExpectedChange,
    Range,
    blocks_inside,
    changes_of,
    compared_runs,
    in_us,
    sample_of,
)
from testkit.like_time import SLOT, SLOT_S, WATCHED_FROM_S, like_slots
from testkit.oracle import Figures, Judged, figures_of, judge
from testkit.worlds.expectation import KNOWN, slots_of

ClockSlot = tuple[datetime, int]
"""What the clock shows, and whether it shows that for the second time."""


@dataclass(frozen=True)
class OracleStream:
    """All that is known of a stream. `groups`: people are told about in these alone."""

    zone: ZoneInfo
    period: Range
    covered_s: Mapping[datetime, float]
    visits: Sequence[Visit]
    groups: StreamGroups | None = None
    is_open: Callable[[datetime], bool] = lambda _: True
    """Whether it is, when its clock shows a quarter of an hour."""

    def shown(self, slot: datetime) -> ClockSlot:
        local = slot.astimezone(self.zone)
        return local.replace(tzinfo=None, fold=0), local.fold

    @property
    def watched(self) -> list[datetime]:
        return [
            slot
            for slot, seconds in sorted(self.covered_s.items())
            if seconds >= WATCHED_FROM_S and self.period[0] <= slot and slot + SLOT <= self.period[1]
        ]

    @property
    def open_s(self) -> int:
        slots = int((self.period[1] - self.period[0]) / SLOT)
        return SLOT_S * sum(self.is_open(self.shown(self.period[0] + number * SLOT)[0]) for number in range(slots))

    @property
    def is_enough(self) -> bool:
        return bool(self.open_s) and 3 * SLOT_S * len(self.watched) >= self.open_s


@dataclass(frozen=True)
class ExpectedRow:
    """A row's numbers over compared time; of means, also how far their intervals reach."""

    figures: Figures
    samples: dict[str, tuple[float, float] | None]
    watched_s: float


@dataclass(frozen=True)
class ExpectedRows:
    """Rows side by side."""

    reason: str | None
    compared_s: int
    open_s: int
    rows: list[ExpectedRow]


def expect_rows(rows: Sequence[Sequence[OracleStream]]) -> ExpectedRows:
    present = [[one for one in row if one.is_enough] for row in rows]
    if sum(map(bool, present)) < 2:
        return ExpectedRows("not_watched", 0, 0, [])
    of_rows = [_watched_by_most(row) for row in present if row]
    common = set.intersection(*of_rows)
    open_s = min(one.open_s for row in present for one in row)
    compared_s = SLOT_S * len(common)
    if not common:
        return ExpectedRows("no_common_time", 0, open_s, [])
    if 3 * compared_s < open_s:
        return ExpectedRows("too_little", compared_s, open_s, [])
    length = max(one.period[1] - one.period[0] for row in present for one in row)
    return ExpectedRows(None, compared_s, open_s, [_expect_row(row, common, cluster_of(length)) for row in present])


def cluster_of(length: timedelta) -> timedelta:
    return SLOT if length <= SLOTS_UP_TO else timedelta(hours=1) if length <= HOURS_UP_TO else timedelta(days=1)


def _watched_by_most(row: Sequence[OracleStream]) -> set[ClockSlot]:
    """By nine in ten of its streams, or more."""
    shown = [{one.shown(slot) for slot in one.watched} for one in row]
    return {slot for slot in set().union(*shown) if 10 * sum(slot in one for one in shown) >= 9 * len(shown)}


def _expect_row(row: Sequence[OracleStream], common: set[ClockSlot], cluster: timedelta) -> ExpectedRow:
    together: dict[int, list[Judged]] = {}
    blocks: list[list[Judged]] = []
    watched_s = 0.0
    for one in row:
        slots = [slot for slot in one.watched if one.shown(slot) in common]
        watched_s += sum(min(900.0, one.covered_s[slot]) for slot in slots)
        _add_people(together, one, slots, cluster)
        if one.groups:
            blocks += blocks_inside(one.groups, one.period, list(_runs_of(one, slots)))
    people = ComparedPeople(list(together.values()), blocks)
    everybody = list(chain(*people.clusters)), list(chain(*people.blocks))
    draws = [*people.clusters, *people.blocks]
    samples = {name: sample_of(name, draws) for name in ("stop_time", "attention_time", "satisfaction")}
    return ExpectedRow(figures_of(everybody[0], KNOWN, everybody[1]), samples, watched_s)


def _add_people(
    together: dict[int, list[Judged]], one: OracleStream, slots: Iterable[datetime], cluster: timedelta
) -> None:
    """Each visit whole where it begins, to those of the same time on the clocks of other streams."""
    people = slots_of(one.visits)
    for slot in slots:
        judged = [found for visit in people.get(in_us(slot), []) if (found := judge(visit, -EVER_US, EVER_US))]
        number = floor((one.shown(slot)[0] - datetime(1970, 1, 1)) / cluster)
        together.setdefault(number, []).extend(untold(judged) if one.groups else judged)


def _runs_of(one: OracleStream, slots: Sequence[datetime]) -> Iterable[Range]:
    """Slots that follow each other on earth and on the clock."""
    begin = None
    for slot, after in pairwise([*slots, None]):
        assert slot
        begin = begin or slot
        follows = one.shown(slot)[0] + SLOT, one.shown(slot)[1]
        if after is None or after != slot + SLOT or one.shown(after) != follows:
            yield begin, slot + SLOT
            begin = None


def expect_before_after(
    streams: Sequence[tuple[OracleStream, Range]],
) -> tuple[str | None, int, dict[str, dict[str, ExpectedChange]]]:
    """Why there is no comparison, how many seconds of all streams are compared, and the changes.

    The period of a stream is the time after; with it comes that before.
    """
    likes = [like_slots(one.period, before, one.zone, one.covered_s) for one, before in streams]
    compared_s = SLOT_S * sum(map(len, likes))
    reason = _why_not(streams, compared_s)
    if reason:
        return reason, compared_s, {}
    cluster = cluster_of(max(before[1] - before[0] for _, before in streams))
    sides, watched_s = [], []
    for place in (0, 1):
        together: dict[int, list[Judged]] = {}
        blocks: list[list[Judged]] = []
        seconds = 0.0
        for (one, before), like in zip(streams, likes, strict=True):
            pairs = sorted(like.items())
            slots = [pair[place] for pair in pairs]
            seconds += sum(min(900.0, one.covered_s[slot]) for slot in slots)
            _add_people(together, one, slots, cluster)
            if one.groups:
                blocks += blocks_inside(one.groups, (one.period, before)[place], compared_runs(pairs, place))
        sides.append(ComparedPeople(list(together.values()), blocks))
        watched_s.append(seconds)
    return None, compared_s, changes_of(sides[0], sides[1], watched_s[0] / watched_s[1])


def _why_not(streams: Sequence[tuple[OracleStream, Range]], compared_s: int) -> str | None:
    if not any(one.watched for one, _ in streams):
        return "not_watched"
    if not any(OracleStream(one.zone, before, one.covered_s, ()).watched for one, before in streams):
        return "not_watched_before"
    if not compared_s:
        return "no_common_time"
    return "too_little" if 3 * compared_s < sum(one.open_s for one, _ in streams) else None


def local_days(zone: ZoneInfo, first: datetime, days: int) -> Range:
    """Of a clock, from a midnight that it shows."""
    begins, ends = ((first + timedelta(days=number)).replace(tzinfo=zone).astimezone(UTC) for number in (0, days))
    return begins, ends
