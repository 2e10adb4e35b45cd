"""Choosing a worker: every gateway alike, evenly, and with few moves when one comes or goes."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from onlooker.bus.worker_announcement import Announcement
from onlooker.gateway.engine.workers import LiveWorker, _hash


def worker(name: str) -> LiveWorker:
    return LiveWorker(instance=name, name_hash=_hash(name), subjects={}, seen_at=0.0, said=Announcement(name))


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
