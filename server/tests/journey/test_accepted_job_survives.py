"""An accepted job survives the death of any one process."""

import uuid
from collections.abc import Iterator

import httpx2
import pytest

from clients import client_of
from testkit import Stack, migrated_database, running_stack
from wire import finished, measure, new_state, wait_for


@pytest.fixture(scope="module")
def mortal_stack() -> Iterator[Stack]:
    """A stack whose processes a test may kill."""
    services = {"extra_services": "extra.measure,extra.trouble", "worker_services": "dummy,measure,trouble"}
    with (
        migrated_database() as database_url,
        running_stack(database_url, **services, lease_s=2) as running,
    ):
        yield running


def _until_answered(client: httpx2.Client, url: str) -> httpx2.Response:
    """The end of a job, read by a client that tries again while its gateway is away."""

    def read() -> httpx2.Response | None:
        try:
            answer = client.get(url)
        except httpx2.TransportError:
            return None
        return answer if answer.status_code in (200, 404) else None

    found = wait_for(read, lambda answer: answer is not None, limit_s=40, every_s=0.2)
    assert found
    return found


@pytest.mark.parametrize("process", ["worker-1", "dispatcher", "gateway", "nats"])
def test_an_accepted_job_survives_the_death_of_any_one_process(mortal_stack: Stack, process: str) -> None:
    """An accepted (202) job is never lost: it survives the death of any one process."""
    state = new_state()
    with client_of(mortal_stack, mortal_stack.create_stream()) as client:
        computing = client.post("/services/trouble/1/jobs", json={"sleep_s": 0.5, "state": state}).json()
        waiting = [client.post("/services/trouble/1/jobs", json={"state": state}).json() for _ in range(3)]
        image = measure(client, b"waits", **{"async": True}).json()
        assert mortal_stack.kill(process)
        results = [_until_answered(client, job["url"]).json() for job in (computing, *waiting)]
        assert [(result["status"], result.get("calls")) for result in results] == [(200, n) for n in (1, 2, 3, 4)]
        assert _until_answered(client, image["url"]).json()["size"] == 5
    wait_for(lambda: process in mortal_stack.children(), bool, limit_s=10)


def test_a_job_that_brings_every_worker_down_ends_with_an_error(mortal_stack: Stack) -> None:
    """It ends within its time limit with a result or an `error`: a deadly input is not tried again and again."""
    with client_of(mortal_stack, mortal_stack.create_stream()) as client:
        made = client.post("/services/trouble/1/jobs", json={"die": True}).json()
        assert str(uuid.UUID(made["uuid"])) == made["uuid"]
        answer = _until_answered(client, made["url"])
        assert (answer.status_code, answer.json()["error_code"]) == (200, "worker_died")
        after = client.post("/services/dummy/1/jobs", json={"echo": "alive"}).json()
        assert finished(client, after["url"]).json()["echo"] == "alive"
