"""Weeks of groups in plain Python: which are told, by which parts, and of which people each cell tells."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise, product

from testkit.block_oracle import EVER_US, SLOT_US, ExpectedBlock, Slots, StreamGroups, slot_of_us
from testkit.cell_oracle import PARTS
from testkit.kept_sums import rounded
from testkit.oracle import Judged, Thresholds, age_band_of, category_of, emotion_of, gender_of, judge

GENDERS, AGES = PARTS["gender"], PARTS["age"]
Parts = tuple[tuple[str, ...], ...]
Cell = tuple[tuple[str, ...], tuple[str, ...]]
"""Genders and ages that are told together."""


@dataclass(frozen=True)
class ExpectedWeek:
    """A week that is told."""

    begins_us: int
    ends_us: int
    genders: Parts
    ages: Parts
    cells: Mapping[Cell, Sequence[Judged]]


@dataclass
class StreamWeeks:
    """What is released of a stream, week by week."""

    edges_us: Sequence[int]
    """Where local weeks begin."""
    known: Thresholds
    until_us: int = -EVER_US
    """Weeks that begin before are told, or never will be."""
    weeks: list[ExpectedWeek] = field(default_factory=list)

    def begin(self, groups: StreamGroups) -> None:
        """Groups are wanted from now on; before, people were told of singly."""
        self.until_us = max(self.until_us, groups.blocked_until_us)

    def release(self, groups: StreamGroups, slots: Slots, *, now_us: int, watermark_us: int, kept_us: int) -> None:
        """After blocks were built."""
        if groups.k == 1:
            return
        there = {slot_us: visits for slot_us, visits in slots.items() if slot_us >= kept_us}
        waiting = min((slot_us for slot_us in there if slot_us >= groups.blocked_until_us), default=EVER_US)
        complete_us = min(slot_of_us(max(watermark_us, now_us - 31 * 86_400_000_000)), waiting)
        over_us = max((edge for edge in self.edges_us if edge <= complete_us), default=-EVER_US)
        for begins_us, ends_us in pairwise(edge for edge in self.edges_us if edge <= over_us):
            blocks = [one for one in groups.blocks if begins_us <= one.begins_us < ends_us]
            if begins_us >= max(self.until_us, kept_us) and blocks:
                self._tell(begins_us, ends_us, blocks, there, groups.k)
        self.until_us = max(self.until_us, over_us)

    def _tell(self, begins_us: int, ends_us: int, blocks: Sequence[ExpectedBlock], slots: Slots, k: int) -> None:
        """People of blocks that would be released today as they were."""
        found = [(block, _people_of(block, slots)) for block in blocks]
        intact = [people for block, people in found if self._sum_of(rounded(people)) == self._sum_of(block.people)]
        told = self._choose(intact, k)
        if told is None:
            return
        everybody = [one for people in intact for one in people]
        genders, ages = (_with_all(parts, names) for parts, names in zip(told, (GENDERS, AGES), strict=True))
        cells = {cell: rounded(self._members(everybody, cell)) for cell in product(genders, ages)}
        self.weeks.append(ExpectedWeek(begins_us, ends_us, genders, ages, cells))

    def _sum_of(self, people: Iterable[Judged]) -> tuple[object, ...]:
        people = list(people)
        persons = [one.visit for one in people]
        traits = [
            Counter(f"{trait}" for trait in found)
            for found in (
                [gender_of(one, self.known) for one in persons],
                [age_band_of(one, self.known) for one in persons],
                [category_of(one, self.known) for one in persons],
                [emotion_of(one) for one in persons],
            )
        ]
        read = [one for one in people if one.visit.expression]
        balance = sum(one.rounding.balance + _balance_of(one) for one in read)
        still, looking = (
            round(sum(getattr(one, name) + getattr(one.rounding, name) for one in people))
            for name in ("still_us", "looking_us")
        )
        return len(people), *traits, still, looking, round(1000 * balance)

    def _members(self, people: Iterable[Judged], cell: Cell) -> list[Judged]:
        return [
            one
            for one in people
            if gender_of(one.visit, self.known) in cell[0] and age_band_of(one.visit, self.known) in cell[1]
        ]

    def _choose(self, blocks: Sequence[Sequence[Judged]], k: int) -> tuple[Parts, Parts] | None:
        """Most cells; of as many, those whose genders and ages come first in a fixed order."""
        everybody = [one for people in blocks for one in people]
        if len(everybody) < k:
            return None
        genders = [one for one in GENDERS if any(gender_of(who.visit, self.known) == one for who in everybody)]
        ages = [one for one in AGES if any(age_band_of(who.visit, self.known) == one for who in everybody)]
        found = product(_partitions(genders), _runs(ages))
        for told in sorted(found, key=lambda one: len(one[0]) * len(one[1]), reverse=True):
            cells = list(product(*told))
            counts = [[len(self._members(people, cell)) for people in blocks] for cell in cells]
            if min(map(sum, counts)) >= k and _smallest_cut(counts) >= k:
                return told
        return None


def _people_of(block: ExpectedBlock, slots: Slots) -> list[Judged]:
    """Those who are interested by now, judged whole."""
    slots_us = range(block.begins_us, block.ends_us, SLOT_US)
    judged = [judge(visit, -EVER_US, EVER_US) for slot_us in slots_us for visit in slots.get(slot_us, ())]
    return [one for one in judged if one and one.interested]


def _balance_of(one: Judged) -> float:
    assert one.visit.expression
    _, happiness, _, anger, sadness = one.visit.expression
    return max(0.0, min(2.0, 1 + happiness - anger - sadness)) / 2


def _partitions(names: Sequence[str]) -> Iterator[Parts]:
    """All ways to put names together."""
    if not names:
        yield ()
        return
    for rest in _partitions(names[1:]):
        yield ((names[0],), *rest)
        for place, group in enumerate(rest):
            yield ((names[0], *group), *rest[:place], *rest[place + 1 :])


def _runs(names: Sequence[str]) -> Iterator[Parts]:
    """All ways to put neighbours together, fewest groups first."""
    for count in range(len(names)):
        for cuts in combinations(range(1, len(names)), count):
            yield tuple(tuple(names[first:after]) for first, after in pairwise((0, *cuts, len(names))))


def _with_all(parts: Parts, names: Sequence[str]) -> Parts:
    """A part in which nobody is forms a group of its own."""
    alone = ((name,) for name in names if not any(name in group for group in parts))
    ordered = [tuple(name for name in names if name in group) for group in (*parts, *alone)]
    return tuple(sorted(ordered, key=lambda group: names.index(group[0])))


def _smallest_cut(cells: Sequence[Sequence[int]]) -> float:
    """Of all ways to divide the cells, the fewest people on the side of their block that has fewer of them; never 0."""
    found = float("inf")
    for chosen in product((False, True), repeat=len(cells) - 1):
        sides = list(zip((False, *chosen), cells, strict=True))
        cut = sum(
            min(sum(cell[block] for side, cell in sides if side is one) for one in (False, True))
            for block in range(len(cells[0]))
        )
        found = min(found, cut or found)
    return found
