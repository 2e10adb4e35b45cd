"""How many frames are in flight: on links that are long, narrow or both."""

import statistics

from hypothesis import given, settings
from hypothesis import strategies as st

from onlooker_client.agent.sending.link import MOST, CongestionWindow


class Way:
    """A delay, and a bottleneck that takes one frame at a time, as a throttled link or a busy server does."""

    def __init__(self, *, delay_s: float, work_s: float) -> None:
        self.delay_s, self.work_s = delay_s, work_s
        self.free_at = 0.0

    def answered_at(self, sent_at: float) -> float:
        self.free_at = max(self.free_at, sent_at + self.delay_s / 2) + self.work_s
        return self.free_at + self.delay_s / 2


def drive(way: Way, *, seconds: float, fps: float = 10.0) -> tuple[float, list[float], CongestionWindow]:
    """Frames a second, and the latencies of the second half."""
    window, under_way = CongestionWindow(), []
    latencies: list[float] = []
    turned_away = False
    for beat in range(int(seconds * fps)):
        now = beat / fps
        for done_at, sent_at in sorted(one for one in under_way if one[0] <= now):
            under_way.remove((done_at, sent_at))
            window.answer(done_at, done_at - sent_at, wanted_more=turned_away)
            turned_away = False
            if done_at > seconds / 2:
                latencies.append(done_at - sent_at)
        if len(under_way) < window.allowed:
            under_way.append((way.answered_at(now), now))
        else:
            turned_away = True
    return len(latencies) / (seconds / 2), latencies, window


def test_a_good_link_takes_every_frame() -> None:
    rate, latencies, _ = drive(Way(delay_s=0.02, work_s=0.03), seconds=60)
    assert rate > 9.9
    assert max(latencies) < 0.1


def test_a_long_link_is_filled() -> None:
    rate, latencies, window = drive(Way(delay_s=0.3, work_s=0.03), seconds=60)
    assert window.allowed >= 3
    assert rate > 8.0
    assert max(latencies) < 0.6


def test_a_narrow_link_stays_fresh() -> None:
    rate, latencies, window = drive(Way(delay_s=0.02, work_s=0.4), seconds=120)
    assert window.allowed <= 2
    assert rate > 0.8 / 0.4
    assert max(latencies) < 1.3


@settings(max_examples=60, deadline=None)
@given(delay_s=st.floats(0.0, 1.0), work_s=st.floats(0.005, 0.6))
def test_any_steady_link_is_used_well_and_stays_fresh(delay_s: float, work_s: float) -> None:
    rate, latencies, window = drive(Way(delay_s=delay_s, work_s=work_s), seconds=120)
    assert 1 <= window.allowed <= MOST
    one_by_one = 1.0 / (delay_s + work_s)
    assert rate >= min(9.0, 0.6 * one_by_one)
    assert statistics.median(latencies) <= max(2.5 * (delay_s + work_s), 0.4)
    assert max(latencies) <= max(3.2 * (delay_s + work_s), 0.6) + 0.2


@settings(max_examples=100, deadline=None)
@given(latencies=st.lists(st.tuples(st.floats(0.001, 20.0), st.booleans()), max_size=200))
def test_it_always_allows_one_and_never_many(latencies: list[tuple[float, bool]]) -> None:
    window, now = CongestionWindow(), 0.0
    for latency_s, wanted_more in latencies:
        now += latency_s
        window.answer(now, latency_s, wanted_more=wanted_more)
        assert 1 <= window.allowed <= MOST
