"""`onlooker-agent doctor` as people and programs see it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from terminal_command import TerminalCommand, run_agent
from testkit import Stack, TestStream

from onlooker_client.doctor.checks import CHECKS
from onlooker_client.doctor.command import summarise
from onlooker_client.doctor.findings import Finding, Severity, bad, good, warn

PASSING = Path(__file__).resolve().parents[2] / "docs" / "make_passing.py"
NO_FILE = {"ONLOOKER_CONFIG": ""}
"""Settings come from the environment alone."""


@pytest.fixture(scope="module")
def passing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten seconds of somebody who stops and looks."""
    video = tmp_path_factory.mktemp("video") / "passing.mp4"
    subprocess.run([sys.executable, str(PASSING), str(video)], check=True)
    return video


def settings(product: Stack, stream: TestStream) -> dict[str, str]:
    return {
        **NO_FILE,
        "ONLOOKER_URL": product.url,
        "ONLOOKER_CA_FILE": product.ca_file,
        "ONLOOKER_CLIENT_ID": stream.client_id,
        "ONLOOKER_ACCESS_TOKEN": stream.access_token,
    }


@pytest.mark.alone
def test_where_all_is_well_it_says_so_line_by_line(
    product: Stack, stream: TestStream, passing: Path, tmp_path: Path
) -> None:
    environment = settings(product, stream) | {"NO_COLOR": "1"}
    with TerminalCommand("doctor", str(passing), folder=tmp_path, environment=environment) as doctor:
        doctor.expect("watching it")
        for check in CHECKS:
            doctor.expect(f"✓ {check.title:<13}")
        doctor.expect("All is well.")
        assert doctor.end() == 0
        assert stream.access_token not in doctor.text


def test_real_frames_are_answered_and_leave_nothing_behind(
    product: Stack, stream: TestStream, passing: Path, tmp_path: Path
) -> None:
    ended = run_agent("doctor", str(passing), "--json", folder=tmp_path, **settings(product, stream))
    said = json.loads(ended.stdout)
    assert (ended.returncode, said["ok"], said["to_fix"]) == (0, True, 0), said
    analysis = next(check for check in said["checks"] if check["name"] == "analysis")
    assert "in view" in analysis["figure"]
    assert product.execute("SELECT count(*) FROM visits_visit WHERE stream_id = %s", stream.id) == [(0,)]


def test_what_is_to_be_fixed_is_in_the_exit_code(tmp_path: Path) -> None:
    ended = run_agent("doctor", "nothing.mp4", folder=tmp_path, ONLOOKER_URL="https://localhost:1", **NO_FILE)
    assert ended.returncode == 1
    assert ended.stdout.endswith("\n2 things to fix.\n")
    assert "\x1b" not in ended.stdout
    assert "not checked: see server" in ended.stdout
    assert ended.stderr == ""


@pytest.mark.parametrize(
    ("findings", "words"),
    [
        ([good("")], "All is well."),
        ([bad("", ""), good("")], "1 thing to fix."),
        ([bad("", ""), bad("", ""), warn("", "")], "2 things to fix, 1 to look at."),
        ([warn("", "")], "1 thing to look at."),
        ([warn("", ""), warn("", ""), Finding(Severity.UNCHECKED, "")], "2 things to look at."),
    ],
)
def test_the_last_line_counts(findings: list[Finding], words: str) -> None:
    assert summarise([(CHECKS[0], finding) for finding in findings]) == words
