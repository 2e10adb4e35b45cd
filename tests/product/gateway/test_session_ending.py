"""`DELETE` of a session: what it still has to say of its visits is kept before its state goes."""

import asyncio
import json
import time
import uuid
from base64 import b64decode
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from clients import client_of
from onlooker.bus.connection import Bus, connect
from onlooker.bus.preparation import prepare_bus
from onlooker.bus.session_store import SessionBucket, SessionState, decode_state, encode_state
from onlooker.bus.subjects import VISITS, ended_subject
from onlooker.settings import Settings
from testkit import Stack
from wire import assert_problem, multipart, new_state, paused, wait_for

pytest_plugins = ["stacks"]
WITH_VISITS = [SessionState(0.0, visits=b"folded"), SessionState(0.0, outbox=[b"visit"])]


def over_bus(stack: Stack, user: str, act: Callable[[Bus], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        settings = Settings(nats_url=stack.setting("nats_url"), nats_user=user, nats_password=stack.password(user))
        bus = await connect(settings, name="test")
        try:
            return await act(bus)
        finally:
            await bus.close()

    return asyncio.run(run())


def keep_state(stack: Stack, stream_id: int, state: SessionState) -> str:
    """A session with this state, as a worker leaves it; its path."""
    session_id = uuid.uuid4()
    state.last_seen = time.time()
    value = encode_state(state)
    key = f"{stream_id}.watch-1.{session_id.hex}"
    over_bus(stack, "worker-1", lambda bus: SessionBucket(bus, Settings()).replace(key, value, revision=0))
    return f"/services/watch/1/sessions/{session_id}"


def left_behind(stack: Stack, stream_id: int) -> list[bytes]:
    """What waits for a recorder under this stream's `ended` subject; the oldest one, if any."""
    question = json.dumps({"seq": 1, "next_by_subj": ended_subject(stream_id)}).encode()

    async def read(bus: Bus) -> list[bytes]:
        answer = await bus.ask(f"$JS.API.STREAM.MSG.GET.{VISITS}", question, timeout_s=5)
        message = json.loads(answer.data).get("message")
        return [b64decode(message["data"])] if message else []

    found: list[bytes] = over_bus(stack, "setup", read)
    return found


@pytest.mark.parametrize("state", WITH_VISITS, ids=["visits", "outbox"])
def test_what_a_session_has_to_say_of_visits_is_kept_and_nothing_else(
    watched_stack: Stack, state: SessionState
) -> None:
    stream = watched_stack.create_stream()
    state.service, state.result, state.job_ids = {"where": [1, 2]}, b'{"seen": 1}', [uuid.uuid4().hex]
    path = keep_state(watched_stack, stream.id, state)
    with client_of(watched_stack, stream) as client, paused(watched_stack, "recorder"):
        assert client.delete(path).status_code == 204
        [kept] = map(decode_state, left_behind(watched_stack, stream.id))
        assert kept == SessionState(state.last_seen, visits=state.visits, outbox=state.outbox)
        assert_problem(client.delete(path), 404, "not_found")


def test_a_session_without_visits_leaves_nothing(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream()
    path = keep_state(watched_stack, stream.id, SessionState(0.0, service=3))
    with client_of(watched_stack, stream) as client, paused(watched_stack, "recorder"):
        assert client.delete(path).status_code == 204
        assert left_behind(watched_stack, stream.id) == []


@contextmanager
def without_visit_stream(stack: Stack) -> Iterator[None]:
    """The bus takes no visits for the length of the block."""
    settings = Settings(nats_url=stack.setting("nats_url"))
    over_bus(stack, "setup", lambda bus: bus.ask(f"$JS.API.STREAM.DELETE.{VISITS}", timeout_s=5))
    try:
        yield
    finally:
        asyncio.run(prepare_bus(settings, stack.password("setup")))


def test_a_session_whose_visits_the_bus_does_not_take_goes_on(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream()
    path = keep_state(watched_stack, stream.id, SessionState(0.0, visits=b"folded"))
    with client_of(watched_stack, stream) as client:
        with without_visit_stream(watched_stack):
            assert "Retry-After" in client.delete(path).headers
            assert_problem(client.delete(path), 503, "overloaded")
        assert client.delete(path).status_code == 204


def test_the_visit_of_whoever_is_there_ends_with_the_session(watched_stack: Stack) -> None:
    """From the worker to the database: the last frames were not settled when the session was deleted."""
    stream, state = watched_stack.create_stream(), new_state()
    began = datetime.now(UTC) - timedelta(seconds=30)
    with client_of(watched_stack, stream) as client:
        for number in range(5):
            moment = (began + timedelta(seconds=0.5 * number)).isoformat()
            fields = {"image": "attachment://shot", "async": False, "state": state, "timestamp": moment}
            job = client.post("/services/passer/1/jobs", files=multipart(fields, shot=b"pixels"))
            assert job.status_code == 201
        assert client.delete(f"/services/passer/1/sessions/{state['session_id']}").status_code == 204
    length = "extract(epoch FROM upper(present) - lower(present))::float"
    query = f"SELECT ended, {length} FROM visits_visit WHERE stream_id = %s"
    wait_for(lambda: watched_stack.execute(query, stream.id), lambda rows: rows == [(True, 2.5)])
