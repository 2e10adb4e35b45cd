"""The operators' dashboards: up to date, complete, and laid out without gaps in their meaning."""

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import pytest

from testkit.promql import DASHBOARDS, ROOT, panels

SUBJECTS = {"Traffic", "Latency", "Queues", "Bus", "Recorder", "Database", "Workers", "Confinement"}


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("operator_dashboards", ROOT / "deploy/grafana/operator_dashboards.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_files_are_as_the_generator_writes_them(generator: ModuleType) -> None:
    assert generator.main(["--check"]) is None
    assert {path.stem for path in DASHBOARDS.glob("*.json")} == set(generator.DASHBOARDS)


def test_a_stale_file_is_named(generator: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(DASHBOARDS, tmp_path / "dashboards")
    (tmp_path / "dashboards/workers.json").write_text("{}")
    monkeypatch.setattr(generator, "HERE", tmp_path)
    monkeypatch.setattr(generator, "FILES", tmp_path / "dashboards")
    assert generator.main(["--check"]) == (
        "Stale: dashboards/workers.json. Run: python deploy/grafana/operator_dashboards.py"
    )


def test_every_subject_of_an_operator_has_a_row(generator: ModuleType) -> None:
    assert {row for _, rows in generator.DASHBOARDS.values() for row in rows} >= SUBJECTS


def test_every_panel_says_what_it_shows_and_overlaps_no_other() -> None:
    taken: set[tuple[str, int, int]] = set()
    for name, panel in panels():
        assert panel["description"], panel["title"]
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
        at = panel["gridPos"]
        cells = {(name, at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken, panel["title"]
        taken |= cells
