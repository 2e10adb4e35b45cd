"""An adversary who solves for people what the data endpoint answers: finds what is there, and nothing with blocks."""

import asyncio
import random

import pytest

from bench.privacy.differences.attack import AttackCounts, open_attack
from bench.privacy.differences.fingerprint import CODES, Fingerprints, Unexplained, codes_of, dress
from bench.privacy.differences.linear_system import AnswerSystem
from onlooker_pipeline.visits.visit import Visit
from testkit.oracle import Thresholds, compute_figures

pytest_plugins = ["migrated"]

KNOWN = Thresholds(senior_age=50, gender_above=0.5, age_above=0.5)
SEEDS = list(range(7, 39))
PERSONS = tuple(range(CODES))


def answers(*sets: set[int]) -> list[int]:
    return [sum(1 << code for code in one) for one in sets]


def test_a_difference_of_two_answers_tells_of_one() -> None:
    system = AnswerSystem(answers({0, 1, 2, 3}, {0, 1, 2}), PERSONS)
    assert system.find_sum(3) == frozenset({3})


def test_a_combination_of_three_answers_tells_of_one() -> None:
    system = AnswerSystem(answers({0, 1}, {1, 2}, {0, 2}), PERSONS)
    assert system.find_sum(2) in [frozenset({number}) for number in range(3)]
    assert AnswerSystem(answers({0, 1}, {1, 2}), PERSONS).find_sum(2) is None


def test_whole_groups_tell_of_no_fewer() -> None:
    system = AnswerSystem(answers({0, 1, 2}, {0, 1, 2, 3, 4, 5}, {3, 4, 5, 6, 7, 8}), PERSONS)
    assert system.find_sum(3) is None
    assert not system.small_atoms(3)
    assert system.find_sum(4)


def test_answers_that_tell_few_apart_need_not_tell_of_them() -> None:
    system = AnswerSystem(answers({0, 1, 2}, {2, 3, 4}), PERSONS)
    assert system.small_atoms(3)
    assert system.find_sum(3) is None


def test_who_is_known_already_is_subtracted() -> None:
    rows = answers({0, 1, 2, 3, 4})
    assert AnswerSystem(rows, PERSONS).find_sum(5) is None
    assert AnswerSystem(rows, PERSONS, known=0b11).find_sum(5) == frozenset({2, 3, 4})


def test_two_revisions_of_a_visit_are_one_person() -> None:
    assert AnswerSystem(answers({0, 1}), (7, 7, *PERSONS[2:])).find_sum(2) == frozenset({7})


@pytest.fixture(name="crowd")
def make_crowd() -> Fingerprints:
    chance = random.Random(3)
    blank = Visit(bytes(16), 1, "", 1, True, [(0, 1000)], [], [])
    return Fingerprints({code: dress(blank, code, chance) for code in range(CODES)}, PERSONS)


def test_any_sum_tells_who_is_in_it(crowd: Fingerprints) -> None:
    chance = random.Random(4)
    for _ in range(200):
        mask = chance.getrandbits(CODES)
        people = [crowd.visits[code] for code in codes_of(mask)]
        (bucket,) = compute_figures(people, from_us=0, to_us=10**10, edges_us=[0, 10**10], known=KNOWN)
        assert crowd.read(bucket) == mask


def test_a_sum_of_a_part_of_somebody_is_noticed(crowd: Fingerprints) -> None:
    (bucket,) = compute_figures([crowd.visits[8]], from_us=0, to_us=200_500_000, edges_us=[0, 10**10], known=KNOWN)
    with pytest.raises(Unexplained):
        crowd.read(bucket)


def test_blocks_tell_of_no_fewer_than_k(url: str) -> None:
    found = asyncio.run(attack(url, with_blocks=True))
    assert not found.findings
    assert found.worlds == len(SEEDS)
    assert found.worlds_told > len(SEEDS) // 2
    assert found.minutes_shown == found.grid_worlds > 0
    assert min(found.tables, found.quality_answers, found.in_view_answers) > 0
    assert not found.looks_told


def test_without_blocks_the_attack_succeeds_in_most_worlds(url: str) -> None:
    found = asyncio.run(attack(url, with_blocks=False))
    assert found.leaks > len(SEEDS) // 2
    assert found.looks_shown


def test_shares_that_tell_of_others_than_the_sums_are_noticed(crowd: Fingerprints) -> None:
    people = [crowd.visits[code] for code in range(4)]
    (bucket,) = compute_figures(people, from_us=0, to_us=10**10, edges_us=[0, 10**10], known=KNOWN)
    shares = {"age_read": 1.0, "gender_read": 1.0, "expression_read": 1.0}
    assert crowd.read(bucket | {"quality": shares}) == 0b1111
    with pytest.raises(Unexplained):
        crowd.read(bucket | {"quality": shares | {"age_read": 0.75}})


async def attack(url: str, *, with_blocks: bool) -> AttackCounts:
    async with open_attack(url, with_blocks=with_blocks) as attacking:
        await attacking.play(SEEDS)
    return attacking.tally
