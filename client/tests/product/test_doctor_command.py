"""`onlooker-agent doctor` as people and programs see it."""

from pathlib import Path

import pytest
from terminal_command import run_agent

from onlooker_client.doctor.checks import CHECKS
from onlooker_client.doctor.command import summarise
from onlooker_client.doctor.findings import Finding, Severity, bad, good, warn

NO_FILE = {"ONLOOKER_CONFIG": ""}
"""Settings come from the environment alone."""


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
