"""The oracle of `just fleet` finds what is lost, strange or counted twice, and what simulated devices make is right."""

from collections import Counter
from typing import Any

import pytest

from bench.fleet.expectation import StreamExpectation
from bench.fleet.made_results import ROUND, MadeResults, MadeSession
from bench.fleet.oracle import StoredNumbers, compare_numbers
from onlooker.gateway.visit_batch import BatchTimes, check_visit, decode_batch

FRAME_MS = 10_000
BEGAN_MS = 1_800_000_000_000


def made_box(frames: int, *, waiting: int = 0, waiting_ms: int = 0) -> dict[str, Any]:
    results = MadeResults("box")
    session = MadeSession(results)
    for number in range(frames):
        session.frame(BEGAN_MS + number * FRAME_MS)
    visits = list(results.visits)
    return {
        "frames": results.frames,
        "watched_ms": results.watched_ms,
        "visits": results.visits,
        "waiting": visits[len(visits) - waiting :],
        "waiting_watched_ms": waiting_ms,
        "dropped": {},
    }


def found_in(box: dict[str, Any], stored: StoredNumbers) -> dict[str, int]:
    findings, _ = compare_numbers({"box": box}, {"stream": stored}, {"stream": StreamExpectation(1, ["box"])})
    return dict(findings.counts)


def stored_of(box: dict[str, Any], *, visits: int | None = None, watched_ms: int | None = None) -> StoredNumbers:
    kept = Counter(list(box["visits"])[:visits])
    return StoredNumbers(kept, kept.total(), box["watched_ms"] if watched_ms is None else watched_ms)


def test_all_that_was_made_is_stored() -> None:
    box = made_box(40)
    assert len(box["visits"]) == 40 // ROUND
    assert found_in(box, stored_of(box)) == {}


def test_a_lost_visit_is_found_unless_the_journal_of_its_box_has_it() -> None:
    box = made_box(40)
    assert found_in(box, stored_of(box, visits=9)) == {"visits_lost": 1}
    assert found_in(made_box(40, waiting=1), stored_of(box, visits=9)) == {}


def test_visits_twice_strange_and_sums_that_differ_are_found() -> None:
    box = made_box(40)
    stored = stored_of(box)
    first = next(iter(box["visits"]))
    assert found_in(box, StoredNumbers(stored.visits + Counter([first]), 11, stored.watched_ms)) == {"visits_twice": 1}
    assert found_in(box, StoredNumbers(stored.visits + Counter(["0"]), 11, stored.watched_ms)) == {"visits_strange": 1}
    assert found_in(box, StoredNumbers(stored.visits, 11, stored.watched_ms)) == {"sums_wrong": 1}


@pytest.mark.parametrize(("watched_ms", "wrong"), [(39_000, "coverage_lost"), (41_000, "coverage_twice")])
def test_a_second_of_coverage_too_few_or_too_many_is_found(watched_ms: int, wrong: str) -> None:
    box = made_box(40)
    assert found_in(box, stored_of(box, watched_ms=watched_ms)) == {wrong: 1}


def test_a_slot_that_waits_may_be_stored_in_any_earlier_sum() -> None:
    box = made_box(40, waiting_ms=10_000)
    assert found_in(box, stored_of(box, watched_ms=30_000)) == {}
    assert found_in(box, stored_of(box, watched_ms=29_000)) == {"coverage_lost": 1}


def test_a_session_goes_on_after_a_restart_with_the_same_visit() -> None:
    results = MadeResults("box")
    session = MadeSession(results)
    frames = [session.frame(BEGAN_MS), session.frame(BEGAN_MS + FRAME_MS)]
    resumed = MadeSession.resumed(results, frames[-1].state)
    last = resumed.frame(BEGAN_MS + 2 * FRAME_MS)
    (begun,), (ended,) = frames[1].visits, last.visits
    assert begun["id"] == ended["id"]
    assert (begun["ended"], ended["ended"]) == (False, True)
    assert begun["present"][0][0] == ended["present"][0][0] == BEGAN_MS
    assert results.visits == {begun["id"]: 2}


def test_the_server_takes_what_is_made() -> None:
    import msgspec

    session = MadeSession(MadeResults("box"))
    visits = [visit for number in range(8) for visit in session.frame(BEGAN_MS + number * FRAME_MS).visits]
    batch = decode_batch(msgspec.json.encode({"device": "1b671a64-40d5-491e-99b0-da01ff1f3341", "visits": visits}))
    times = BatchTimes(now_s=BEGAN_MS / 1000 + 600, retention_days=90)
    assert [check_visit(visit, times) for visit in batch.visits] == [None] * len(visits)
