"""How the slots of a day are divided into blocks of at least so many people. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from onlooker.metrics.buckets import page_buckets
from onlooker.metrics.query import Query, Time
from onlooker.slots import SLOT, slot_of


@dataclass(frozen=True)
class BlockSlot:
    """What a slot's visits tell about people."""

    slot_at: datetime
    figures: Mapping[str, int]
    """The columns of a block. `told` is how many people there are."""
    reaches_at: datetime | None
    """The end of the last slot that one of them reaches into; None where there is nobody."""

    @property
    def people(self) -> int:
        return self.figures["told"]


@dataclass(frozen=True)
class BlockRun:
    """A run of slots, told about as one."""

    slots: tuple[BlockSlot, ...]
    """Those with people. Between them nobody was interested."""

    @property
    def begins_at(self) -> datetime:
        return self.slots[0].slot_at

    @property
    def ends_at(self) -> datetime:
        return self.slots[-1].slot_at + SLOT

    @property
    def reaches_at(self) -> datetime:
        return max(slot.reaches_at for slot in self.slots if slot.reaches_at)

    @property
    def figures(self) -> dict[str, int]:
        return {column: sum(slot.figures[column] for slot in self.slots) for column in self.slots[0].figures}


def divide_day(slots: Iterable[BlockSlot], *, least: int, is_over: bool) -> list[BlockRun]:
    """The blocks that can be released of a day's slots, which are in order and follow what was released before.

    A run ends with the slot in which its people are at least so many. The last one waits for the end of the day: then
    who is left joins it. A day with fewer people has no block.
    """
    runs: list[list[BlockSlot]] = []
    rest: list[BlockSlot] = []
    for slot in slots:
        if slot.people:
            rest.append(slot)
        if sum(one.people for one in rest) >= least:
            runs.append(rest)
            rest = []
    if not is_over:
        return _as_blocks(runs[:-1])
    return _as_blocks([*runs[:-1], [*runs[-1], *rest]] if runs else [])


def _as_blocks(runs: Sequence[Sequence[BlockSlot]]) -> list[BlockRun]:
    return [BlockRun(tuple(run)) for run in runs]


def end_of_day(slot_at: datetime, zone: ZoneInfo) -> datetime:
    """Where the last slot ends that begins on the same local day as this one."""
    day = Query(0, (), slot_at, slot_at + SLOT, zone, Time.BY_DAY)
    ends_at = page_buckets(day, first=0, count=1).edges[1]
    return slot_of(ends_at + SLOT - datetime.resolution)
