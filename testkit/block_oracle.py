"""Groups of at least k in plain Python: which blocks are released, and of which people each tells."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from onlooker_pipeline.visits.visit import Visit
from testkit.kept_sums import rounded
from testkit.oracle import Judged, judge

SLOT_US = 900_000_000
EVER_US = 10**17
LATEST_US = 31 * 86_400_000_000
"""So long after its end a slot is ready, whatever is still missing."""

Slots = Mapping[int, Sequence[Visit]]
"""The visits that are stored, by the slot in which they begin."""
People = Mapping[int, Sequence[Judged]]
"""Interested people, by slot, in order."""


@dataclass(frozen=True)
class ExpectedBlock:
    """A run of slots that is told as a whole."""

    begins_us: int
    ends_us: int
    reaches_us: int
    people: tuple[Judged, ...]

    def lies_inside(self, from_us: int, to_us: int) -> bool:
        return from_us <= self.begins_us and self.reaches_us <= to_us


@dataclass
class StreamGroups:
    """What is released of a stream, pass by pass. Times are microseconds of unix time."""

    day_of: Callable[[int], int]
    """The number of the local day in which a slot begins."""
    k: int = 1
    grid: bool = False
    grouped_until_us: int = -EVER_US
    """Slots that begin before are told in blocks alone."""
    blocked_until_us: int = -EVER_US
    """Slots that begin before are in a released block, or stay untold."""
    blocks: list[ExpectedBlock] = field(default_factory=list)

    def is_grouped(self, slot_us: int) -> bool:
        return slot_us < self.grouped_until_us

    def change_k(self, k: int, slots: Slots, *, kept_us: int = -EVER_US) -> None:
        """Raised from 1, all that was told singly goes into blocks at once, as it is, and what comes later there stays
        untold: otherwise a block would tell of the newcomers alone. Visits before `kept_us` are gone, their slots are
        not."""
        was, self.k = self.k, k
        if was == 1 and k > 1:
            self._release_told(slots, kept_us)
            self.grouped_until_us = EVER_US
        elif was > 1 and k == 1:
            self.grouped_until_us = max(self.blocked_until_us, kept_us)  # nothing is left to tell those before by

    def _release_told(self, slots: Slots, kept_us: int) -> None:
        told = {slot_us: visits for slot_us, visits in slots.items() if slot_us >= self.grouped_until_us}
        people = self._people_of(told, rounded_before_us=kept_us)
        for day in self._days_of(people):
            self._release(self._all_runs(people, day), people, reaching=told)
        if slots:
            self.blocked_until_us = max(self.blocked_until_us, max(slots) + SLOT_US)

    def build(self, slots: Slots, *, now_us: int, watermark_us: int, kept_us: int = -EVER_US) -> None:
        """A pass of the builder: day by day, as far as slots are ready."""
        if self.k == 1:
            return
        there = {slot_us: visits for slot_us, visits in slots.items() if slot_us >= kept_us}
        frontier_us = self._first_unready(there, now_us, watermark_us)
        for day in self._days_of(slot_us for slot_us in there if slot_us >= self.blocked_until_us):
            people = self._people_of({slot_us: visits for slot_us, visits in there.items() if slot_us < frontier_us})
            ends_us = self._end_of_day(day, near_us=min(slot_us for slot_us in there if self.day_of(slot_us) == day))
            if ends_us > frontier_us:
                runs = self._complete_runs(people, day)[0][:-1]
                self._release(runs, people)
                self.blocked_until_us = max([self.blocked_until_us, *(run[-1] + SLOT_US for run in runs)])
                return
            self._release(self._all_runs(people, day), people)
            self.blocked_until_us = ends_us

    def forget(self, from_us: int, to_us: int) -> None:
        """A range is deleted: every block that it touches goes whole."""
        self.blocks = [one for one in self.blocks if one.begins_us >= to_us or one.reaches_us <= from_us]

    def told_in(self, from_us: int, to_us: int, edges_us: Sequence[int]) -> dict[int, list[Judged]]:
        """By number of the bucket, the people of its blocks."""
        told: dict[int, list[Judged]] = {}
        for one in self.blocks:
            number = bisect_right(edges_us, one.begins_us) - 1
            is_inside = 0 <= number < len(edges_us) - 1 and one.ends_us <= edges_us[number + 1]
            if is_inside and one.lies_inside(from_us, to_us):
                told.setdefault(number, []).extend(one.people)
        return told

    def _first_unready(self, slots: Slots, now_us: int, watermark_us: int) -> int:
        """Slots begin to be ready in order: the begin of the first that is not."""
        anyway_us = slot_of_us(now_us - LATEST_US)
        passed_us = max(anyway_us, slot_of_us(watermark_us))
        still_open = (
            slot_us
            for slot_us, visits in slots.items()
            if max(self.blocked_until_us, anyway_us) <= slot_us < passed_us and not all(one.ended for one in visits)
        )
        return min(still_open, default=passed_us)

    def _people_of(self, slots: Slots, *, rounded_before_us: int = -EVER_US) -> dict[int, list[Judged]]:
        """Interested people of slots that are not dealt with yet, judged whole."""
        found = {}
        for slot_us in sorted(slot_us for slot_us in slots if slot_us >= self.blocked_until_us):
            judged = [one for visit in slots[slot_us] if (one := judge(visit, -EVER_US, EVER_US))]
            judged = rounded(judged) if slot_us < rounded_before_us else judged
            if people := [one for one in judged if one.interested]:
                found[slot_us] = people
        return found

    def _days_of(self, slots: Iterable[int]) -> list[int]:
        return sorted({self.day_of(slot_us) for slot_us in slots})

    def _complete_runs(self, people: People, day: int) -> tuple[list[list[int]], list[int]]:
        """Slots of a day in runs, each with at least k people, and the slots that are left."""
        runs: list[list[int]] = []
        run: list[int] = []
        for slot_us in (slot_us for slot_us in people if self.day_of(slot_us) == day):
            run.append(slot_us)
            if sum(len(people[one]) for one in run) >= self.k:
                runs.append(run)
                run = []
        return runs, run

    def _all_runs(self, people: People, day: int) -> list[list[int]]:
        """The day is over: what is left joins the last run."""
        runs, rest = self._complete_runs(people, day)
        return [*runs[:-1], [*runs[-1], *rest]] if runs else []

    def _release(self, runs: Iterable[Sequence[int]], people: People, *, reaching: Slots | None = None) -> None:
        """`reaching`: the reach of all its visits counts, since rows of the roll-up know no other."""
        for run in runs:
            members = rounded([one for slot_us in run for one in people[slot_us]])
            visits = [visit for slot_us in run for visit in reaching[slot_us]] if reaching else None
            last_us = 1000 * max(visit.present[-1][1] for visit in visits or (one.visit for one in members))
            reaches_us = -(-last_us // SLOT_US) * SLOT_US
            self.blocks.append(ExpectedBlock(run[0], run[-1] + SLOT_US, reaches_us, tuple(members)))

    def _end_of_day(self, day: int, *, near_us: int) -> int:
        """The first slot that begins after the day, found from one that begins in it."""
        while self.day_of(near_us) == day:
            near_us += SLOT_US
        return near_us


def slot_of_us(at_us: int) -> int:
    return at_us // SLOT_US * SLOT_US


def untold(judged: Iterable[Judged]) -> list[Judged]:
    """The same people, of whom nothing else is told."""
    return [replace(one, is_told=False) for one in judged]
