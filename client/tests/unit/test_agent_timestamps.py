"""Timestamps of frames while the device's clock is right, is set right, or was wrong by far."""

import time
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker_client.agent.capture import timestamps
from onlooker_client.agent.capture.timestamps import JUMP_S, Timestamps, format_timestamp

WALL_S = 1_800_000_000.0


def stamps_of(steps: list[tuple[float, float]]) -> list[tuple[float, float, float]]:
    """For each frame (seconds since the one before, how far the clock was set): wall, monotonic, stamp."""
    stamps, wall_s, monotonic_s, out = Timestamps(), WALL_S, 500.0, []
    for elapsed_s, set_s in steps:
        wall_s += elapsed_s + set_s
        monotonic_s += elapsed_s
        out.append((wall_s, monotonic_s, stamps.stamp(wall_s, monotonic_s)))
    return out


def test_with_a_steady_clock_stamps_are_the_clock() -> None:
    for wall_s, _, stamp in stamps_of([(0.1, 0.0)] * 100):
        assert abs(stamp - wall_s) < 0.001


def test_a_clock_set_back_by_seconds_never_takes_a_stamp_back() -> None:
    seen = stamps_of([(0.1, 0.0)] * 20 + [(0.1, -3.0)] + [(0.1, 0.0)] * 1200)
    stamps = [stamp for _, _, stamp in seen]
    assert all(later > earlier for earlier, later in zip(stamps, stamps[1:]))
    spans = [later - earlier for earlier, later in zip(stamps, stamps[1:])]
    assert min(spans) > 0.09
    assert max(spans) < 0.11
    assert abs(stamps[-1] - seen[-1][0]) < 0.002  # it has caught up after two minutes


def test_a_clock_that_was_wrong_by_years_is_believed_at_once() -> None:
    years = 3 * 365 * 86400.0
    for by_s in (years, -years, JUMP_S + 1, -JUMP_S - 1):
        seen = stamps_of([(0.1, 0.0)] * 5 + [(0.1, by_s)] + [(0.1, 0.0)] * 5)
        assert all(abs(stamp - wall_s) < 0.002 for wall_s, _, stamp in seen)


@given(steps=st.lists(st.tuples(st.floats(0.001, 5.0), st.one_of(st.just(0.0), st.floats(-14.0, 14.0))), max_size=60))
def test_stamps_as_texts_rise_strictly_unless_the_clock_was_wrong_by_far(steps: list[tuple[float, float]]) -> None:
    stamps, texts, wall_s, monotonic_s = Timestamps(), [], WALL_S, 500.0
    for elapsed_s, set_s in steps:
        wall_s += elapsed_s + set_s
        monotonic_s += elapsed_s
        before = stamps._ahead_s
        stamp = stamps.stamp(wall_s, monotonic_s)
        moment = datetime.fromisoformat(format_timestamp(stamp))
        if texts and abs(wall_s - monotonic_s - before) <= JUMP_S:
            assert moment > texts[-1]
        texts.append(moment)


@given(milliseconds=st.integers(0, 4_000_000_000_000))
def test_the_text_is_that_very_moment(milliseconds: int) -> None:
    moment = datetime.fromtimestamp(milliseconds / 1000).astimezone()
    assert datetime.fromisoformat(format_timestamp(milliseconds / 1000)) == moment.replace(
        microsecond=milliseconds % 1000 * 1000
    )


def test_the_text_follows_the_offset_of_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Vienna")
    time.tzset()
    timestamps._texts_of.cache_clear()
    try:
        assert format_timestamp(1_792_889_999.999) == "2026-10-25T02:59:59.999+02:00"  # the last moment of summer time
        assert format_timestamp(1_792_890_000.0) == "2026-10-25T02:00:00.000+01:00"
    finally:
        monkeypatch.undo()
        time.tzset()
        timestamps._texts_of.cache_clear()


def test_the_text_has_milliseconds_and_the_offset() -> None:
    moment = datetime.fromisoformat(format_timestamp(WALL_S + 0.1234))
    assert moment.utcoffset() is not None
    assert abs(moment.timestamp() - (WALL_S + 0.123)) < 0.0011
    assert moment.microsecond % 1000 == 0
    assert abs(moment - datetime.fromtimestamp(WALL_S).astimezone()) < timedelta(seconds=1)
