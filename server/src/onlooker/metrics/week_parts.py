"""By which parts of gender and age a week of a grouped stream is told. Pure; decision 0078 has the proof."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

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
    for parts in _products([traits for traits, count in people.items() if count]):
        cells = list(product(parts.genders, parts.ages))
        if all(sum(people[traits] for traits in product(*cell)) >= least for cell in cells):
            divided = [[sum(block.get(traits, 0) for traits in product(*cell)) for cell in cells] for block in blocks]
            if are_cuts_wide(divided, least=least):
                return WeekParts(_with_others(parts.genders, GENDERS), _with_others(parts.ages, AGES))
    return None


def are_cuts_wide(blocks: Sequence[Sequence[int]], *, least: int) -> bool:
    """Whether no sums of blocks and cells together are about fewer than so many people; `blocks` are people by cell.

    Cells that share `least` people in their blocks are told apart by no smaller cut, so they are taken together. Where
    many are left, the answer may be no although it is yes.
    """
    cells = _gather([list(column) for column in zip(*blocks, strict=True)], least=least)
    if len(cells) > MOST_SEARCHED:
        return False
    everybody = _add(cells, len(blocks))
    for count in range(1, len(cells)):
        for chosen in combinations(cells[1:], count):  # a cut and its complement are one
            side = _add(chosen, len(blocks))
            if 0 < _shared(side, [all_of - here for all_of, here in zip(everybody, side, strict=True)]) < least:
                return False
    return True


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


def _gather(cells: list[list[int]], *, least: int) -> list[list[int]]:
    """Cells that no cut of fewer people tells apart, added up, until none are left."""
    for one, other in combinations(range(len(cells)), 2):
        if _shared(cells[one], cells[other]) >= least:
            rest = [cell for place, cell in enumerate(cells) if place not in (one, other)]
            return _gather([*rest, _add([cells[one], cells[other]], len(cells[one]))], least=least)
    return cells


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    """The smallest cut between two groups of cells: each block is on the side that costs less."""
    return sum(map(min, one, other))


def _add(cells: Sequence[Sequence[int]], blocks: int) -> list[int]:
    return [sum(counts) for counts in zip(*cells, strict=True)] if cells else [0] * blocks
