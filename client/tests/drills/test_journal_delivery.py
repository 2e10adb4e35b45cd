"""A stream that went from the device to the server: what waited on the device is delivered, all of it, then erased."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_thread import await_true, config_of
from simulated_device import SimulatedDevice
from testkit import Stack, TestStream
from testkit.device_simulation import SimulatedClocks, plan_people
from testkit.ports import free_ports

from onlooker_client.client import Client
from onlooker_client.device import journal_remains, upload
from onlooker_client.device.journal_file import NAME
from onlooker_client.device.journal_remains import JournalRemains, open_remains

pytest_plugins = ["device_cleanup"]
PEOPLE, BATCH = 110, 40
"""More than two batches, of which a last upload at the switch takes one."""
FILMED_S = 120
VISITS = "SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE ended) FROM visits_visit WHERE stream_id = %s"
WATCHED = "SELECT coalesce(sum(video_s), 0)::float FROM streams_coverage WHERE stream_id = %s"


def film(folder: Path) -> Path:
    """The journal of a device that has counted without a line, with people in view when it was stopped."""
    begins = time.time() - FILMED_S - 600
    begins_ms = round(begins * 1000)
    plan = plan_people(PEOPLE, begins_ms=begins_ms, ends_ms=begins_ms + FILMED_S * 1000 + 60_000, seed=7)
    device = SimulatedDevice(folder / "journal", plan, SimulatedClocks(started_at=begins - 10.0))
    device.server.faults = ["down"] * 1_000
    device.run(FILMED_S)
    device.recorder.flush()
    assert device.journal.open_visits()
    device.stop()
    return device.folder


def tick_until(remains: JournalRemains, condition: Callable[[], bool], limit_s: float, what: str) -> None:
    def is_true() -> bool:
        remains.tick(time.monotonic())
        return condition()

    await_true(is_true, limit_s, what)


def test_everything_is_delivered_though_the_line_comes_back_later(
    product: Stack, stream: TestStream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_remains, "LOOK_EVERY_S", 0.1)  # it must not be erased a moment too early
    monkeypatch.setattr(upload, "MOST_ITEMS", BATCH)
    monkeypatch.setattr(upload, "FIRST_PAUSE_S", 0.5)
    folder = film(tmp_path)
    (port,) = free_ports(1)
    nowhere = config_of(product, stream, url=f"https://localhost:{port}")
    with Client(config=nowhere) as away, Client(config=config_of(product, stream)) as client:
        remains = open_remains(folder, away.transport)
        assert remains is not None
        tick_until(remains, lambda: remains.status().get("upload_trouble") is not None, 20, "no line")
        waiting = remains.status()["waiting_visits"]
        assert waiting > 2 * BATCH
        assert (folder / NAME).exists()
        remains.use(client.transport)
        tick_until(remains, lambda: remains.is_erased, 90, "the end of the journal")
    assert not (folder / NAME).exists()
    assert remains.status() == {}
    await_true(lambda: product.execute(VISITS, stream.id)[0][0] == waiting, 30, "all visits")
    assert product.execute(VISITS, stream.id) == [(waiting, waiting, waiting)]
    assert product.execute(WATCHED, stream.id)[0][0] == pytest.approx(FILMED_S, abs=1)
