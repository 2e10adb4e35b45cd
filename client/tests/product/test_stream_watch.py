"""An agent that sends frames notices that its stream is now computed on the device, and switches where it can."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from agent_thread import await_true
from faulty_server import Behaviour, Peer, answering, hanging_up, http, peer

from onlooker_client.agent.sending.stream_watch import ASK_EVERY_S, ASK_SOON_S, NOW_HERE, StreamWatch
from onlooker_client.agent.status.log import AgentLog
from onlooker_client.device import computation
from onlooker_client.device.compute_options import ComputeOptions
from onlooker_client.terminal import Terminal
from onlooker_client.wire.transport import Transport

ON_DEVICE = answering(http(json.dumps({"compute": "device"}).encode()))
ON_SERVER = answering(http(json.dumps({"compute": "server"}).encode()))


class WatchBench:
    """A watch whose clock the test moves."""

    def __init__(self, server: Peer) -> None:
        self.server = server
        self.now = 1000.0
        self.out = io.StringIO()
        self.transport = Transport(server.url, authorization="Basic x")
        log = AgentLog(Terminal.of(self.out), as_json=True)
        self.watch = StreamWatch(self.transport, ComputeOptions(), log, clock=lambda: self.now)

    def pass_s(self, seconds: float) -> None:
        for _ in range(round(seconds)):
            self.now += 1.0
            self.watch.tick(self.now)
            await_true(lambda: not self.watch._is_asking, 60, "the end of a question")


@contextmanager
def watched(behaviour: Behaviour) -> Iterator[WatchBench]:
    with peer(behaviour) as server:
        one = WatchBench(server)
        try:
            yield one
        finally:
            one.transport.close()


def test_it_asks_soon_and_then_every_ten_minutes() -> None:
    with watched(ON_SERVER) as one:
        one.pass_s(0.7 * ASK_SOON_S)
        assert not one.server.requests
        one.pass_s(0.3 * ASK_SOON_S)
        assert len(one.server.requests) == 1
        one.pass_s(0.7 * ASK_EVERY_S)
        assert len(one.server.requests) == 1
        one.pass_s(0.3 * ASK_EVERY_S)
        assert len(one.server.requests) == 2
        assert one.server.requests[0].startswith(b"GET /stream HTTP/1.1")
        assert one.watch.stale == ""


def test_a_question_without_an_answer_is_asked_again_in_a_minute() -> None:
    with watched(hanging_up) as one:
        one.pass_s(3 * ASK_SOON_S)
        assert 3 <= len(one.server.requests) <= 4
        assert one.watch.stale == ""


def test_a_device_that_can_compute_switches() -> None:
    pytest.importorskip("onlooker_models")
    with watched(ON_DEVICE) as one:
        one.pass_s(ASK_SOON_S)
        assert one.watch.stale == NOW_HERE
        one.pass_s(ASK_EVERY_S)
        assert len(one.server.requests) == 1


def test_a_device_that_lacks_packages_says_so_and_goes_on_sending(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computation, "PACKAGES", ("onlooker_no_such_package",))
    with watched(ON_DEVICE) as one:
        one.pass_s(ASK_SOON_S)
        assert one.watch.stale == ""
    said = json.loads(one.out.getvalue())
    assert said["level"] == "warning"
    assert "onlooker_no_such_package" in said["message"]
    assert "Frames are sent" in said["message"]
