"""Every frame is counted once, and no more bytes go out than were allowed."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from onlooker_client.agent.frame_counts import Drop, Tally
from onlooker_client.agent.sending.link import Bandwidth


@given(ends=st.lists(st.sampled_from(["idle", "answer", "in flight", *Drop])))
def test_every_frame_that_was_grabbed_is_counted_once(ends: list[str | Drop]) -> None:
    tally = Tally()
    for end in ends:
        if end == "idle":
            tally.skip_idle()
        elif end == "answer":
            tally.send(10)
            tally.answer()
        elif end == "in flight":
            tally.send(10)
        elif isinstance(end, Drop):
            tally.drop(end)
        assert tally.read().adds_up
    counts = tally.read()
    assert counts.grabbed == len(ends)
    assert counts.dropped == Counter(end.value for end in ends if isinstance(end, Drop))


@settings(deadline=None)
@given(
    limit=st.floats(10_000, 1_000_000),
    sizes=st.lists(st.integers(1_000, 60_000), min_size=1, max_size=300),
    fps=st.floats(1.0, 60.0),
)
def test_no_second_has_more_bytes_than_allowed_and_one_frame(limit: float, sizes: list[int], fps: float) -> None:
    bandwidth, sent = Bandwidth(limit), []
    for beat, size in enumerate(sizes):
        now = 1000 + beat / fps
        if bandwidth.has_room(now):
            bandwidth.spend(size)
            sent.append((now, size))
    for began, _ in sent:
        within = sum(size for at, size in sent if began <= at < began + 1)
        assert within <= 2 * limit + 60_000  # what the bucket held, and what came in
    if len(sizes) / fps > 10:
        assert sum(size for _, size in sent) <= limit * (len(sizes) / fps + 1) + 60_000


def test_zero_means_no_limit() -> None:
    bandwidth = Bandwidth(0)
    for _ in range(100):
        assert bandwidth.has_room(5.0)
        bandwidth.spend(10**9)


def test_a_cap_halves_the_rate_where_frames_are_twice_too_large() -> None:
    bandwidth, sent = Bandwidth(100_000), 0
    for beat in range(600):
        if bandwidth.has_room(beat / 10):
            bandwidth.spend(20_000)
            sent += 1
    assert 290 <= sent <= 310
