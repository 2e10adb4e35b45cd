"""Log lines: for people, for machines, and not repeated forever."""

import io
import json
from datetime import datetime

import pytest

from onlooker_client.agent.frame_counts import Counts
from onlooker_client.agent.status import log
from onlooker_client.agent.status.log import AGAIN_S, AgentLog, LogLevel
from onlooker_client.terminal import Terminal


class Screen(io.StringIO):
    """Text that believes to be a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def journal(out: io.StringIO, **options: object) -> AgentLog:
    return AgentLog(Terminal.of(out), **options)  # type: ignore[arg-type]


def test_a_line_has_a_moment_with_offset_a_level_and_words() -> None:
    out = io.StringIO()
    journal(out).info("camera_opened", "camera opened: USB camera 0, 640x480")
    moment, level, text = out.getvalue().rstrip("\n").split(" ", 2)
    assert datetime.fromisoformat(moment).utcoffset() is not None
    assert (level, text) == ("INFO", "camera opened: USB camera 0, 640x480")


def test_a_text_with_line_breaks_stays_one_line() -> None:
    out = io.StringIO()
    journal(out).warning("odd", "one\ntwo\r\n  three")
    assert out.getvalue().count("\n") == 1


def test_json_lines_have_the_facts_beside_the_words() -> None:
    out = io.StringIO()
    journal(out, as_json=True).warning("offline", "away\nfor now", reason="timed_out")
    said = json.loads(out.getvalue())
    assert (said["level"], said["event"], said["reason"]) == ("warning", "offline", "timed_out")
    assert datetime.fromisoformat(said["time"])


def test_quiet_has_warnings_only_and_verbose_all() -> None:
    for least, expected in ((LogLevel.WARNING, 1), (LogLevel.INFO, 2), (LogLevel.DEBUG, 3)):
        out = io.StringIO()
        one = journal(out, least=least)
        one.debug("a", "a")
        one.info("b", "b")
        one.warning("c", "c")
        assert len(out.getvalue().splitlines()) == expected


def test_the_same_warning_comes_again_only_after_a_while_or_when_it_was_over() -> None:
    out, now = io.StringIO(), [0.0]
    one = journal(out, clock=lambda: now[0])
    for _ in range(100):
        one.warn_once("offline", "away")
    now[0] += AGAIN_S
    one.warn_once("offline", "away")
    one.forget()
    one.warn_once("offline", "away")
    assert len(out.getvalue().splitlines()) == 3


def test_a_reader_that_has_gone_stops_nothing() -> None:
    out = io.StringIO()
    one = journal(out)
    out.close()
    one.warning("offline", "away")


def test_in_a_terminal_the_status_stays_beneath_the_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")  # one that writes a line again
    screen = Screen()
    one = journal(screen)
    one.show_status("running")
    one.info("a", "something happened")
    shown = screen.getvalue().replace("\x1b[90m", "").replace("\x1b[0m", "")
    assert shown.endswith("something happened\n\r\x1b[2Krunning")
    one.close()
    assert screen.getvalue().endswith("\r\x1b[2K")


def test_in_a_file_there_is_no_status() -> None:
    out = io.StringIO()
    journal(out).show_status("running")
    assert out.getvalue() == ""


def test_durations_and_drops_read_as_people_say_them() -> None:
    assert [log.format_duration(s) for s in (0.4, 59.4, 192, 3600, 100 * 3600)] == [
        "0 s",
        "59 s",
        "3 min 12 s",
        "1 h 0 min",
        "4 days 4 h",
    ]
    counts = Counts(
        grabbed=2000, idle=0, answered=80, dropped={"busy": 20, "timed_out": 1900}, in_flight=0, sent_bytes=1
    )
    assert log.format_summary(counts, 200).endswith("2,000 frames, 80 answered; dropped: 1,900 timed_out, 20 busy")
