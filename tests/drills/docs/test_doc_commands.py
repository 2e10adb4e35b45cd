"""The commands and queries of the documentation run, and find what the pages show."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from doc_pages import COMPUTED, ROOT, blocks_in, result_in, tree
from testkit import free_ports, fresh_database

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""Ids are random, and those of one page are of one person."""
INSTALLATION = (
    *("sudo ", "createdb ", "git clone ", "cd onlooker", "python3 -m venv ", "var/tools/bin/pip "),
    *('PATH="$PWD/var/tools/bin:$PATH" just init', 'PATH="$PWD/var/tools/bin:$PATH" just models'),
)
"""How lines begin that install packages or make what the test makes itself."""
QUERIED = {
    "README": ROOT / "README.md",
    "visits": ROOT / "docs/concepts/visits.md",
    "coverage": ROOT / "docs/concepts/coverage.md",
    "operate": ROOT / "docs/guides/operate.md",
}
"""Pages with a query each."""
UNWRITTEN = """
SELECT 1 WHERE EXISTS (SELECT FROM visits_visit WHERE NOT ended)
            OR (SELECT coalesce(sum(video_s), 0) FROM streams_coverage) <= 5
"""
START_LIMIT_S, RUN_LIMIT_S = 90, 150
"""All the commands take half a minute, on a busy machine two."""

pytestmark = pytest.mark.timeout(300)


def start_blocks() -> list[str]:
    """The shell blocks of the README's start, without the lines that install."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    start = text.partition("\n## Five-minute start\n")[2].partition("\n## ")[0]
    lines = [block.splitlines() for block in blocks_in(start)]
    for beginning in INSTALLATION:
        assert any(line.startswith(beginning) for block in lines for line in block), beginning
    kept = [[line for line in block if not line.startswith(INSTALLATION)] for block in lines]
    return ["\n".join(block) for block in kept if block]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is printed by the commands of the README, the quickstart, some guides and the services' pages, by page."""
    for program in ("curl", "bash"):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    folder = tmp_path_factory.mktemp("start")
    first, *second = start_blocks()
    assert first.endswith("onlooker up")
    others = [ROOT / "docs/quickstart.md", *(ROOT / f"docs/services/{name}.md" for name in COMPUTED)]
    others.append(ROOT / "docs/guides/data.md")
    script = ["echo '=== README'", *second, *saved_files(others[-1])]
    for page in others:
        script += [f"echo '=== {page.stem}'", *blocks_in(page.read_text(encoding="utf-8"))]
    project = copy_of_project(folder / "onlooker")
    with fresh_database() as database_url:
        environment = environment_of(folder / "home", database_url)
        opened = [Terminal(project, environment, folder / "up.log").start(first)]
        try:
            await_ready(opened[0], folder / "up.log")
            opened.append(Terminal(project, environment, folder / "second.log").start("\n".join(script)))
            done = opened[1].wait(RUN_LIMIT_S)
            found = rows_in_psql(database_url, QUERIED) if done == 0 else {}
        finally:
            for terminal in reversed(opened):
                if terminal.poll() is None:
                    os.killpg(terminal.pid, signal.SIGTERM)
                terminal.wait(20)
    printed = (folder / "second.log").read_text(encoding="utf-8")
    assert done == 0, printed[-4000:]
    parts = printed.split("=== ")[1:]
    return {name: text for name, _, text in (part.partition("\n") for part in parts)} | found


def saved_files(page: Path) -> list[str]:
    """Commands that save the Python of a page under the names which it says."""
    text = page.read_text(encoding="utf-8")
    names = re.findall(r"Save it as `([\w.]+)`", text)
    return [f"cat > {name} <<'END'\n{python}END" for name, python in zip(names, blocks_in(text, "python"), strict=True)]


def rows_in_psql(database_url: str, pages: dict[str, Path]) -> dict[str, str]:
    """What the queries on these pages find, as JSON, once all visits and their coverage are written."""
    with psycopg.connect(database_url, autocommit=True, row_factory=dict_row) as connection:
        give_up_at = time.monotonic() + 20
        while connection.execute(UNWRITTEN).fetchone():
            assert time.monotonic() < give_up_at, "visits are still open, or coverage is not written"
            time.sleep(0.2)
        return {
            f"{name}, in psql": json.dumps(connection.execute(query).fetchall(), default=str)
            for name, page in pages.items()
            for query in blocks_in(page.read_text(encoding="utf-8"), "sql")
        }


def copy_of_project(project: Path) -> Path:
    for path in tree():
        copy = project / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)
    (project / ".venv").symlink_to(sys.prefix)
    return project


def environment_of(home: Path, database_url: str) -> dict[str, str]:
    ports = free_ports(8 + 6)
    https_port, http_port, console_https_port, console_http_port = ports[:4]
    data_https_port, data_http_port, nats_port, monitoring_port = ports[4:8]
    return {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ} | {
        "HOME": str(home),
        "ONLOOKER_DATABASE_URL": database_url,
        "ONLOOKER_HTTPS_HOST": "127.0.0.1",
        "ONLOOKER_HTTPS_PORT": str(https_port),
        "ONLOOKER_HTTP_PORT": str(http_port),
        "ONLOOKER_CONSOLE_HTTPS_PORT": str(console_https_port),
        "ONLOOKER_CONSOLE_HTTP_PORT": str(console_http_port),
        "ONLOOKER_CONSOLE_URL": f"https://localhost:{console_https_port}",
        "ONLOOKER_DATA_HTTPS_PORT": str(data_https_port),
        "ONLOOKER_DATA_HTTP_PORT": str(data_http_port),
        "ONLOOKER_DATA_URL": f"https://localhost:{data_https_port}",
        "ONLOOKER_NATS_URL": f"nats://127.0.0.1:{nats_port}",
        "ONLOOKER_MONITORING_PORT": str(monitoring_port),
        "ONLOOKER_PUBLIC_URL": f"https://localhost:{https_port}",
    }


@dataclass(frozen=True)
class Terminal:
    """Runs what a reader would type, and keeps what is printed."""

    folder: Path
    environment: dict[str, str]
    log: Path

    def start(self, script: str) -> subprocess.Popen[bytes]:
        script = script.replace("https://localhost:8443", self.environment["ONLOOKER_PUBLIC_URL"])
        script = script.replace("https://localhost:8444", self.environment["ONLOOKER_CONSOLE_URL"])
        script = script.replace("https://localhost:8445", self.environment["ONLOOKER_DATA_URL"])
        with self.log.open("wb") as output:
            return subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", script],
                cwd=self.folder,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )


def await_ready(up: subprocess.Popen[bytes], log: Path) -> None:
    give_up_at = time.monotonic() + START_LIMIT_S
    while "Ready." not in log.read_text():
        assert up.poll() is None, log.read_text()
        assert time.monotonic() < give_up_at, log.read_text()
        time.sleep(0.1)


def test_the_readme_start_runs_word_for_word(answers: dict[str, str]) -> None:
    printed = answers["README"]
    assert '"services":{"dummy"' in printed
    assert re.search(r'"status":201,.*"echo":"hello"', printed)
    assert '"status":202' in printed
    assert re.search(r'"status":200,.*"echo":"later"', printed)
    assert '"calls":1' in printed
    assert '"calls":2' in printed
    assert re.search(r'"nb_faces":1,.*"age":.*"gender":"female"', printed)
    assert "100 frames in 0:" in printed
    assert re.search(r"Passing by +1\n  Interested +1 ", printed)
    assert re.search(r"start +passing by +interested", printed)


def answers_in(printed: str) -> list[dict[str, Any]]:
    """What the data endpoint said."""
    return [json.loads(line) for line in printed.splitlines() if line.startswith('{"entities":{"')]


def test_the_numbers_of_the_start_are_those_of_the_readme(answers: dict[str, str]) -> None:
    (answer,) = answers_in(answers["README"])
    shown = json.loads(blocks_in((ROOT / "README.md").read_text(encoding="utf-8"), "json")[-1])
    assert list(answer) == list(shown)
    found, expected = (dict(values_in(one["entities"])) for one in (answer, shown))
    assert found == pytest.approx(expected, abs=0.7)  # seconds may be off, people may not


def test_the_numbers_of_the_quickstart_count_who_passed_there_too(answers: dict[str, str]) -> None:
    (answer,) = answers_in(answers["quickstart"])
    assert (answer["total_results"], answer["next_page"]) == (2, "")
    days = list(answer["entities"].values())
    assert sum(day["passing_by"]["value"] for day in days) == 2
    assert sum(day["interested"]["value"] for day in days) == 1
    assert "bucket,passing_by,interested,stop_time,age_0-14," in answers["quickstart"]


def test_the_guide_to_the_data_endpoint_runs_word_for_word(answers: dict[str, str]) -> None:
    printed = answers["data"]
    with_key, answer, crossed, of_women, stays, quarters, watched = answers_in(printed)
    cells = {tuple(cell["by"].values()): cell["interested"]["value"] for cell in crossed["entities"]["global"]["cells"]}
    assert (len(cells), sum(cells.values())) == (24, crossed["entities"]["global"]["interested"]["value"])
    assert of_women["filter"] == {"gender": ["female"], "age": ["25-34", "35-44"]}
    assert sum(cell["interested"]["value"] for cell in stays["entities"]["global"]["cells"]) >= 1
    assert "bucket,weekday,hour_of_day,passing_by,watched,watched_share,exact" in printed
    assert (quarters["time"], quarters["total_results"] in (12, 13)) == ("by_quarter_hour", True)
    assert with_key["entities"]["global"]["passing_by"]["value"] >= 2
    assert sum(bucket["watched"]["value"] for bucket in watched["entities"].values()) > 0
    assert list(answer["entities"]) == ["2026-03-28T00:00:00+01:00", "2026-03-29T00:00:00+01:00"]
    hours = re.findall(r"^(\d{4}-\S+T\d\d:00:00\+00:00) (\d+) (\d+)$", printed, re.MULTILINE)
    assert len(hours) == 73
    assert sum(int(passing) for _, passing, _ in hours) >= 2
    assert "bucket,passing_by,interested,gender_?,gender_female,gender_male,exact" in printed
    assert "bucket,passing_by,interested,exact" in printed, "by week"


def test_the_visit_of_the_start_is_in_the_database_and_counts_as_interested(answers: dict[str, str]) -> None:
    visit, *_ = json.loads(answers["README, in psql"])
    assert visit["ended"]
    assert visit["gender"] == "female"
    told = next(row for row in json.loads(answers["visits, in psql"]) if row["began_at"] == visit["began_at"])
    assert float(told["present_s"]) == pytest.approx(7.5, abs=1)
    assert float(told["still_s"]) == pytest.approx(5, abs=1)
    assert float(told["looking_s"]) > 3
    assert json.loads(answers["operate, in psql"]) == []
    slots = json.loads(answers["coverage, in psql"])
    assert sum(slot["video_s"] for slot in slots) > 5
    assert sum(slot["visits"] for slot in slots) >= 1


def test_the_quickstart_runs_word_for_word(answers: dict[str, str]) -> None:
    printed = answers["quickstart"]
    assert '"live":true' in printed
    assert '"live":false' not in printed
    assert re.findall(r'"entities":(\{\}|\{".{8}-)', printed)[0] == "{}"
    assert len(re.findall(r'"type":"appearance"', printed)) == 1
    assert '"error_code":"bad_image"' in printed
    assert re.findall(r'"nb_faces":(\d)', printed) == ["1", "0", "0", "0", "1"]
    assert "same bytes" in printed
    assert '{"frames":1,"status":200}' in printed
    assert '"echo": "one"' in printed
    assert '{"frames":4,"status":200}' in printed
    assert re.findall(r'"nb_faces": (\d)', printed) == ["0", "0", "0", "1"]


@pytest.mark.parametrize("name", COMPUTED)
def test_the_request_on_a_page_is_answered_with_the_result_on_it(name: str, answers: dict[str, str]) -> None:
    last = json.loads(UUID.sub("somebody", answers[name].splitlines()[-1]))
    assert last["status"] == 201
    shown = json.loads(UUID.sub("somebody", json.dumps(result_in(name))))
    answered, expected = (dict(values_in(result)) for result in ({key: last.get(key) for key in shown}, shown))
    words = {where: value for where, value in expected.items() if isinstance(value, str)}
    assert {where: answered.get(where) for where in words} == words
    numbers = {where: value for where, value in expected.items() if where not in words}
    # Another processor rounds a little differently; another model or picture is far off.
    assert {where: answered.get(where) for where in numbers} == pytest.approx(numbers, rel=0.03, abs=0.03)


def values_in(value: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of a result and its path."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from values_in(inner, f"{where}/{key}")
    else:
        yield where, value
