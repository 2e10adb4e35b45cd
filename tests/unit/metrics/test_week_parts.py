"""The parts by which a grouped week is told: no sums of its blocks and cells are about fewer than k people."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product
from random import Random
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onlooker.metrics import week_parts
from onlooker.metrics.week_parts import AGES, GENDERS, WeekParts, are_cuts_wide, choose_parts, join_partitions

People = list[tuple[int, tuple[str, str]]]
"""Of each person: their block, and their traits."""


def by_block(people: People) -> list[Counter[tuple[str, str]]]:
    found: dict[int, Counter[tuple[str, str]]] = {}
    for block, traits in people:
        found.setdefault(block, Counter())[traits] += 1
    return list(found.values())


@st.composite
def weeks(draw: st.DrawFn) -> tuple[People, int]:
    """Few people in blocks of at least k, of few ages, so that cells are near k."""
    least = draw(st.integers(2, 4))
    ages = draw(st.lists(st.sampled_from(AGES), min_size=1, max_size=3, unique=True))
    traits = st.tuples(st.sampled_from(GENDERS), st.sampled_from(ages))
    sizes = draw(st.lists(st.integers(least, 2 * least), min_size=1, max_size=4))
    return [(block, draw(traits)) for block, size in enumerate(sizes) for _ in range(size)], least


def fewest_in_any_sum(people: People, parts: WeekParts) -> int:
    """By linear algebra, without graphs: the smallest set of people outside of which some combination is zero.

    Integers modulo a large prime: the rank of a matrix of zeros and ones this small is the same.
    """
    cells = [parts.cell_of(traits) for _, traits in people]
    rows = [[int(block == one) for block, _ in people] for one in {block for block, _ in people}]
    rows += [[int(cell == one) for cell in cells] for one in set(cells)]
    kinds = list(dict.fromkeys((block, cell) for (block, _), cell in zip(people, cells, strict=True)))
    sizes = Counter((block, cell) for (block, _), cell in zip(people, cells, strict=True))
    columns = [
        next(n for n, (b, c) in enumerate(zip(people, cells, strict=True)) if (b[0], c) == kind) for kind in kinds
    ]
    rank = rank_of([[row[place] for place in columns] for row in rows])
    best = len(people)
    for count in range(1, len(kinds) + 1):
        for chosen in combinations(range(len(kinds)), count):
            size = sum(sizes[kinds[place]] for place in chosen)
            outside = [[row[columns[place]] for place in range(len(kinds)) if place not in chosen] for row in rows]
            if size < best and rank_of(outside) < rank:
                best = size
    return best


def rank_of(rows: list[list[int]]) -> int:
    prime, rank, rows = 2**31 - 1, 0, [row[:] for row in rows]
    for place in range(len(rows[0]) if rows else 0):
        pivot = next((n for n in range(rank, len(rows)) if rows[n][place] % prime), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        inverse = pow(rows[rank][place], -1, prime)
        for n in range(rank + 1, len(rows)):
            factor = rows[n][place] * inverse
            rows[n] = [(one - factor * other) % prime for one, other in zip(rows[n], rows[rank], strict=True)]
        rank += 1
    return rank


@settings(max_examples=60, deadline=None)
@given(weeks())
def test_no_combination_of_sums_is_about_fewer_people_and_no_finer_product_would_do(week: tuple[People, int]) -> None:
    people, least = week
    parts = choose_parts(by_block(people), least=least)
    assert parts
    cells = Counter(parts.cell_of(traits) for _, traits in people)
    assert min(cells.values()) >= least
    if len({(block, parts.cell_of(traits)) for block, traits in people}) <= 11:
        assert fewest_in_any_sum(people, parts) >= least


def test_without_the_condition_on_cuts_some_combination_is_about_one_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three women and a man in one block, four men and no woman in the other: women less first block is one man."""
    people = [(0, ("female", "25-34"))] * 3 + [(0, ("male", "25-34"))] + [(1, ("male", "25-34"))] * 4
    parts = choose_parts(by_block(people), least=3)
    assert parts
    assert ("female", "male") in parts.genders
    monkeypatch.setattr(week_parts, "are_cuts_wide", lambda cells, *, least: True)
    parts = choose_parts(by_block(people), least=3)
    assert parts
    assert ("female",) in parts.genders
    assert fewest_in_any_sum(people, parts) == 1


@settings(max_examples=200, deadline=None)
@given(
    st.integers(1, 6).flatmap(
        lambda cells: st.lists(st.lists(st.integers(0, 4), min_size=cells, max_size=cells), min_size=1, max_size=5)
    ),
    st.integers(2, 6),
)
def test_cuts_are_those_that_trying_all_of_them_finds(blocks: list[list[int]], least: int) -> None:
    """Of blocks with enough people: every way to put blocks and cells on two sides."""
    blocks = [block for block in blocks if sum(block) >= least]
    if not blocks:
        return
    cuts = [
        sum(
            count
            for side, block in zip(sides, blocks, strict=True)
            for cell, count in zip(cut, block, strict=True)
            if cell != side
        )
        for cut in product((0, 1), repeat=len(blocks[0]))
        for sides in product((0, 1), repeat=len(blocks))
    ]
    by_cell = list(zip(*blocks, strict=True))
    assert are_cuts_wide(by_cell, least=least) == (not any(0 < cut < least for cut in cuts))


def are_cuts_plainly_wide(cells: Sequence[Sequence[int]], *, least: int) -> bool:
    """The same question put to all blocks and all cuts, without merging blocks or leaving cuts out."""
    left = [list(cell) for cell in cells]
    while near := next(
        ((one, other) for one, other in combinations(range(len(left)), 2) if shared(left[one], left[other]) >= least),
        None,
    ):
        rest = [cell for place, cell in enumerate(left) if place not in near]
        left = [*rest, [one + other for one, other in zip(*(left[place] for place in near), strict=True)]]
    if len(left) > week_parts.MOST_SEARCHED:
        return False
    everybody = [sum(block) for block in zip(*left, strict=True)]
    for count in range(1, len(left)):
        for chosen in combinations(left[1:], count):
            side = [sum(block) for block in zip(*chosen, strict=True)]
            if 0 < shared(side, [all_of - here for all_of, here in zip(everybody, side, strict=True)]) < least:
                return False
    return True


def shared(one: Sequence[int], other: Sequence[int]) -> int:
    return sum(map(min, one, other))


@pytest.mark.parametrize("seed", range(300))
def test_merged_blocks_and_cuts_left_out_change_no_answer(seed: int) -> None:
    """Of weeks whose blocks are about few people, among them cells of which there are too many to try all cuts."""
    random = Random(seed)
    cells, least, mixed = random.randint(1, 18), random.choice((2, 3, 5, 8)), random.choice((0.0, 0.02, 0.1, 0.3, 0.9))
    blocks = []
    for _ in range(random.randint(1, 40)):
        most = random.randrange(cells)
        people = random.randint(least, 2 * least)
        counts = Counter(random.randrange(cells) if random.random() < mixed else most for _ in range(people))
        blocks.append([counts[cell] for cell in range(cells)])
    by_cell = list(zip(*blocks, strict=True))
    assert are_cuts_wide(by_cell, least=least) == are_cuts_plainly_wide(by_cell, least=least)


def test_a_week_of_which_nearly_all_products_are_tried_takes_no_seconds() -> None:
    """Nearly all blocks are of people alike. Without merging blocks it takes 7 s of a processor, now 0.1 s."""
    random = Random(1)
    traits = list(product(GENDERS, AGES))
    people: People = []
    for block in range(672):
        most = random.choice(traits)
        people += [
            (block, most if random.random() > 0.002 else random.choice(traits)) for _ in range(random.randint(5, 10))
        ]
    began = process_time()
    assert choose_parts(by_block(people), least=5)
    assert process_time() - began < 1.5


def test_many_people_are_told_by_every_gender_and_age() -> None:
    everybody = dict.fromkeys(product(GENDERS, AGES), 5)
    parts = choose_parts([everybody] * 3, least=5)
    assert parts == WeekParts(tuple((one,) for one in GENDERS), tuple((one,) for one in AGES))


def test_what_nobody_is_stands_by_itself_and_few_people_have_no_parts() -> None:
    parts = choose_parts([{("female", "25-34"): 4, ("male", "35-44"): 2}], least=5)
    ages = (("0-14",), ("15-24",), ("25-34", "35-44"), ("45-54",), ("55-64",), ("65+",), ("?",))
    assert parts == WeekParts((("?",), ("female", "male")), ages)
    assert choose_parts([{("female", "25-34"): 4}], least=5) is None
    assert choose_parts([], least=5) is None


def test_weeks_are_joined_to_the_finest_parts_that_are_sums_of_each() -> None:
    one, other = (("?", "female"), ("male",)), (("?",), ("female",), ("male",))
    assert join_partitions([one, other], GENDERS) == one
    assert join_partitions([one, (("?",), ("female", "male"))], GENDERS) == (("?", "female", "male"),)
    assert join_partitions([], GENDERS) == other
