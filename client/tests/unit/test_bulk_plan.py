"""Moments and positions as people write them, and the bar that shows how far it is."""

import io
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker_client.bulk.plan import VideoPlan, check_times, clock, place_in_time, read_seconds
from onlooker_client.bulk.progress import Progress
from onlooker_client.bulk.report import resume_command
from onlooker_client.errors import BadArgument
from onlooker_client.moments import read_moment
from onlooker_client.terminal import Terminal

NOW = datetime(2026, 11, 15, 12, tzinfo=timezone.utc)
PLAN = VideoPlan(Path("x.mp4"), NOW - timedelta(hours=2), 3600.0, 0.0)
offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.datetimes(timezones=offsets), st.sampled_from(["auto", "minutes", "seconds", "milliseconds"]))
def test_moments_are_read_as_python_writes_them(moment: datetime, how: str) -> None:
    text = moment.isoformat(timespec=how)
    assert read_moment(text) == datetime.fromisoformat(text)


@pytest.mark.parametrize(
    "text", ["2026-11-01T09:00+01:00", "2026-11-01T09:00:00+0100", "2026-11-01 09:00+01", "2026-11-01T08:00:00.000Z"]
)
def test_one_moment_is_written_in_many_ways(text: str) -> None:
    assert read_moment(text) == datetime(2026, 11, 1, 8, tzinfo=timezone.utc)


@pytest.mark.parametrize("text", ["", "now", "2026-13-01T09:00Z", "2026-11-01T09:00+1", "01.11.2026 09:00", "9:00"])
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_moment(text)


def test_an_end_places_the_video_as_a_start_does() -> None:
    assert place_in_time(60.0, start=None, end="2026-11-01T09:01Z") == place_in_time(
        0.0, start="2026-11-01T09:00Z", end=None
    )


def test_an_end_is_no_use_where_the_length_is_not_known() -> None:
    with pytest.raises(BadArgument, match="Give --start"):
        place_in_time(0.0, start=None, end="2026-11-01T09:01Z")


def test_a_time_without_an_offset_is_refused_with_the_offset_of_this_machine() -> None:
    with pytest.raises(BadArgument, match=r"--start 2026-11-01T09:00[+-]\d\d:\d\d$"):
        place_in_time(60.0, start="2026-11-01T09:00", end=None)


def test_a_video_of_the_last_minutes_is_not_of_the_future() -> None:
    check_times(replace(PLAN, start=NOW - timedelta(minutes=58)), now=NOW, retention_days=None)
    with pytest.raises(BadArgument, match="future"):
        check_times(replace(PLAN, start=NOW), now=NOW, retention_days=None)


def test_what_is_older_than_the_stream_keeps_visits_is_refused() -> None:
    check_times(PLAN, now=NOW, retention_days=1)
    with pytest.raises(BadArgument, match="for 1 days"):
        check_times(replace(PLAN, start=NOW - timedelta(days=2)), now=NOW, retention_days=1)


@given(st.integers(0, 400_000))
def test_positions_are_read_as_they_are_shown(seconds: int) -> None:
    assert read_seconds(clock(seconds)) == seconds


@pytest.mark.parametrize("text", ["-1", "1:x", "", "nan", "inf"])
def test_what_is_no_position_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_seconds(text)


@pytest.mark.parametrize("given_before", [[], ["--from", "3"], ["--from=3"]])
def test_the_command_to_go_on_is_the_same_from_another_position(given_before: list[str]) -> None:
    words = ["analyse", *given_before, "my video.mp4", "--start", "2026-11-01T09:00Z"]
    expected = "onlooker-agent analyse 'my video.mp4' --start 2026-11-01T09:00Z --from 12.30"
    assert resume_command(words, 12.3) == expected


def played(terminal: Terminal, *, to_s: float, frames: int = 300) -> Progress:
    """Frames at thirty a second of a video with ten."""
    now = [0.0]
    progress = Progress(terminal, from_s=0.0, to_s=to_s, now=lambda: now[0])
    for number in range(frames):
        now[0] += 1 / 30
        progress.advance(number / 10, people=2)
    return progress


def test_a_terminal_has_one_line_with_everything_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in ("80", "100"):
        monkeypatch.setenv("COLUMNS", columns)
        out = io.StringIO()
        played(Terminal(out, is_terminal=True, has_colour=False, has_unicode=True), to_s=60.0)
        lines = out.getvalue().split("\r\x1b[2K")
        assert "\n" not in out.getvalue()
        assert max(map(len, lines)) < int(columns)
        for part in ("50%", "0:29 of 1:00", "30 frames/s", "3.0 x", "0:10 left", "2 people"):
            assert part in lines[-1]


def test_a_narrow_terminal_is_not_overrun(monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in (20, 40, 60):
        monkeypatch.setenv("COLUMNS", str(columns))
        out = io.StringIO()
        played(Terminal(out, is_terminal=True, has_colour=False, has_unicode=True), to_s=60.0)
        assert max(map(len, out.getvalue().split("\r\x1b[2K"))) < columns


def test_a_pipe_gets_a_line_every_ten_seconds() -> None:
    out = io.StringIO()
    played(Terminal(out, is_terminal=False, has_colour=False, has_unicode=False), to_s=300.0, frames=930)
    lines = out.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("10% 0:30 of 5:00")


def test_a_video_of_unknown_length_has_no_bar_and_no_time_left() -> None:
    out = io.StringIO()
    played(Terminal(out, is_terminal=True, has_colour=False, has_unicode=True), to_s=0.0)
    last = out.getvalue().split("\r\x1b[2K")[-1]
    assert "%" not in last
    assert "left" not in last
    assert "0:29" in last
