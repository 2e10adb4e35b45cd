"""Results of calls in a session: read from its past states, by their owner and under their own id only."""

import itertools
import uuid

import httpx2
from hypothesis import given
from hypothesis import strategies as st

from clients import client_of
from onlooker.gateway.results import JobNames, is_session_job
from testkit import Stack

JOBS = "/services/dummy/1/jobs"


def call(client: httpx2.Client, session_id: str, echo: str) -> dict[str, object]:
    body: dict[str, object] = client.post(
        JOBS, json={"echo": echo, "async": False, "state": {"session_id": session_id}}
    ).json()
    return body


@given(st.uuids(version=4), st.integers(0, 63), st.integers(1, 2**48 - 2), st.text())
def test_an_id_is_a_uuid_that_says_where_and_is_told_apart(
    task: uuid.UUID, shard: int, revision: int, secret: str
) -> None:
    names = JobNames(secret)
    job_id = names.name(task.hex, shard=shard, revision=revision)
    assert uuid.UUID(str(job_id)) == job_id
    assert (job_id.version, job_id.variant) == (8, uuid.RFC_4122)
    assert is_session_job(job_id)
    assert not is_session_job(task)
    assert names.find(job_id) == (shard, revision)
    assert job_id != names.name(task.hex, shard=shard, revision=revision + 1)


@given(st.lists(st.uuids(version=4), min_size=30, max_size=30, unique=True), st.integers(1, 2**40))
def test_an_id_does_not_tell_how_many_calls_others_have_made(tasks: list[uuid.UUID], revision: int) -> None:
    """Of two of a client's own ids, the later one is the larger as often as not."""
    ids = [JobNames("secret").name(task.hex, shard=0, revision=revision + n) for n, task in enumerate(tasks)]
    rises = sum(later > earlier for earlier, later in itertools.pairwise(ids))
    assert 3 <= rises <= 26
    assert all(job_id.int >> 80 not in range(revision, revision + 30) for job_id in ids)


def test_every_call_can_be_read_again_when_the_session_has_moved_on(client: httpx2.Client) -> None:
    session_id = str(uuid.uuid4())
    answers = [call(client, session_id, f"call {number}") for number in range(20)]
    for answer in answers:
        again = client.get(str(answer["url"]))
        assert again.status_code == 201
        assert again.json() == answer


def test_results_go_when_the_session_is_deleted(client: httpx2.Client) -> None:
    session_id = str(uuid.uuid4())
    before = call(client, session_id, "before")
    assert client.delete(f"/services/dummy/1/sessions/{session_id}").status_code == 204
    assert client.get(str(before["url"])).status_code == 404
    after = call(client, session_id, "after")
    assert after["calls"] == 1
    assert client.get(str(after["url"])).json() == after
    assert client.get(str(before["url"])).status_code == 404


def test_a_session_that_was_deleted_and_began_again_can_be_deleted_again(client: httpx2.Client) -> None:
    session_id = str(uuid.uuid4())
    path = f"/services/dummy/1/sessions/{session_id}"
    for _ in range(3):
        answer = call(client, session_id, "once more")
        assert answer["calls"] == 1
        assert client.delete(path).status_code == 204
        assert client.get(str(answer["url"])).status_code == 404
        assert client.delete(path).status_code == 404


def test_deleting_one_leaves_the_session_and_its_other_results(client: httpx2.Client) -> None:
    session_id = str(uuid.uuid4())
    first, last = call(client, session_id, "first"), call(client, session_id, "last")
    assert client.delete(str(last["url"])).status_code == 204
    assert client.get(str(last["url"])).status_code == 404
    assert client.delete(str(last["url"])).status_code == 404
    assert client.get(str(first["url"])).json() == first
    assert call(client, session_id, "next")["calls"] == 3


def test_an_id_that_was_changed_is_nobodys(stack: Stack, client: httpx2.Client) -> None:
    answer = call(client, str(uuid.uuid4()), "mine")
    job_id = uuid.UUID(str(answer["uuid"]))
    changed = [job_id.int ^ 1, job_id.int + (1 << 80), job_id.int ^ (5 << 64)]
    for other in changed:
        assert client.get(f"{JOBS}/{uuid.UUID(int=other)}").status_code == 404
    assert client.get(f"/services/face_detection/1/jobs/{job_id}").status_code == 404
    with client_of(stack, stack.create_stream()) as stranger:
        assert stranger.get(str(answer["url"])).status_code == 404
        assert stranger.delete(str(answer["url"])).status_code == 404
    assert client.get(str(answer["url"])).json() == answer
