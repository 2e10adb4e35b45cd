"""A real Prometheus reads a running product: targets, rules, every panel's query; and the product's log."""

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO

import httpx2
import pytest

from clients import client_of
from testkit import Launch, Stack, migrated_database, running_stack
from testkit.prometheus_server import PrometheusServer, is_installed, running_prometheus
from testkit.promql import GUIDE, ROOT, all_queries

PROCESSES = {"gateway", "dispatcher", "recorder", "console", "data", "worker"}
LOGS_PAGE = ROOT / "docs/reference/logs.md"
TYPES = {"string": str, "integer": int, "number": (int, float), "array": list, "null": type(None)}

pytestmark = pytest.mark.timeout(180)


@dataclass(frozen=True)
class LaunchWithLog(Launch):
    """The log goes to a file of its own; what `onlooker up` prints goes where it always goes."""

    def start(self, environment: dict[str, str], log: IO[bytes], folder: Path) -> subprocess.Popen[bytes]:
        with (folder / "log.jsonl").open("wb") as lines:
            return subprocess.Popen(self.command, env=environment, stdout=log, stderr=lines)


@pytest.fixture(scope="module")
def product() -> Iterator[Stack]:
    """After some traffic: jobs of both kinds, a session, refused requests, a page, numbers, and a worker that died."""
    with migrated_database() as url, running_stack(url, LaunchWithLog(), worker_services="dummy") as stack:
        with client_of(stack, stack.create_stream()) as client:
            use(stack, client)
        yield stack


def use(stack: Stack, client: httpx2.Client) -> None:
    for number in range(5):
        answer = client.post("/services/dummy/1/jobs", json={"echo": str(number), "async": False})
        assert answer.status_code in (200, 201), answer.text
    assert client.post("/services/dummy/1/jobs", json={"echo": "later"}).status_code == 202
    session = {"session_id": "4f3a3f5e-6a0c-4f2b-9d5e-0a7a2f4f9d11"}
    client.post("/services/dummy/1/jobs", json={"echo": "again", "async": False, "state": session})
    assert client.get("/services/nothing/1").status_code == 404
    assert client.post("/services/dummy/1/jobs", json={"echo": ["no text"]}).status_code == 400
    assert httpx2.get(f"{stack.plain_url}/services").status_code == 401
    httpx2.get(f"http://127.0.0.1:{stack.setting('data_http_port')}/api/1/entities")
    httpx2.get(f"http://127.0.0.1:{stack.setting('console_http_port')}/", headers={"Host": "localhost"})
    assert stack.kill("worker-1-computing")


@pytest.fixture(scope="module")
def prometheus(product: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrometheusServer]:
    if not is_installed():
        pytest.skip("Debian's prometheus is not installed")
    with running_prometheus(product, tmp_path_factory.mktemp("prometheus")) as server:
        server.await_true(f'count(up{{job="onlooker"}} == 1) == {len(PROCESSES)}', limit_s=30)
        yield server


def test_prometheus_reads_every_process_answers_every_query_and_finds_nothing_critical(
    prometheus: PrometheusServer,
) -> None:
    found = prometheus.series('up{job="onlooker"} == 1')
    assert {series["metric"]["process"] for series in found} == PROCESSES
    for query in all_queries():
        prometheus.series(query.expression)
    rules = [rule for group in prometheus.get("rules")["groups"] for rule in group["rules"]]
    assert {rule["health"] for rule in rules} <= {"ok", "unknown"}
    firing = [rule["name"] for rule in rules if rule["state"] == "firing" and rule["labels"]["severity"] == "critical"]
    assert firing == []


def test_the_command_of_the_guide_says_whether_a_process_is_ready(product: Stack) -> None:
    (command,) = re.findall(r"^curl .*$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    command = command.replace("http://127.0.0.1:9100", product.monitoring_url("gateway"))
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["ready"] is True


def documented_fields(heading: str) -> dict[str, str]:
    """Type of each field by its name, under one heading of the reference."""
    text = LOGS_PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `(\w+)` \| ([\w ]+) \|", text, re.MULTILINE))


def documented_events() -> dict[tuple[str, str], tuple[set[str], set[str]]]:
    """Levels and fields by event and logger."""
    text = LOGS_PAGE.read_text(encoding="utf-8").partition("\n## Events\n")[2]
    rows = re.findall(r"^\| ([^|]+) \| ([\w ]+) \| ([^|]*) \| `([\w.]+)` \|", text, re.MULTILINE)
    return {
        (event, logger): (set(levels.split(" or ")), set(re.findall(r"`(\w+)`", names)))
        for event, levels, names, logger in rows
    }


def fits(value: object, kinds: str) -> bool:
    return any(isinstance(value, TYPES[kind]) for kind in kinds.split(" or "))  # type: ignore[arg-type]


def test_every_line_of_the_log_fits_the_reference(product: Stack) -> None:
    common, others = documented_fields("Fields of every line"), documented_fields("Fields of some lines")
    events = documented_events()
    lines = (product.output.parent / "log.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 20
    seen = set()
    for text in lines:
        line = json.loads(text)
        assert set(common) <= set(line), text
        assert datetime.fromisoformat(line["time"]).utcoffset() is not None
        for name, value in line.items():
            assert fits(value, (common | others)[name]), text
        if line["logger"].startswith("onlooker"):
            logger = line["logger"] if (line["event"], line["logger"]) in events else "onlooker.http.access_log"
            levels, fields = events[line["event"], logger]
            assert line["level"] in levels, text
            assert set(line) - set(common) <= fields, text
            seen.add(line["process"])
    assert seen >= {"gateway", "dispatcher", "recorder", "console", "data", "worker-1"}
