"""The agent reports its camera's condition: seldom, beside the frames, and only to a server that knows the report."""

import io
import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from agent_thread import await_true, config_of, running_agent
from faulty_server import Behaviour, Peer, answering, hanging_up, http, peer
from testkit import Stack, TestStream

from onlooker_client.agent.frame_counts import Drop, Tally
from onlooker_client.agent.options import AgentOptions
from onlooker_client.agent.status.condition import AGAIN_S, PAUSE_S, ConditionReporter
from onlooker_client.agent.status.log import AgentLog
from onlooker_client.agent.status.state import CameraMonitor, StatusTracker
from onlooker_client.sources.reconnection import SourceEvent, SourceState
from onlooker_client.terminal import Terminal
from onlooker_client.version import VERSION
from onlooker_client.wire.transport import Transport

TAKEN = answering(http(b"", status="204 No Content"))


class Bench:
    """A reporter whose clock the test moves."""

    def __init__(self, server: Peer) -> None:
        self.server = server
        self.camera = CameraMonitor(AgentLog(Terminal.of(io.StringIO())))
        self.tracker = StatusTracker(Tally(), self.camera)
        self.now = float(math.ceil(self.tracker.began_at))  # whole seconds, which add up exactly
        self.transport = Transport(server.url, authorization="Basic x")
        self.reporter = ConditionReporter(self.transport, self.tracker, clock=lambda: self.now)

    @property
    def said(self) -> list[dict[str, Any]]:
        return [json.loads(request.partition(b"\r\n\r\n")[2]) for request in self.server.requests]

    def pass_s(self, seconds: float) -> None:
        """A tick each second, each after the report before has ended."""
        for _ in range(round(seconds)):
            self.now += 1.0
            self.reporter.tick(self.now)
            await_true(lambda: not self.reporter._is_asking, 5, "the end of a report")


@contextmanager
def reporting(behaviour: Behaviour = TAKEN) -> Iterator[Bench]:
    with peer(behaviour) as server:
        bench = Bench(server)
        try:
            yield bench
        finally:
            bench.transport.close()


def test_it_reports_at_once_and_then_every_minute() -> None:
    with reporting() as bench:
        bench.camera.take_size((640, 480))
        bench.pass_s(1)
        assert len(bench.said) == 1
        bench.pass_s(AGAIN_S - 1)
        assert len(bench.said) == 1
        bench.pass_s(10 * AGAIN_S)
        assert len(bench.said) == 11
    head = bench.server.requests[0].splitlines()
    assert head[0] == b"PUT /stream/condition HTTP/1.1"
    assert b"Authorization: Basic x" in head
    assert bench.reporter.counts.delivered == 11


def test_a_change_is_reported_at_once_but_not_within_30_seconds() -> None:
    with reporting() as bench:
        bench.camera.take_size((640, 480))
        bench.pass_s(1)
        bench.camera.change(SourceEvent(SourceState.LOST, "It was unplugged."))
        bench.pass_s(PAUSE_S - 1)
        assert [said["state"] for said in bench.said] == ["seeing"]
        bench.pass_s(2)
        assert [said["state"] for said in bench.said] == ["seeing", "camera_lost"]
        bench.pass_s(PAUSE_S)
        bench.camera.take_size((640, 480))
        bench.pass_s(1)
        assert [said["state"] for said in bench.said] == ["seeing", "camera_lost", "seeing"]


def test_it_says_since_when_and_what_became_of_the_frames_since_the_last_report() -> None:
    with reporting() as bench:
        bench.camera.take_size((640, 480))
        bench.pass_s(1)
        for _ in range(20):
            bench.tracker.tally.send(1000)
            bench.tracker.tally.answer()
        bench.tracker.tally.drop(Drop.BUSY)
        bench.camera.judge("no_frame", bench.now - 5)
        bench.pass_s(AGAIN_S)
        bench.pass_s(AGAIN_S)
    first, second, third = bench.said[:3]
    assert first | {"since_s": 0, "over_s": 0} == {
        "state": "seeing",
        "since_s": 0,
        "over_s": 0,
        "sent": 0,
        "dropped": {},
        "version": VERSION,
    }
    assert (second["state"], second["sent"], second["dropped"]) == ("source_silent", 20, {"busy": 1})
    assert second["over_s"] == pytest.approx(PAUSE_S, abs=2)
    assert second["since_s"] == pytest.approx(PAUSE_S + 5, abs=2)
    assert (third["sent"], third["dropped"]) == (0, {})


def test_a_black_picture_is_left_to_the_server() -> None:
    with reporting() as bench:
        bench.camera.take_size((640, 480))
        bench.camera.judge("black", bench.now)
        bench.pass_s(1)
    assert bench.said[0]["state"] == "seeing"


def test_nothing_is_reported_while_the_camera_opens() -> None:
    with reporting() as bench:
        bench.pass_s(20)
        assert not bench.said
        bench.camera.change(SourceEvent(SourceState.WAITING, "It can't be opened."))
        bench.pass_s(1)
    assert bench.said[0]["state"] == "camera_lost"


@pytest.mark.parametrize("status", ["404 Not Found", "405 Method Not Allowed"])
def test_a_server_that_does_not_know_the_report_is_asked_once(status: str) -> None:
    with reporting(answering(http(b"{}", status=status))) as bench:
        bench.camera.take_size((640, 480))
        bench.pass_s(10 * AGAIN_S)
        assert len(bench.said) == 1
        bench.reporter.use(bench.transport)  # another Password, or another server
        bench.pass_s(1)
        assert len(bench.said) == 2


@pytest.mark.parametrize(
    "behaviour",
    [
        hanging_up,
        answering(http(b"{}", status="429 Too Many Requests", headers="Retry-After: 30\r\n")),
        answering(http(b"{}", status="400 Bad Request")),
        answering(http(b"{}", status="401 Unauthorized")),
        answering(http(b"no JSON", status="503 Unavailable")),
    ],
)
def test_a_failure_is_counted_and_tried_again_after_30_seconds(behaviour: Behaviour) -> None:
    with reporting(behaviour) as bench:
        bench.camera.take_size((640, 480))
        bench.pass_s(1 + 3 * PAUSE_S)
    assert (bench.reporter.counts.delivered, bench.reporter.counts.failed) == (0, 4)
    assert [said["over_s"] for said in bench.said] == pytest.approx([1, 31, 61, 91], abs=1), "nothing is lost"


def test_the_running_agent_reports_to_the_product(product: Stack, stream: TestStream, tmp_path) -> None:
    import cv2
    import numpy as np

    for number in range(20):
        cv2.imwrite(str(tmp_path / f"{number}.jpg"), np.full((480, 640, 3), 90 + number, np.uint8))
    query = "SELECT state, version FROM streams_agentcondition WHERE stream_id = %s"
    with running_agent(AgentOptions(str(tmp_path), is_looped=True), lambda: config_of(product, stream)) as run:
        await_true(lambda: bool(product.execute(query, stream.id)), 20, "a condition")
        await_true(lambda: run.agent.health()["condition_reports"]["delivered"] == 1, 5, "its answer")
        assert run.agent.health()["condition_reports"] == {"delivered": 1, "failed": 0}
    assert product.execute(query, stream.id) == [("seeing", VERSION)]
