"""A stream that went from the device to the server: what waited on the device is delivered, all of it, then erased."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_thread import await_true, config_of, running_agent
from simulated_device import SimulatedDevice
from testkit import Stack, TestStream
from testkit.device_simulation import SimulatedClocks, plan_people
from testkit.ports import free_ports

from onlooker_client.agent.options import AgentOptions, JournalOptions
from onlooker_client.client import Client
from onlooker_client.device import journal_remains
from onlooker_client.device.journal import Journal
from onlooker_client.device.journal_file import NAME
from onlooker_client.device.journal_remains import JournalRemains, open_remains

pytest_plugins = ["device_cleanup"]
MANY, FEW = 1_100, 60
"""More than two batches, of which a last upload at the switch takes one; and less than one."""
FILMED_S = 600
VISITS = "SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE ended) FROM visits_visit WHERE stream_id = %s"
WATCHED = "SELECT coalesce(sum(video_s), 0)::float FROM streams_coverage WHERE stream_id = %s"


def film(folder: Path, people: int) -> Path:
    """The journal of a device that has counted without a line, with people in view when it was stopped."""
    begins = time.time() - FILMED_S - 600
    begins_ms = round(begins * 1000)
    plan = plan_people(people, begins_ms=begins_ms, ends_ms=begins_ms + FILMED_S * 1000 + 60_000, seed=7)
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


@pytest.mark.slow
def test_everything_is_delivered_though_the_line_comes_back_later(
    product: Stack, stream: TestStream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_remains, "LOOK_EVERY_S", 0.1)  # it must not be erased a moment too early
    folder = film(tmp_path, MANY)
    (port,) = free_ports(1)
    nowhere = config_of(product, stream, url=f"https://localhost:{port}")
    with Client(config=nowhere) as away, Client(config=config_of(product, stream)) as client:
        remains = open_remains(folder, away.transport)
        assert remains is not None
        tick_until(remains, lambda: remains.status().get("upload_trouble") is not None, 20, "no line")
        waiting = remains.status()["waiting_visits"]
        assert waiting > 1_000
        assert (folder / NAME).exists()
        remains.use(client.transport)
        tick_until(remains, lambda: remains.is_erased, 90, "the end of the journal")
    assert not (folder / NAME).exists()
    assert remains.status() == {}
    await_true(lambda: product.execute(VISITS, stream.id)[0][0] == waiting, 30, "all visits")
    assert product.execute(VISITS, stream.id) == [(waiting, waiting, waiting)]
    assert product.execute(WATCHED, stream.id)[0][0] == pytest.approx(FILMED_S, abs=1)


@pytest.mark.slow
def test_an_agent_whose_server_computes_sends_it_beside_the_frames(
    product: Stack, stream: TestStream, tmp_path: Path
) -> None:
    folder = film(tmp_path, FEW)
    with Client(config=config_of(product, stream)) as client:
        stopped = open_remains(folder, client.transport)
        assert stopped is not None
        stopped.close()  # before it could do anything: the next start goes on
    assert (folder / NAME).exists()
    picture = tmp_path / "pictures"
    picture.mkdir()
    (picture / "1.jpg").write_bytes(draw_grey())
    options = AgentOptions(str(picture), is_looped=True, journal=JournalOptions(folder))
    with running_agent(options, lambda: config_of(product, stream)) as run:
        run.await_event("journal")
        assert run.agent.health()["device"]["where"] == "computed on the server"
        run.await_answers(5, 30)
        run.await_event("journal", times=2, limit_s=90)
        assert "device" not in run.agent.health()
    await_true(lambda: product.execute(VISITS, stream.id)[0][0] > FEW // 2, 30, "the visits")
    assert not (folder / NAME).exists()


def draw_grey() -> bytes:
    import cv2
    import numpy

    done, encoded = cv2.imencode(".jpg", numpy.full((240, 320), 128, numpy.uint8))
    assert done
    return bytes(encoded)


def test_without_a_journal_there_is_nothing_to_do(tmp_path: Path) -> None:
    with Client("http://127.0.0.1:1", "a-login", "a-password") as client:
        assert open_remains(tmp_path, client.transport) is None
        assert not list(tmp_path.iterdir())


def test_a_journal_that_another_agent_has_open_is_left_to_it(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    with Client("http://127.0.0.1:1", "a-login", "a-password") as client:
        assert open_remains(tmp_path, client.transport) is None
    journal.close()
    assert (tmp_path / NAME).exists()


def test_an_empty_journal_is_erased_without_a_line(tmp_path: Path) -> None:
    Journal(tmp_path).close()
    with Client("http://127.0.0.1:1", "a-login", "a-password") as client:
        remains = open_remains(tmp_path, client.transport)
        assert remains is not None
        for second in (0.0, 10.0, 20.0):
            remains.tick(time.monotonic() + second)
    assert remains.is_erased
    assert not (tmp_path / NAME).exists()
