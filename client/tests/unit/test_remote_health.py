"""Figures of a health report: what the machine tells, what it does not, and what a report may weigh."""

import json
from pathlib import Path

import pytest
from small_console import small_console

from onlooker_client.agent.frame_counts import Tally
from onlooker_client.agent.remote.console_link import REPORT_LIMIT_BYTES, ConsoleLink, _compare_clocks, _pause
from onlooker_client.agent.remote.health_report import AgentFacts, LineHealth, build_report
from onlooker_client.agent.remote.machine import read_disk, read_memory_mb, read_temperature_c
from onlooker_client.agent.remote.options import TRIAL_S, read_trial_s
from onlooker_client.agent.remote.state_file import TrialOutcome
from onlooker_client.errors import ConfigError, LinkError

JOURNAL = {"waiting_visits": 3, "journal_bytes": 4096, "dropped": {"visit": {"full": 2}, "coverage": {"old": 5}}}


def facts(**others: object) -> AgentFacts:
    known: dict[str, object] = {
        "state": "running",
        "uptime_s": 60.4,
        "camera_name": "camera 0",
        "camera_state": "open",
        "camera_since_s": 50.0,
        "condition": "fine",
        "light": 120.26,
        "counts": Tally().read(),
        "latency_s": 0.0804,
        "journal": None,
    }
    return AgentFacts(**{**known, **others})  # type: ignore[arg-type]


def test_the_hottest_sensor_counts_and_broken_ones_do_not(tmp_path: Path) -> None:
    for number, text in enumerate(("41500", "63250", "-274000", "999999", "nonsense", "")):
        (tmp_path / f"thermal_zone{number}").mkdir()
        (tmp_path / f"thermal_zone{number}" / "temp").write_text(text)
    (tmp_path / "thermal_zone9").mkdir()
    assert read_temperature_c(tmp_path) == 63.2
    assert read_temperature_c(tmp_path / "none") is None


def test_a_folder_that_is_not_there_yet_has_the_disk_of_its_parent(tmp_path: Path) -> None:
    free_mb, total_mb = read_disk(tmp_path / "a" / "b")
    assert free_mb is not None
    assert total_mb is not None
    assert 0 < free_mb <= total_mb
    assert read_memory_mb(tmp_path / "statm") is None


def test_a_journal_tells_what_waits_and_what_was_lost(tmp_path: Path) -> None:
    outcome = TrialOutcome("1-a", "applied", "x" * 2000)
    said = build_report(
        facts(journal=JOURNAL, is_computed_here=True), outcome, LineHealth(0.5, 0.25), kbytes_s=None, folder=tmp_path
    )
    assert said["journal"] == {"waiting": 3, "bytes": 4096, "lost": 7}
    assert said["line"] == {"latency_ms": 250, "kbytes_s": None}
    assert len(said["configuration"]["reason"]) == 300


def test_a_date_of_a_minute_ago_is_a_minute_off() -> None:
    early = _compare_clocks(1_000_000_000.5, "Sun, 09 Sep 2001 01:46:40 GMT")
    late = _compare_clocks(1_000_000_060.5, "Sun, 09 Sep 2001 01:46:40 GMT")
    assert (early, late) == (0.0, 60.0)
    for wrong in ("Sun, 09 Sep 99999 01:46:40 GMT", "tomorrow", ""):
        assert _compare_clocks(5.0, wrong) is None


@pytest.mark.parametrize(
    ("said", "pause_s"), [(60, 60.0), (0, 5.0), (10**400, 3600.0), (float("nan"), None), ("60", None), (True, None)]
)
def test_a_console_may_ask_for_reports_within_bounds(said: object, pause_s: float | None) -> None:
    assert _pause(said) == pause_s


def test_a_report_that_would_be_too_large_leaves_out_what_is_long(tmp_path: Path) -> None:
    with small_console() as console:
        link = ConsoleLink(console.url, "key", ca_file=None)
        report = build_report(facts(), TrialOutcome("", "applied"), LineHealth(), kbytes_s=1.0, folder=tmp_path)
        link.report({**report, "dropped": {f"reason {number}": 1 for number in range(1000)}})
        assert len(json.dumps(console.reports[-1])) < REPORT_LIMIT_BYTES
        assert console.reports[-1]["dropped"] == {}
        link.close()
        with pytest.raises(LinkError):
            link.report(report)


def test_the_length_of_a_trial_is_checked() -> None:
    assert read_trial_s({}) == TRIAL_S
    assert read_trial_s({"ONLOOKER_TRIAL_S": "5"}) == 5.0
    for wrong in ("0", "-1", "nan", "soon", "1e9"):
        with pytest.raises(ConfigError, match="ONLOOKER_TRIAL_S"):
            read_trial_s({"ONLOOKER_TRIAL_S": wrong})
