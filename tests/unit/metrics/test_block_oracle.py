"""The oracle of blocks says what the design says: who is told of, with whom, and from when on."""

import msgspec

from onlooker_pipeline.visits.visit import Visit
from testkit.block_oracle import EVER_US, SLOT_US, StreamGroups

DAY_SLOTS = 96
MINUTES_2_US = 120_000_000


def day_of(slot_us: int) -> int:
    return slot_us // SLOT_US // DAY_SLOTS


def person(number: int, slot: int, *, stays_s: int = 5, ended: bool = True) -> Visit:
    """Somebody interested, from a minute after the begin of a slot on."""
    begins_ms = SLOT_US // 1000 * slot + 60_000
    span = [(begins_ms, begins_ms + 1000 * stays_s)]
    return Visit(number.to_bytes(16), 1, "", 1, ended, span, span, span, gender="female", gender_confidence=0.9)


def stored(*visits: Visit) -> dict[int, list[Visit]]:
    slots: dict[int, list[Visit]] = {}
    for visit in visits:
        slots.setdefault(1000 * visit.began_ms // SLOT_US * SLOT_US, []).append(visit)
    return slots


def build(groups: StreamGroups, *visits: Visit, at_slot: float) -> list[tuple[int, int, int]]:
    """The begin and end of each block, as numbers of slots, and its people, after a pass at the begin of a slot."""
    now_us = round(at_slot * SLOT_US) + MINUTES_2_US
    groups.build(stored(*visits), now_us=now_us, watermark_us=now_us - MINUTES_2_US)
    return told(groups)


def told(groups: StreamGroups) -> list[tuple[int, int, int]]:
    return [(one.begins_us // SLOT_US, one.ends_us // SLOT_US, len(one.people)) for one in groups.blocks]


def test_a_run_is_released_when_the_next_one_is_complete() -> None:
    groups = StreamGroups(day_of, k=2)
    two = [person(1, 0), person(2, 1)]
    assert build(groups, *two, at_slot=3) == []
    assert build(groups, *two, person(3, 3), person(4, 3), at_slot=4) == [(0, 2, 2)]


def test_who_is_left_at_the_end_of_the_day_joins_the_last_run() -> None:
    groups = StreamGroups(day_of, k=2)
    people = [person(1, 0), person(2, 1), person(3, 50), person(4, 95)]
    assert build(groups, *people, at_slot=96) == [(0, 2, 2), (50, 96, 2)]
    assert build(StreamGroups(day_of, k=3), *people, at_slot=96) == [(0, 96, 4)]


def test_a_day_with_too_few_stays_untold_for_good() -> None:
    groups = StreamGroups(day_of, k=3)
    two = [person(1, 0), person(2, 1)]
    assert build(groups, *two, at_slot=96) == []
    assert build(groups, *two, person(3, 2), at_slot=97) == []


def test_an_open_visit_holds_up_its_slot_for_31_days() -> None:
    groups = StreamGroups(day_of, k=1 + 1)
    people = [person(1, 0, ended=False), person(2, 0), person(3, 1), person(4, 1), person(5, 2), person(6, 2)]
    assert build(groups, *people, at_slot=5) == []
    assert build(groups, *people, at_slot=5 + 31 * DAY_SLOTS) == [(0, 1, 2), (1, 2, 2), (2, 3, 2)]


def test_who_comes_to_a_released_block_later_is_not_in_it() -> None:
    groups = StreamGroups(day_of, k=2)
    people = [person(1, 0), person(2, 0), person(3, 1), person(4, 1)]
    build(groups, *people, at_slot=2)
    assert build(groups, *people, person(5, 0), at_slot=96) == [(0, 1, 2), (1, 2, 2)]


def test_a_block_is_told_only_where_all_its_visits_lie_inside() -> None:
    groups = StreamGroups(day_of, k=2)
    build(groups, person(1, 4), person(2, 5, stays_s=1200), at_slot=96)
    (block,) = groups.blocks
    assert block.reaches_us == 7 * SLOT_US
    edges = [0, 8 * SLOT_US]
    assert groups.told_in(0, 8 * SLOT_US, edges) == {0: list(block.people)}
    assert groups.told_in(0, 7 * SLOT_US - 1, edges) == {}
    assert groups.told_in(4 * SLOT_US + 1, 8 * SLOT_US, edges) == {}
    assert groups.told_in(0, 8 * SLOT_US, [0, 5 * SLOT_US, 8 * SLOT_US]) == {}


def test_raising_k_from_1_puts_what_was_told_into_blocks_and_nobody_who_comes_later() -> None:
    groups = StreamGroups(day_of)
    known = [person(1, 0), person(2, 1)]
    groups.change_k(2, stored(*known))
    assert told(groups) == [(0, 2, 2)]
    assert groups.is_grouped(0)
    assert build(groups, *known, person(3, 1), person(4, 1), person(5, 2), person(6, 2), at_slot=96) == [
        (0, 2, 2),
        (2, 3, 2),
    ]


def test_lowering_k_to_1_tells_singly_what_is_in_no_block() -> None:
    groups = StreamGroups(day_of, k=2, grouped_until_us=EVER_US)
    people = [person(1, 0), person(2, 0), person(3, 1), person(4, 1)]
    build(groups, *people, at_slot=3)
    groups.change_k(1, stored(*people))
    assert groups.is_grouped(0)
    assert not groups.is_grouped(SLOT_US)


def test_a_deleted_range_takes_every_block_that_it_touches() -> None:
    groups = StreamGroups(day_of, k=2)
    build(groups, person(1, 0), person(2, 2), person(3, 4), person(4, 5, stays_s=1200), at_slot=96)
    groups.forget(3 * SLOT_US, 4 * SLOT_US)
    assert told(groups) == [(0, 3, 2), (4, 6, 2)]
    groups.forget(6 * SLOT_US, 7 * SLOT_US)
    assert told(groups) == [(0, 3, 2)]


def test_a_block_is_rounded_as_a_whole() -> None:
    groups = StreamGroups(day_of, k=2)
    odd = [msgspec.structs.replace(person(number, 0), still=[(60_000, 63_400)]) for number in (1, 2)]
    build(groups, *odd, at_slot=96)
    (block,) = groups.blocks
    assert sum(one.still_us + one.rounding.still_us for one in block.people) == 7_000_000
