"""The oracle of `just fuzz-visits`: the newest revision counts, and a row more, less or different is noticed."""

import random
import time

from bench.abuse.visits.books import TakenItems, count_differences, expected_rows
from bench.abuse.visits.items import HonestDevice, hostile_slot, hostile_visit
from onlooker.gateway.visit_batch import BatchTimes, DeviceBatch, check_slot, check_visit, decode_batch
from onlooker.http.answers import encode_json


def batch_of(visits: list[object], slots: list[object]) -> DeviceBatch:
    return decode_batch(encode_json({"device": "0" * 32, "visits": visits, "coverage": slots}))


def test_the_newest_revision_of_a_device_counts_in_whatever_order() -> None:
    one, other = HonestDevice(0, 1_800_000_000), HonestDevice(1, 1_800_000_000)
    taken = TakenItems()
    for revision in (2, 5, 1):
        taken.add(one.id, [one.visit(3, revision)], [one.slot(4, revision)])
    taken.add(other.id, [], [one.slot(4, 2)])
    rows = expected_rows(taken)
    assert [row[0] for row in rows["visits"].values()] == [5]
    assert list(rows["coverage"].values()) == [7 * 120.5]


def test_each_difference_is_noticed() -> None:
    expected = {1: 10.0, 2: (1, "a", 0.5)}
    assert count_differences(expected, {1: 10.0 + 1e-9, 2: (1, "a", 0.5)}) == 0
    assert count_differences(expected, {1: 10.01, 2: (1, "b", 0.5)}) == 2
    assert count_differences(expected, {1: 10.0}) == 1
    assert count_differences(expected, {**expected, 3: 0}) == 1


def test_devices_tell_the_truth_and_lies_as_they_say() -> None:
    now_s = int(time.time())
    times, device = BatchTimes(now_s + 60.0, 365), HonestDevice(2, now_s)
    honest = batch_of(
        [device.visit(place, place % 6 + 1) for place in range(50)],
        [device.slot(place, place % 6 + 1) for place in range(50)],
    )
    assert not any(check_visit(one, times) for one in honest.visits)
    assert not any(check_slot(one, times) for one in honest.coverage)
    for number in range(300):
        source = random.Random(number)
        visit, slot = hostile_visit(source, now_s), hostile_slot(source, now_s)
        told = batch_of([visit.told], [slot.told])
        assert (check_visit(told.visits[0], times) or ("",))[0] == visit.code
        assert (check_slot(told.coverage[0], times) or ("",))[0] == slot.code
