"""By which parts of gender and age a week of a grouped stream is told. Pure; decision 0078 has the proof."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import gcd

from onlooker.metrics.dimensions import DIMENSIONS

GENDERS, AGES = DIMENSIONS["gender"].parts, DIMENSIONS["age"].parts
JOINT = "|"
"""Between the parts that are told only together; no part has it in its name."""
MOST_SEARCHED = 12
"""Groups of cells of which all cuts are tried: 2,048 of them. More are merged further instead."""

Traits = tuple[str, str]
"""A gender and an age."""
Partition = tuple[tuple[str, ...], ...]
"""Every part in one group. Those of a group are told only together."""


@dataclass(frozen=True)
class WeekParts:
    """The cells of a week: each group of genders with each group of ages."""

    genders: Partition
    ages: Partition

    def cell_of(self, traits: Traits) -> Traits:
        """By the names of its groups."""
        gender, age = traits
        return join_name(group_of(self.genders, gender)), join_name(group_of(self.ages, age))


def choose_parts(blocks: Sequence[Mapping[Traits, int]], *, least: int) -> WeekParts | None:
    """The most cells that, beside blocks, tell nothing about fewer than `least` people; None of too few people.

    `blocks` are people by their traits. A gender or an age that nobody has stands by itself: blocks tell it already.
    """
    people: Counter[Traits] = Counter()
    for block in blocks:
        people.update(block)
    if sum(people.values()) < least:
        return None
    told = [traits for traits, count in people.items() if count]
    shared = dict(zip(told, _merge_blocks([[block.get(one, 0) for block in blocks] for one in told]), strict=True))
    for parts in _products(told):
        cells = [[one for one in product(*cell) if one in shared] for cell in product(parts.genders, parts.ages)]
        is_wide = all(sum(people[one] for one in cell) >= least for cell in cells)
        if is_wide and are_cuts_wide([_add([shared[one] for one in cell]) for cell in cells], least=least):
            return WeekParts(_with_others(parts.genders, GENDERS), _with_others(parts.ages, AGES))
    return None


def are_cuts_wide(cells: Sequence[Sequence[int]], *, least: int) -> bool:
    """Whether no sums of blocks and cells together are about fewer than so many people; `cells` are people by block.

    Cells that share `least` people in their blocks are told apart by no smaller cut, so they are taken together. Where
    many are left, the answer may be no although it is yes.
    """
    gathered = _gather(_merge_blocks(cells), least=least)
    if len(gathered) > MOST_SEARCHED:
        return False
    first, *others = _merge_blocks(gathered)
    return not _has_narrow_cut(others, first, [0] * len(first), least=least)


def join_partitions(partitions: Iterable[Partition], parts: Sequence[str]) -> Partition:
    """The finest partition whose groups are sums of the groups of each."""
    groups = [{part} for part in parts]
    for told in (set(group) for partition in partitions for group in partition):
        touched = [group for group in groups if group & told]
        groups = [group for group in groups if not group & told] + [set[str]().union(*touched)]
    return _in_order(groups, parts)


def group_of(partition: Partition, part: str) -> tuple[str, ...]:
    return next(group for group in partition if part in group)


def join_name(group: Sequence[str]) -> str:
    return JOINT.join(group)


def _products(people: Sequence[Traits]) -> Iterator[WeekParts]:
    """Of the genders and ages that somebody has; those with the most cells first, then in a fixed order."""
    genders = [part for part in GENDERS if any(gender == part for gender, _ in people)]
    ages = [part for part in AGES if any(age == part for _, age in people)]
    found = [WeekParts(*pair) for pair in product(_all_partitions(genders), _runs(ages))]
    return iter(sorted(found, key=lambda one: -len(one.genders) * len(one.ages)))


def _all_partitions(parts: Sequence[str]) -> list[Partition]:
    if not parts:
        return [()]
    found: list[Partition] = []
    for rest in _all_partitions(parts[1:]):
        found.append(((parts[0],), *rest))
        found += [((parts[0], *group), *rest[:place], *rest[place + 1 :]) for place, group in enumerate(rest)]
    return found


def _runs(parts: Sequence[str]) -> list[Partition]:
    """Every way to join neighbours."""
    places = range(1, len(parts))
    return [
        tuple(tuple(parts[first:after]) for first, after in zip((0, *cuts), (*cuts, len(parts)), strict=True))
        for count in range(len(parts))
        for cuts in combinations(places, count)
    ]


def _with_others(partition: Partition, parts: Sequence[str]) -> Partition:
    """And those that nobody has, in declared order."""
    others = [(part,) for part in parts if not any(part in group for group in partition)]
    return _in_order((*partition, *others), parts)


def _in_order(groups: Iterable[Iterable[str]], parts: Sequence[str]) -> Partition:
    ordered = (tuple(sorted(group, key=parts.index)) for group in groups)
    return tuple(sorted(ordered, key=lambda group: parts.index(group[0])))


def _merge_blocks(cells: Sequence[Sequence[int]]) -> list[list[int]]:
    """The same cells with fewer blocks, such that all cuts stay the same.

    Where one cell has most of a block, every cut costs what is on the other side: more people there change nothing, so
    it counts as many as all others have. Blocks that are multiples of another then add up, and those of one cell cost
    nothing.
    """
    merged: Counter[tuple[int, ...]] = Counter()
    for block in zip(*cells, strict=True):
        most = max(block)
        others = sum(block) - most
        if others:
            capped = [others if count > others else count for count in block]
            unit = gcd(*capped)
            merged[tuple(count // unit for count in capped)] += unit
    blocks = [[count * times for count in block] for block, times in merged.items()]
    return [[block[place] for block in blocks] for place in range(len(cells))]


def _gather(cells: Iterable[list[int]], *, least: int) -> list[list[int]]:
    """Cells that no cut of fewer people tells apart, added up, until none are left."""
    gathered: list[list[int]] = []
    for cell in cells:
        whole = cell
        while near := [one for one in gathered if _shared(one, whole) >= least]:
            gathered = [one for one in gathered if one not in near]
            whole = _add([whole, *near])
        gathered.append(whole)
    return gathered


def _has_narrow_cut(cells: Sequence[Sequence[int]], side: list[int], other: list[int], *, least: int) -> bool:
    """However the cells are put on the two sides; more cells never make a cut cheaper."""
    cost = _shared(side, other)
    if cost >= least or not cells:
        return 0 < cost < least
    first, *rest = cells
    return _has_narrow_cut(rest, _add([side, first]), other, least=least) or _has_narrow_cut(
        rest, side, _add([other, first]), least=least
    )


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    """The smallest cut between two groups of cells: each block is on the side that costs less."""
    return sum(map(min, one, other))


def _add(cells: Sequence[Sequence[int]]) -> list[int]:
    return [sum(counts) for counts in zip(*cells, strict=True)]
