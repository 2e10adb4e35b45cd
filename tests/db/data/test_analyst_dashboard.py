"""The dashboard for Grafana asks the data endpoint what it answers: every query, with its variables filled in."""

import csv
import io
import json
import subprocess
import sys
from typing import Any

import pytest

from organisation_keys import insert_key
from readers import Reader, Watched, seen
from testkit.promql import ROOT

pytest_plugins = ["endpoint"]

FOLDER = ROOT / "deploy/grafana"
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "analysts/numbers.json").read_text(encoding="utf-8"))
PANELS = {panel["title"]: panel for panel in DASHBOARD["panels"]}
GRAINS = [option["value"] for one in DASHBOARD["templating"]["list"] for option in one.get("options", ())]
RANGE = {"${__from:date:iso}": "2026-03-02T00:00:00.000Z", "${__to:date:iso}": "2026-03-04T00:00:00.000Z"}


def fill(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(name, value)
    assert "$" not in text
    return text


def test_the_file_is_as_the_generator_writes_it() -> None:
    checked = [sys.executable, str(FOLDER / "analyst_dashboard.py"), "--check"]
    done = subprocess.run(checked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("grain", GRAINS)
@pytest.mark.parametrize("title", PANELS)
def test_every_query_is_answered_with_the_columns_it_names(
    reader: Reader, watched: Watched, title: str, grain: str
) -> None:
    reader.archive.write(seen(watched, "2026-03-02T09:30:00Z"), seen(watched, "2026-03-03T10:30:00Z"))
    key = insert_key(reader.archive.execute, watched.stream_id, "numbers")
    values = RANGE | {"${stream}": str(watched.client_id), "${grain}": grain, "${tz}": "Europe/Paris"}
    for target in PANELS[title]["targets"]:
        asked = {one["key"]: fill(one["value"], values) for one in target["url_options"]["params"]}
        headers = {"Authorization": f"Bearer {key.text}"}
        answer = reader.request("GET", target["url"], params=asked, headers=headers)
        assert answer.status_code == 200, answer.text
        rows = list(csv.DictReader(io.StringIO(answer.text)))
        columns = {column["selector"]: column["type"] for column in target["columns"]}
        assert rows
        assert columns.keys() <= rows[0].keys()
        for row in rows:
            assert all(row[name] == "" or float(row[name]) >= 0 for name, kind in columns.items() if kind == "number")
            assert row["bucket"].startswith("2026-0")


def test_the_panels_do_not_overlap_and_say_what_they_show() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        assert panel["description"]
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken
        taken |= cells


def test_no_key_is_in_the_file() -> None:
    assert "onl_" not in json.dumps(DASHBOARD)
    assert {one["type"] for one in DASHBOARD["templating"]["list"]} == {"datasource", "textbox", "custom"}
