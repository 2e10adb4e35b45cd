"""The alert rules: valid, each fired by a test, each with a remedy, and about metrics that exist."""

import shutil
import subprocess
from pathlib import Path

import pytest

from testkit.promql import PROMETHEUS, all_queries, faults_of

needs_promtool = pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed")


def promtool(*arguments: str, folder: Path = PROMETHEUS) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["promtool", *arguments], cwd=folder, capture_output=True, text=True, check=False)


@needs_promtool
def test_each_alert_fires_on_its_fault_and_none_without_one() -> None:
    done = promtool("test", "rules", "alerts_test.yml")
    assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
def test_an_alert_that_does_not_fire_fails_the_tests(tmp_path: Path) -> None:
    shutil.copy(PROMETHEUS / "alerts_test.yml", tmp_path)
    rules = (PROMETHEUS / "alerts.yml").read_text(encoding="utf-8")
    (tmp_path / "alerts.yml").write_text(
        rules.replace("onlooker_bucket_filled) > 0.8", "onlooker_bucket_filled) > 0.9")
    )
    done = promtool("test", "rules", "alerts_test.yml", folder=tmp_path)
    assert done.returncode != 0
    assert "OnlookerBucketFills" in done.stdout + done.stderr


def test_every_expression_parses_and_names_only_what_is_exported() -> None:
    assert [fault for query in all_queries() for fault in faults_of(query)] == []
