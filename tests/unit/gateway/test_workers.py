"""Choosing a worker: every gateway alike, evenly, and with few moves when one comes or goes."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from onlooker.bus.worker_announcement import Announcement
from onlooker.gateway.engine.workers import LiveWorker, _hash


def worker(name: str) -> LiveWorker:
    return instance_of(name, name)


def instance_of(name: str, instance: str) -> LiveWorker:
    hashes = {"name_hash": _hash(name), "instance_hash": _hash(instance)}
    return LiveWorker(instance=instance, **hashes, subjects={}, seen_at=0.0, said=Announcement(name))


def chosen(workers: list[LiveWorker], session: str) -> str:
    return max(workers, key=lambda one: one.rank(_hash(session))).instance


@given(st.sets(st.text(min_size=1), min_size=1, max_size=8), st.text())
def test_the_choice_does_not_depend_on_the_order_workers_answered_in(names: set[str], session: str) -> None:
    workers = [worker(name) for name in sorted(names)]
    assert chosen(workers, session) == chosen(workers[::-1], session)


@given(st.sets(st.text(min_size=1), min_size=2, max_size=8), st.lists(st.text(), max_size=20))
def test_when_a_worker_goes_only_its_own_sessions_move(names: set[str], sessions: list[str]) -> None:
    workers = [worker(name) for name in sorted(names)]
    gone, *left = workers
    for session in sessions:
        before = chosen(workers, session)
        if before != gone.instance:
            assert chosen(left, session) == before


def test_sessions_spread_evenly() -> None:
    workers = [worker(f"worker-{number}") for number in range(1, 6)]
    counts = Counter(chosen(workers, f"1.scene_analysis-1.{number:032x}") for number in range(5000))
    assert len(counts) == 5
    assert max(counts.values()) < 1.15 * min(counts.values())


def test_workers_of_one_name_share_its_sessions_and_no_others_move() -> None:
    """Two machines were given the same name: both work."""
    alone, twins = [worker("a"), worker("b")], [worker("a"), instance_of("b", "b1"), instance_of("b", "b2")]
    moves = Counter((chosen(alone, f"{number:032x}"), chosen(twins, f"{number:032x}")) for number in range(4000))
    assert set(moves) == {("a", "a"), ("b", "b1"), ("b", "b2")}
    assert max(moves.values()) < 2.5 * min(moves.values())
