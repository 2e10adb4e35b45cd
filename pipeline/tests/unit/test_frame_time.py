"""When a frame was taken: by its timestamp, by its arrival, and never before the one it follows."""

from datetime import UTC, datetime
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker_pipeline.frame_time import (
    LATE_AT_MOST_MS,
    FrameClock,
    FrameOrder,
    count_frame,
    read_timestamp_us,
    time_frame,
)

NOON_MS = 1_800_000_000_000
Told = int | None


def play(*frames: tuple[Told, int]) -> list[tuple[int, FrameOrder]]:
    """Moment and order of frames with what each says and when it arrives, in milliseconds after noon."""
    clock: FrameClock | None = None
    timed = []
    for told_ms, arrived_ms in frames:
        told_us = None if told_ms is None else 1000 * (NOON_MS + told_ms)
        frame = time_frame(told_us, 1000 * (NOON_MS + arrived_ms), clock)
        timed.append((frame.at_ms - NOON_MS, frame.order))
        clock = frame.clock
    return timed


def moments(*frames: tuple[Told, int]) -> list[int]:
    timed = play(*frames)
    assert all(order is FrameOrder.NEXT for _, order in timed)
    return [at_ms for at_ms, _ in timed]


def test_timestamps_that_rise_are_the_moments() -> None:
    assert moments((0, 50), (100, 90), (200, 4_000), (7_200, 4_001)) == [0, 100, 200, 7_200]


def test_without_a_timestamp_the_arrival_is_the_moment() -> None:
    assert moments((None, 0), (None, 110), (None, 190)) == [0, 110, 190]


def test_two_that_arrive_in_one_millisecond_or_over_two_gateways_are_both_looked_at() -> None:
    assert moments((None, 100), (None, 100), (None, 95), (None, 200)) == [100, 101, 102, 200]


@pytest.mark.parametrize("ahead_ms", [-3_600_000, 0, 240_000])
def test_frames_stamped_alike_are_timed_by_arrival_for_minutes(ahead_ms: int) -> None:
    frames = [(ahead_ms, 100 * number) for number in range(3_000)]
    assert moments(*frames) == [ahead_ms + 100 * number for number in range(3_000)]


def test_a_clock_of_whole_seconds_is_timed_within_its_seconds() -> None:
    frames = [(100 * number // 1000 * 1000, 100 * number) for number in range(100)]
    assert moments(*frames) == [100 * number for number in range(100)]


def test_a_second_that_begins_late_follows_the_last_frame_and_is_right_again_with_the_next() -> None:
    assert moments((0, 0), (0, 1_050), (1_000, 1_100), (1_000, 1_200)) == [0, 1_050, 1_075, 1_100]


def test_a_clock_that_stood_still_and_goes_on_is_caught_up_with_at_half_the_pace() -> None:
    stood = [(0, 100 * number) for number in range(601)]
    went_on = [(100 * number, 60_000 + 100 * number) for number in range(1, 1_300)]
    timed = moments(*stood, *went_on)
    assert timed[601:604] == [60_050, 60_100, 60_150]
    assert timed[-1] == went_on[-1][0]


@pytest.mark.parametrize(
    ("ahead_ms", "order"),
    [
        (1, FrameOrder.NEXT),
        (3_600_000, FrameOrder.NEXT),
        (0, FrameOrder.NEXT),
        (-1, FrameOrder.LATE),
        (-LATE_AT_MOST_MS, FrameOrder.LATE),
        (-LATE_AT_MOST_MS - 1, FrameOrder.CLOCK_SET_BACK),
    ],
)
def test_order_of_a_frame(ahead_ms: int, order: FrameOrder) -> None:
    assert play((0, 0), (ahead_ms, 100))[1][1] is order


def test_stamps_less_than_a_millisecond_apart_are_set_a_millisecond_apart() -> None:
    """People are followed in milliseconds; video time is counted exactly."""
    first = time_frame(10_000_000_400, 0, None)
    second = time_frame(10_000_000_600, 100, first.clock)
    third = time_frame(10_033_333_733, 200, second.clock)
    assert [frame.at_us for frame in (first, second, third)] == [10_000_000_400, 10_000_001_400, 10_033_333_733]
    assert [frame.at_ms for frame in (first, second, third)] == [10_000_000, 10_000_001, 10_033_334]


def test_a_late_frame_does_not_move_the_clock() -> None:
    assert play((5_000, 0), (4_000, 100), (5_100, 200)) == [
        (5_000, FrameOrder.NEXT),
        (4_000, FrameOrder.LATE),
        (5_100, FrameOrder.NEXT),
    ]


def test_after_the_clock_was_set_back_the_session_goes_on_from_there() -> None:
    back = -60_000
    assert play((0, 0), (back, 100), (back, 200)) == [
        (0, FrameOrder.NEXT),
        (back, FrameOrder.CLOCK_SET_BACK),
        (back + 100, FrameOrder.NEXT),
    ]


STAMPED = st.lists(st.tuples(st.one_of(st.none(), st.integers(-30, 30)), st.integers(-500, 5_000)), max_size=60)


@given(steps=STAMPED, coarse_ms=st.sampled_from([1, 40, 1_000]))
def test_moments_rise_until_the_clock_is_set_back(steps: list[tuple[int | None, int]], coarse_ms: int) -> None:
    """Whatever clocks say, and though gateways' clocks may differ by half a second."""
    arrived_ms, frames = 0, []
    for told, gap_ms in steps:
        arrived_ms += gap_ms
        said = None if told is None else (arrived_ms + 100 * told) // coarse_ms * coarse_ms
        frames.append((said, arrived_ms))
    last_ms: int | None = None
    for at_ms, order in play(*frames):
        if order is FrameOrder.LATE:
            continue
        if order is FrameOrder.NEXT and last_ms is not None:
            assert at_ms > last_ms
        last_ms = at_ms


@given(gaps_ms=st.lists(st.integers(20, 400), max_size=200), jitter_ms=st.integers(0, 300))
def test_whole_seconds_are_timed_to_within_a_second_and_the_jitter(gaps_ms: list[int], jitter_ms: int) -> None:
    taken_ms, frames = 0, []
    for number, gap_ms in enumerate(gaps_ms):
        taken_ms += gap_ms
        frames.append((taken_ms // 1000 * 1000, taken_ms + jitter_ms * (number % 3) // 2))
    arrived = accumulate((arrived_ms for _, arrived_ms in frames), max)  # in order, as one connection delivers them
    frames = [(told_ms, arrived_ms) for (told_ms, _), arrived_ms in zip(frames, arrived, strict=True)]
    for (_, arrived_ms), at_ms in zip(frames, moments(*frames), strict=True):
        assert abs(at_ms - arrived_ms) <= 1_000 + 2 * jitter_ms


def test_a_timestamp_counts_to_the_microsecond() -> None:
    assert read_timestamp_us({"timestamp": "2026-05-01T12:00:00.250+02:00"}, time_zone="UTC") == 1_777_629_600_250_000


@pytest.mark.parametrize(
    ("text", "zone", "utc"),
    [
        ("2026-05-01T12:00:00", "UTC", "2026-05-01T12:00:00"),
        ("2026-05-01T12:00:00.5", "Europe/Paris", "2026-05-01T10:00:00.5"),
        ("2026-01-01 12:00:00", "Europe/Paris", "2026-01-01T11:00:00"),
        ("2026-05-01T12:00:00", "Asia/Kathmandu", "2026-05-01T06:15:00"),
        ("2026-05-01T12:00:00+02:00", "Asia/Tokyo", "2026-05-01T10:00:00"),
        ("2026-05-01T12:00:00Z", "Asia/Tokyo", "2026-05-01T12:00:00"),
        ("2026-10-25T02:30:00", "Europe/Paris", "2026-10-25T00:30:00"),
        ("2026-03-29T02:30:00", "Europe/Paris", "2026-03-29T01:30:00"),
    ],
    ids=["UTC", "summer", "winter", "odd offset", "own offset", "Z", "doubled hour: the first", "skipped hour"],
)
def test_without_an_offset_the_time_is_local_to_the_stream(text: str, zone: str, utc: str) -> None:
    moment = datetime.fromisoformat(utc).replace(tzinfo=UTC)
    assert read_timestamp_us({"timestamp": text}, time_zone=zone) == round(moment.timestamp() * 1e6)


@pytest.mark.parametrize("text", ["noon", "", "2026-05-01", "20260501", "12:00", 1_777_629_600, None])
def test_what_names_no_moment_says_nothing(text: object) -> None:
    assert read_timestamp_us({"timestamp": text}, time_zone="Europe/Paris") is None
    assert read_timestamp_us({}, time_zone="Europe/Paris") is None


@given(st.floats(allow_nan=False))
def test_a_frame_counts_its_gap_between_a_thirtieth_of_a_second_and_a_second(gap_s: float) -> None:
    assert count_frame(gap_s) == min(max(gap_s, 1 / 30), 1)


def test_the_first_frame_of_a_session_counts_the_least() -> None:
    assert count_frame(None) == 1 / 30
