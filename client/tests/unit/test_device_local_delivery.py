"""When a device that computes finds that its stream's settings have changed."""

import io
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from agent_thread import await_true
from faulty_server import answering, http, peer
from testkit.ports import free_ports

from onlooker_client.agent.frame_counts import Tally
from onlooker_client.agent.options import AgentOptions, JournalOptions
from onlooker_client.agent.status.log import AgentLog
from onlooker_client.client import Client
from onlooker_client.config import Config
from onlooker_client.device import local_delivery
from onlooker_client.device.feed_options import FeedOptions
from onlooker_client.device.journal import Journal
from onlooker_client.device.local_delivery import COMPARE_EVERY_S, LocalDelivery
from onlooker_client.terminal import Terminal

READS = {"age": True, "gender": True, "expression": False, "faces": True}
NOW_THERE = "The stream is now computed on the server."


class IdleComputation:
    """In place of the computing process, which no frame reaches here."""

    is_confined = True
    restarts = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def start(self, is_over: Any) -> None:
        pass

    def close(self, *, source_ended: bool) -> list[Any]:
        return []


def said(compute: str, *, groups_of: int = 1) -> dict[str, Any]:
    return {"compute": compute, "reads": READS, "retention_days": 90, "opening": None, "groups_of": groups_of}


@contextmanager
def delivering(
    folder: Path, *, says: str, groups_of: int = 1, feed: FeedOptions | None = None
) -> Iterator[LocalDelivery]:
    """A device whose server says so; what the journal says is from when frames were sent."""
    journal = Journal(folder)
    journal.remember("settings", json.dumps(said("server")))
    journal.close()
    with peer(answering(http(json.dumps(said(says, groups_of=groups_of)).encode()))) as server:
        client = Client(config=Config(url=server.url, client_id="a-login", access_token="a-password"))
        options = AgentOptions("0", computes_here=True, journal=JournalOptions(folder), feed=feed)
        log, nobody = AgentLog(Terminal.of(io.StringIO()), as_json=True), object()
        one = LocalDelivery(options, client, Tally(), nobody, log=log, keeps_pixels=False)  # type: ignore[arg-type]
        one.start(lambda: False)
        try:
            yield one
        finally:
            one.close(source_ended=False)
            client.close()


@pytest.fixture(autouse=True)
def no_computing_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_delivery, "Computation", IdleComputation)


def test_a_journal_from_before_the_switch_does_not_restart_the_agent(tmp_path: Path) -> None:
    with delivering(tmp_path / "journal", says="device") as one:
        one.tick(time.monotonic())
        assert one.stale == ""
        recorder = one._recorder
        assert recorder
        await_true(lambda: recorder.settings().get("compute") == "device", 10, "the settings are read")
        one.tick(time.monotonic() + COMPARE_EVERY_S)
        assert one.stale == ""


def test_a_feed_that_may_tell_more_or_less_of_people_restarts_it(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    with delivering(tmp_path / "journal", says="device", groups_of=5, feed=FeedOptions(port)) as one:
        recorder = one._recorder
        assert recorder
        await_true(lambda: recorder.settings().get("groups_of") == 5, 10, "the settings are read")
        one.tick(time.monotonic() + COMPARE_EVERY_S)
        assert one.stale == "What the local feed may tell of people has changed."


def test_a_stream_that_has_moved_to_the_server_restarts_it(tmp_path: Path) -> None:
    with delivering(tmp_path / "journal", says="server") as one:
        one.tick(time.monotonic() + COMPARE_EVERY_S)
        assert one.stale == NOW_THERE
