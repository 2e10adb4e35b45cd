"""Tasks and states as they are on the bus."""

import time

import pytest

from onlooker.bus.messages import Task, decode_task, encode_task
from onlooker.bus.session_store import SessionState, compress_state, decode_state, decompress_state, encode_state


@pytest.mark.parametrize("ahead_s", [-35.0, 0.0, 35.0])
def test_a_task_has_the_same_time_left_whatever_the_workers_clock_says(
    monkeypatch: pytest.MonkeyPatch, ahead_s: float
) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    sent = encode_task(Task("id", "dummy", 1, {}, {}, None, now + 20, "request", now, left_s=20.0))
    monkeypatch.setattr(time, "time", lambda: now + ahead_s)
    assert decode_task(sent).deadline - time.time() == pytest.approx(20)


def test_a_state_is_read_compressed_or_not() -> None:
    state = SessionState(last_seen=2_000.0, service=b"x" * 1000, job_ids=["a"])
    plain = encode_state(state)
    assert len(compress_state(plain)) < len(plain)
    for written in (plain, compress_state(plain)):
        read = decompress_state(written)
        assert read
        assert decode_state(read) == state
