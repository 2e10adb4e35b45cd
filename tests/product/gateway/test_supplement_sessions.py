"""Supplement, sessions: whose they are, how they begin and end, the order of their requests."""

import asyncio
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from clients import client_of
from onlooker.bus.messages import Reply, Task
from onlooker.gateway.context import open_engine
from onlooker.settings import read_settings
from onlooker_pipeline.catalogue import read_catalogue
from testkit import Stack
from wire import assert_problem, dummy, finished, measure, new_state

pytest_plugins = ["stacks"]
JOBS = "/services/dummy/1/jobs"
TROUBLE = "/services/trouble/1/jobs"


def session_path(state: dict[str, str], service: str = "dummy") -> str:
    return f"/services/{service}/1/sessions/{state['session_id']}"


def test_a_session_belongs_to_its_stream(stack: Stack, client: httpx2.Client) -> None:
    """A session belongs to (stream, ...): the same id under another stream is another session."""
    state = new_state()
    assert dummy(client, state=state).json()["calls"] == 1
    with client_of(stack, stack.create_stream()) as other:
        assert dummy(other, state=state).json()["calls"] == 1
    assert dummy(client, state=state).json()["calls"] == 2


def test_a_session_belongs_to_its_service_version(client: httpx2.Client) -> None:
    """A session belongs to (..., service version, ...): the same id at another service is another session."""
    state = new_state()
    assert dummy(client, state=state).json()["calls"] == 1
    assert measure(client, state=state).json()["frames"] == 1
    assert dummy(client, state=state).json()["calls"] == 2


def test_a_session_belongs_to_its_session_id(client: httpx2.Client) -> None:
    """A session belongs to (..., `session_id`)."""
    states = [new_state(), new_state()]
    assert [dummy(client, state=state).json()["calls"] for state in states * 2] == [1, 1, 2, 2]


@pytest.mark.parametrize("session_id", ["", "me", "1234", 7, None, ["x"], "00000000-0000-4000-8000-00000000000g"])
@pytest.mark.parametrize("path", [JOBS, "/services/dummy/1/streams"])
def test_session_id_must_be_a_uuid_else_400(client: httpx2.Client, session_id: object, path: str) -> None:
    """`session_id` must be a UUID, else 400."""
    answer = client.post(path, json={"async": False, "state": {"session_id": session_id}})
    assert_problem(answer, 400, "bad_request")


def test_a_session_begins_with_its_first_request(client: httpx2.Client) -> None:
    """It begins with its first request: before that there is nothing to end."""
    state = new_state()
    assert_problem(client.delete(session_path(state)), 404, "not_found")
    assert dummy(client, state=state).json()["calls"] == 1
    assert client.delete(session_path(state)).status_code == 204


def test_delete_ends_a_session_at_once(client: httpx2.Client) -> None:
    """`DELETE .../<version>/sessions/<session_id>` ends it at once."""
    state = new_state()
    for _ in range(3):
        assert [dummy(client, state=state).json()["calls"] for _ in range(2)] == [1, 2]
        ended = client.delete(session_path(state))
        assert (ended.status_code, ended.content) == (204, b"")
    assert_problem(client.delete(session_path(state)), 404, "not_found")


def test_delete_ends_no_other_session(stack: Stack, client: httpx2.Client) -> None:
    """`DELETE ...` ends it: neither one of another stream nor of another service under the same id."""
    state = new_state()
    dummy(client, state=state)
    with client_of(stack, stack.create_stream()) as other:
        assert_problem(other.delete(session_path(state)), 404, "not_found")
    assert_problem(client.delete(session_path(state, "measure")), 404, "not_found")
    assert dummy(client, state=state).json()["calls"] == 2


def test_results_of_a_deleted_session_are_gone(client: httpx2.Client) -> None:
    """`DELETE .../sessions/<session_id>` ends the session, and nothing of it stays."""
    state = new_state()
    job = dummy(client, state=state).json()
    assert client.get(job["url"]).json() == job
    client.delete(session_path(state))
    assert_problem(client.get(job["url"]), 404, "not_found")


def test_requests_of_a_session_are_processed_one_at_a_time(client: httpx2.Client) -> None:
    """Requests of a session are processed one at a time: two long ones take as long as both."""
    fields = {"async": False, "state": new_state(), "sleep_s": 0.3}
    started = time.monotonic()
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: client.post(TROUBLE, json=fields), range(2)))
    assert time.monotonic() - started > 0.6
    assert sorted(answer.json()["calls"] for answer in answers) == [1, 2]


def test_async_requests_of_a_session_are_processed_in_order_of_acceptance(client: httpx2.Client) -> None:
    """Requests of a session are processed ... (async ones in order of acceptance); nothing is re-ordered."""
    state = new_state()
    urls = [
        client.post(TROUBLE, json={"state": state, "sleep_s": 0.02 if number % 2 else 0.001}).json()["url"]
        for number in range(8)
    ]
    assert [finished(client, url).json()["calls"] for url in urls] == list(range(1, 9))


def _replies(stack: Stack, stream_id: int, job_ids: list[str]) -> list[Reply]:
    """What a worker answers to these job ids of one session, sent over the bus as a gateway sends them."""
    role = {"ONLOOKER_NATS_USER": "gateway", "ONLOOKER_NATS_PASSWORD": stack.password("gateway")}
    environment = {k: v for k, v in stack.environment.items() if k.startswith("ONLOOKER_")} | role
    service = read_catalogue("extra.measure")["measure"][1]
    session = f"{stream_id}.measure-1.{uuid.uuid4().hex}"

    async def send() -> list[Reply]:
        async with open_engine(read_settings(environment), name="gateway") as (engine, workers):
            while not workers.count(service):
                await asyncio.sleep(0.05)
            now = time.time()
            return [
                await engine.run(service, Task(i, "measure", 1, {}, {"image": b"x"}, session, now + 20, "repeat", now))
                for i in job_ids
            ]

    return asyncio.run(send())


def test_a_job_that_is_sent_again_changes_nothing(stack: Stack) -> None:
    """The state remembers the last result: a job sent again changes nothing and is answered with what is known."""
    first, second = uuid.uuid4().hex, uuid.uuid4().hex
    once, again, other, later = _replies(stack, 0, [first, first, second, first])
    assert again.result == once.result != other.result
    assert later.result == other.result
    assert again.video_s == later.video_s == 0 < once.video_s


def test_the_state_remembers_the_last_16_job_ids(stack: Stack) -> None:
    """The state remembers the last 16 job ids."""
    ids = [uuid.uuid4().hex for _ in range(17)]
    replies = _replies(stack, 0, [*ids[:16], ids[0], ids[16], ids[1], ids[0]])
    computed = [reply.video_s > 0 for reply in replies[16:]]
    assert computed == [False, True, False, True]
