"""An agent that sends frames notices that its stream is now computed on the device, and switches where it can."""

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from agent_thread import await_true
from faulty_server import Behaviour, Peer, answering, hanging_up, http, peer
from testkit import Stack, TestStream

from onlooker_client.agent.sending.stream_watch import ASK_EVERY_S, ASK_SOON_S, NOW_HERE, StreamWatch
from onlooker_client.agent.status.log import AgentLog
from onlooker_client.command import exit_codes
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


HURRIED = """
import sys
from onlooker_client.agent.sending import stream_watch
from onlooker_client.command.agent import main
stream_watch.ASK_SOON_S = stream_watch.ASK_EVERY_S = 1.0
sys.argv = ["onlooker-agent", "run", *sys.argv[1:]]
main()
"""


@contextmanager
def started(product: Stack, stream: TestStream, *options: str, state: Path) -> Iterator["subprocess.Popen[str]"]:
    """`onlooker-agent run` that asks every second."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ONLOOKER_")} | {
        "ONLOOKER_URL": product.url,
        "ONLOOKER_CLIENT_ID": stream.client_id,
        "ONLOOKER_ACCESS_TOKEN": stream.access_token,
        "ONLOOKER_CA_FILE": product.ca_file,
        "XDG_STATE_HOME": str(state),
    }
    command = [sys.executable, "-c", HURRIED, *options, "--json"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def read_until(process: "subprocess.Popen[str]", event: str, words: str) -> dict[str, Any]:
    """The first line of the log with this event and these words."""
    assert process.stdout is not None
    for line in process.stdout:
        said: dict[str, Any] = json.loads(line)
        if said["event"] == event and words in said["message"]:
            return said
    raise AssertionError(f"the agent ended before it said: {words}")


def compute_on(product: Stack, stream: TestStream, where: str) -> None:
    product.execute("UPDATE streams_stream SET compute = %s WHERE id = %s RETURNING id", where, stream.id)


@pytest.mark.slow
def test_a_running_agent_goes_to_the_device_and_back_as_its_stream_is_set(
    product: Stack, stream: TestStream, tmp_path: Path
) -> None:
    pytest.importorskip("onlooker_models")
    film = tmp_path / "passing.mp4"
    maker = Path(__file__).resolve().parents[2] / "docs" / "make_passing.py"
    subprocess.run([sys.executable, str(maker), str(film)], check=True)
    options = [str(film), "--loop"]
    with started(product, stream, *options, state=tmp_path) as process:
        read_until(process, "start", " to http")
        compute_on(product, stream, "device")
        read_until(process, "settings", NOW_HERE)
        read_until(process, "computation", "No picture leaves this device")
        compute_on(product, stream, "server")
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=20)
    assert process.returncode == exit_codes.OK, output
    with started(product, stream, *options, state=tmp_path) as process:
        read_until(process, "start", " to http")
        read_until(process, "journal", "sent beside the frames")
        read_until(process, "journal", "The journal is erased.")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert process.returncode == exit_codes.OK
    assert not list(tmp_path.rglob("journal.db*"))
