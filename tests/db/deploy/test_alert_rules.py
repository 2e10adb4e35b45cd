"""The alert rules: valid, each fired by a test, each with a remedy, and about metrics that exist."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from onlooker.settings import describe_settings
from testkit.promql import GUIDE, PROMETHEUS, ROOT, Query, alert_rules, alerts_that_tests_fire, faults_of

needs_promtool = pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed")


def promtool(*arguments: str, folder: Path = PROMETHEUS) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["promtool", *arguments], cwd=folder, capture_output=True, text=True, check=False)


@needs_promtool
def test_promtool_accepts_configuration_and_rules() -> None:
    done = promtool("check", "config", "prometheus.yml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(alert_rules())} rules found" in done.stdout


def test_no_alert_is_without_a_test_that_fires_it() -> None:
    assert {rule["alert"] for rule in alert_rules()} == alerts_that_tests_fire()


def test_each_alert_says_what_is_wrong_and_what_to_do() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    headings = {heading.lower().replace(" ", "-") for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
    settings = {name for name, _, _ in describe_settings()}
    for rule in alert_rules():
        texts = rule["annotations"]
        assert set(texts) == {"summary", "description", "runbook"}, rule["alert"]
        assert rule["labels"]["severity"] in ("critical", "warning"), rule["alert"]
        page, _, anchor = texts["runbook"].partition("#")
        assert (ROOT / page, anchor in headings) == (GUIDE, True), rule["alert"]
        named = set(re.findall(r"ONLOOKER_\w+", texts["description"]))
        assert named <= settings, rule["alert"]


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        ("sum(rate(onlooker_jobs_total[5m])", "there: "),
        ("onlooker_unheard_of > 0", "onlooker_unheard_of is not exported"),
        ("rate(onlooker_jobs[5m])", "onlooker_jobs is not exported"),
        ('onlooker_jobs_total{code="x"}', "onlooker_jobs_total has no label code"),
        ('onlooker_jobs_total{state=~"computed|dreamt"}', 'onlooker_jobs_total is never counted as "dreamt"'),
        ("sum by (colour) (onlooker_jobs_total)", "no series has the label colour"),
        ("sum by (le) (rate(onlooker_request_seconds_count[5m]))", "no series has the label le"),
    ],
)
def test_an_expression_about_what_is_not_there_is_a_fault(expression: str, fault: str) -> None:
    (found,) = faults_of(Query("there", expression))
    assert fault in found


def test_the_targets_of_a_cell_are_those_that_its_hosts_run() -> None:
    cell = (ROOT / "deploy/cell/cell.env").read_text(encoding="utf-8")
    started = (ROOT / "deploy/cell/run-host").read_text(encoding="utf-8")
    values = dict(re.findall(r'^(CELL_\w+)="?([^"\n]*)"?$', cell, re.MULTILINE))
    addresses = dict(pair.split("=") for pair in values["CELL_HOSTS"].split())
    ports = dict(re.findall(r"keep (\w+) process \1 \1 (\d+)", started)) | {"worker": "9110"}
    assert "worker $((9109 + number))" in started
    names = {"gateway": "GATEWAYS", "dispatcher": "DISPATCHERS", "recorder": "RECORDERS", "console": "CONSOLES"}
    expected = {
        process: [f"{addresses[host]}:{ports[process]}" for host in values[f"CELL_{name}"].split()]
        for process, name in (names | {"data": "DATA", "worker": "WORKERS"}).items()
    }
    listed = yaml.safe_load((PROMETHEUS / "targets-cell/cell.yml").read_text(encoding="utf-8"))
    assert {group["labels"]["process"]: group["targets"] for group in listed} == expected
