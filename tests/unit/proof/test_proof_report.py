"""The report of `onlooker prove`: what each promise's state is, and that nobody can change it unnoticed."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from onlooker.cli import main
from onlooker.proof.build_checks import BUILD_CHECKS
from onlooker.proof.check import Check, Finding, Unchecked
from onlooker.proof.installation import Installation
from onlooker.proof.report import broken_rows, make_report, promise_state, render_report
from onlooker.proof.signature import BadReport, own_fingerprints, sign_report, verify_report
from onlooker.settings import Settings

ABOUT = {"began_at": "2026-11-18T08:00:00+00:00", "seconds": 1, "installation": "https://localhost", "version": "0"}
COVERED = ("no-frame-in-log", "no-frame-in-core-dump")


def nothing(_: Installation) -> Finding:
    raise AssertionError


def ran(**said: Any) -> list[tuple[Check, Finding]]:
    return [(Check("logs", "Reads logs", COVERED, nothing), Finding("Read.", "Found.", **said))]


@pytest.fixture
def settings() -> Settings:
    return Settings(secret_key="x" * 50, home="/nowhere")


@pytest.mark.parametrize(
    ("said", "states"),
    [
        ({"ok": True}, ("kept", "kept")),
        ({"ok": False}, ("broken", "broken")),
        ({"ok": False, "broken": COVERED[:1]}, ("broken", "kept")),
        ({"ok": True, "unchecked": COVERED[1:]}, ("kept", "not checked")),
    ],
)
def test_state_of_a_promise_is_what_its_checks_found(said: dict[str, Any], states: tuple[str, str]) -> None:
    assert tuple(promise_state(promise, ran(**said)) for promise in COVERED) == states


def test_broken_by_one_check_is_broken() -> None:
    assert promise_state(COVERED[0], [*ran(ok=True), *ran(ok=False), *ran(ok=True)]) == "broken"


def test_promise_without_a_check_that_ran_is_never_called_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUILD_CHECKS, "frames-over-https", ("tests/product/gateway/test_https.py",))
    monkeypatch.delitem(BUILD_CHECKS, "one-picture-in-memory", raising=False)
    assert promise_state("frames-over-https", ran(ok=True)) == "checked at each build"
    assert promise_state("one-picture-in-memory", ran(ok=True)) == "not checked"


def test_report_names_the_broken_row(settings: Settings) -> None:
    report = make_report(ran(ok=False, broken=COVERED[:1]), ABOUT)
    assert report["ok"] is False
    assert broken_rows(report) == ["docs/concepts/privacy.md: No frame is in a log. (no-frame-in-log)"]
    text = render_report(sign_report(report, settings))
    assert "1 promises are broken" in text
    assert "| No frame is in a log. | docs/concepts/privacy.md | `logs` |" in text


def test_signature_fits_and_is_the_installations(settings: Settings) -> None:
    signed = json.loads(json.dumps(sign_report(make_report(ran(ok=True), ABOUT), settings)))
    assert [verify_report(signed)] == own_fingerprints(settings)


def test_changed_report_is_refused(settings: Settings) -> None:
    signed = sign_report(make_report(ran(ok=False), ABOUT), settings)
    signed["report"]["promises"][0]["state"] = "kept"
    with pytest.raises(BadReport):
        verify_report(signed)


@pytest.mark.parametrize("signed", [{}, [], None, {"report": 1, "signature": {"public_key": "AA==", "value": "!"}}])
def test_what_is_no_report_is_refused(signed: Any) -> None:
    with pytest.raises(BadReport):
        verify_report(signed)


def test_command_verifies_with_the_key_of_the_installation_or_says_that_it_is_not(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "proof.json"
    file.write_text(json.dumps(sign_report(make_report(ran(ok=True), ABOUT), settings)))
    monkeypatch.setenv("ONLOOKER_HOME", str(tmp_path))
    for secret, whose in (
        (settings.secret_key, "The key is this installation's."),
        ("y" * 50, "not this installation"),
    ):
        monkeypatch.setenv("ONLOOKER_SECRET_KEY", secret)
        ended = CliRunner().invoke(main, ["prove", "--verify", str(file)])
        assert ended.exit_code == 0, ended.output
        assert whose in ended.output
    file.write_text(file.read_text().replace('"kept"', '"broken"'))
    ended = CliRunner().invoke(main, ["prove", "--verify", str(file)])
    assert ended.exit_code == 1
    assert "was changed" in ended.output


def test_check_that_can_not_be_done_is_not_checked(tmp_path: Path, settings: Settings) -> None:
    from onlooker.proof.proof_run import run_check

    def give_up(_: Installation) -> Finding:
        raise Unchecked("The agent is not installed.")

    told: list[str] = []
    installation = Installation(settings, tmp_path, told.append)
    _, finding = run_check(installation, Check("agent", "Runs the agent", COVERED, give_up), "1/1")
    assert finding.unchecked == COVERED
    assert "The agent is not installed." in told[-1]
