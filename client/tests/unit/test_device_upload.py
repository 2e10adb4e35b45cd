"""Batches on their way: lost answers, refusals, malformed items, and the bounds that the server has."""

import json
import threading
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from simulated_device import NOON, SimulatedDevice
from testkit.device_simulation import SimulatedClocks, plan_people

from onlooker_client.device import upload
from onlooker_client.device.device_clock import DeviceClock
from onlooker_client.device.device_recorder import DeviceRecorder
from onlooker_client.device.journal import Journal
from onlooker_client.wire.transport import Transport

pytest_plugins = ["device_cleanup"]
START_MS = round(NOON * 1000)


@pytest.fixture
def crowd(tmp_path: Path) -> SimulatedDevice:
    """A device that has filmed 60 people in 10 minutes, without a line."""
    people = plan_people(60, begins_ms=START_MS, ends_ms=START_MS + 540_000, seed=1)
    device = SimulatedDevice(tmp_path / "journal", people, SimulatedClocks(started_at=NOON - 10.0))
    device.run(600)
    return device


def test_a_lost_answer_is_asked_for_again_and_nothing_is_doubled(crowd: SimulatedDevice) -> None:
    crowd.server.faults = ["lost"] * 3
    assert [crowd.recorder.upload() for _ in range(4)] == [False, False, False, True]
    assert len(crowd.server.visits) == 60
    assert crowd.recorder.status()["waiting_visits"] == 0
    assert sum(crowd.server.totals().values()) == pytest.approx(600_000, abs=50)


def test_a_server_that_is_busy_is_asked_later(crowd: SimulatedDevice) -> None:
    crowd.server.faults = ["busy", "down"]
    assert not crowd.recorder.upload()
    assert crowd.recorder.status()["upload_trouble"] == "Later. (503 overloaded)"
    assert not crowd.recorder.upload()
    assert crowd.recorder.upload()
    assert crowd.recorder.status()["upload_trouble"] is None
    assert [event for event, _ in crowd.said] == ["upload"]  # said once, however often it is tried


def test_a_batch_after_which_nothing_waits_says_so(crowd: SimulatedDevice) -> None:
    crowd.server.faults = ["bad"]  # half of it next
    assert crowd.recorder.upload()
    assert crowd.server.wholes[0] is False
    assert crowd.server.wholes[-1] is True


def test_a_malformed_visit_is_found_and_dropped_alone(crowd: SimulatedDevice) -> None:
    crowd.server.poison = crowd.journal.waiting_visits(30)[-1].id
    assert crowd.recorder.upload()
    assert len(crowd.server.visits) == 59
    assert crowd.recorder.status()["dropped"]["visits"] == {"bad_request": 1}


def test_a_server_that_calls_everything_malformed_gets_nothing_dropped_but_a_few(crowd: SimulatedDevice) -> None:
    crowd.server.faults = ["bad"] * 1000
    assert not crowd.recorder.upload()
    assert crowd.recorder.status()["waiting_visits"] >= 60 - upload.SINGLES_AT_MOST


def test_refused_items_are_erased_and_counted(crowd: SimulatedDevice) -> None:
    refused = crowd.journal.waiting_visits(2)
    answer = crowd.server.request_json

    def refuse(method: str, path: str, body: Any = None, **how: object) -> dict[str, Any]:
        said = answer(method, path, body, **how)
        return {**said, "refused": [{"visit": one.id, "code": "too_old", "message": ""} for one in refused]}

    crowd.server.request_json = refuse  # type: ignore[method-assign]
    assert crowd.recorder.upload()
    assert crowd.recorder.status()["waiting_visits"] == 0
    assert crowd.recorder.status()["dropped"]["visits"] == {"too_old": 2}


def test_a_visit_that_changed_while_its_batch_was_on_its_way_stays(crowd: SimulatedDevice) -> None:
    crowd.people.extend(plan_people(3, begins_ms=START_MS + 600_000, ends_ms=START_MS + 660_000, seed=2))
    crowd.run(100)
    answer = crowd.server.request_json

    def film_meanwhile(method: str, path: str, body: Any = None, **how: object) -> dict[str, Any]:
        if method == "POST":
            crowd.server.request_json = answer  # type: ignore[method-assign]
            crowd.run(8)
            crowd.recorder.flush()
        return answer(method, path, body, **how)

    crowd.server.request_json = film_meanwhile  # type: ignore[method-assign]
    crowd.recorder.upload()
    crowd.run(60)
    crowd.recorder.upload()
    assert len(crowd.server.visits) == 63
    assert all(visit["ended"] for visit in crowd.server.visits.values())
    for (_, visit_id), visit in crowd.server.visits.items():
        seen = crowd.seen[visit_id]
        assert visit["present"][-1][1] / 1000 == pytest.approx(seen[-1] + 0.2, abs=0.25)


def test_batches_stay_within_the_servers_bounds(tmp_path: Path) -> None:
    """The server in memory asserts them."""
    people = plan_people(1500, begins_ms=START_MS, ends_ms=START_MS + 1_700_000, seed=4)
    device = SimulatedDevice(tmp_path / "journal", people, SimulatedClocks(started_at=NOON - 10.0))
    device.run(1_800)
    device.recorder.upload()
    assert len(device.server.visits) == 1500
    assert len(device.server.sizes) >= 3
    sent, visits = (sum(column) for column in zip(*device.server.sizes))
    assert sent / visits < 400  # bytes a visit on the wire


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    received: list[dict[str, Any]] = []

    def do_GET(self) -> None:
        self._answer({"client_id": "x", "now": "2026-09-21T14:15:00.000Z", "retention_days": 30})

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        assert self.headers["Content-Encoding"] == "deflate"
        self.received.append({**json.loads(zlib.decompress(content)), "authorization": self.headers["Authorization"]})
        self._answer({"now": "2026-09-21T14:15:00.000Z", "accepted": {}, "refused": []})

    def _answer(self, said: dict[str, Any]) -> None:
        content = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    _Handler.received = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_over_http_from_a_thread_and_a_last_time_at_the_end(crowd: SimulatedDevice, address: str) -> None:
    crowd.stop()
    journal = Journal(crowd.folder)
    transport = Transport(address, authorization="Basic eA==")
    recorder = DeviceRecorder(journal, transport, DeviceClock(crowd.clocks))
    recorder.start()
    recorder.close(timeout_s=20)
    transport.close()
    (batch,) = _Handler.received
    assert len(batch["visits"]) == 60
    assert batch["authorization"] == "Basic eA=="
