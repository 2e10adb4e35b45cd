"""Messages and states of a release that knew less: they are read, and a live session goes on."""

import time

import msgspec
import pytest

from onlooker.bus.messages import Task, decode_task, encode_task
from onlooker.bus.session_store import SessionState, compress_state, decode_state, decompress_state, encode_state
from onlooker.compute.processor import clock_of
from onlooker.settings import Settings
from onlooker.up.environment import worker_environment
from onlooker_pipeline.frame_time import FrameClock, FrameOrder, time_frame
from onlooker_pipeline.service_call import Sender

SENDER, LEFT = 10, 11
"""Places in a task."""
SENDER_MEMBERS, STATE_MEMBERS = 5, 8
"""Without the time zone; without the clock."""


def test_a_task_without_a_time_zone_is_of_utc() -> None:
    sender = Sender(7, reads_age=False, retention_days=30, time_zone="Asia/Tokyo")
    task = Task("id", "dummy", 1, {}, {}, None, 1.0, "request", 0.5, 0.4, sender)
    members = msgspec.msgpack.decode(encode_task(task))
    members[SENDER] = members[SENDER][:SENDER_MEMBERS]
    older = decode_task(msgspec.msgpack.encode(members))
    assert older.sender == msgspec.structs.replace(sender, time_zone="UTC")


def test_a_task_with_more_than_this_release_knows_is_read() -> None:
    members = msgspec.msgpack.decode(encode_task(Task("id", "dummy", 1, {}, {}, None, 1.0, "request", 0.5)))
    members[SENDER].append("something new")
    members.append("and more")
    assert decode_task(msgspec.msgpack.encode(members)).sender == Sender()


def test_a_task_that_tells_no_time_left_keeps_its_deadline() -> None:
    members = msgspec.msgpack.decode(encode_task(Task("id", "dummy", 1, {}, {}, None, 1234.5, "request", 0.5)))
    assert decode_task(msgspec.msgpack.encode(members[:LEFT])).deadline == 1234.5


@pytest.mark.parametrize("ahead_s", [-35.0, 0.0, 35.0])
def test_a_task_has_the_same_time_left_whatever_the_workers_clock_says(
    monkeypatch: pytest.MonkeyPatch, ahead_s: float
) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    sent = encode_task(Task("id", "dummy", 1, {}, {}, None, now + 20, "request", now, left_s=20.0))
    monkeypatch.setattr(time, "time", lambda: now + ahead_s)
    assert decode_task(sent).deadline - time.time() == pytest.approx(20)


def test_a_session_without_a_clock_goes_on() -> None:
    state = SessionState(last_seen=2_000.0, service=b"x", job_ids=["a"], last_frame_at=1_000.25)
    older = decode_state(msgspec.msgpack.encode(msgspec.msgpack.decode(encode_state(state))[:STATE_MEMBERS]))
    assert older == state
    clock = clock_of(older)
    assert clock == FrameClock(1_000_250_000, 2_000_000_000, 2_000_000_000, 1_000_250_000)
    same = time_frame(1_000_250_000, 2_000_100_000, clock)
    assert (same.order, same.at_us) == (FrameOrder.NEXT, 1_000_350_000)


def test_a_state_that_an_older_release_wrote_is_read_beside_compressed_ones() -> None:
    state = SessionState(last_seen=2_000.0, service=b"x" * 1000, job_ids=["a"])
    older = encode_state(state)
    for written in (older, compress_state(older)):
        plain = decompress_state(written)
        assert plain
        assert decode_state(plain) == state
    assert decode_state(compress_state(older)) is None  # all that a release sees that does not know of compression


@pytest.mark.parametrize(("chosen", "passed"), [("", "on"), ("on", "on"), ("off", "off")])
def test_only_processes_of_one_release_compress_states_unless_told_to(chosen: str, passed: str) -> None:
    """`onlooker up` starts all processes from one release; one that is started by itself may have older neighbours."""
    settings = Settings(state_compression=chosen)
    assert worker_environment(settings, "worker-1")["ONLOOKER_STATE_COMPRESSION"] == passed
    assert Settings().state_compression != "on"
