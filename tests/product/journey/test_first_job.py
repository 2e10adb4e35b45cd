"""A newcomer's first steps through the whole product."""

import time
import uuid

import httpx2


def test_a_sync_job_returns_its_result_and_can_be_read_again(client: httpx2.Client) -> None:
    made = client.post("/services/dummy/1/jobs", json={"echo": "hello", "async": False})
    assert made.status_code == 201
    body = made.json()
    assert body["echo"] == "hello"
    assert body["status"] == 201
    again = client.get(body["url"])
    assert again.status_code == 201
    assert again.json() == body


def test_an_async_job_is_accepted_and_ends_with_its_result(client: httpx2.Client) -> None:
    made = client.post("/services/dummy/1/jobs", json={"echo": "later"})
    assert made.status_code == 202
    assert set(made.json()) == {"url", "uuid", "status"}
    for _ in range(100):
        got = client.get(made.json()["url"])
        if got.status_code == 200:
            break
        assert got.status_code == 202
        time.sleep(0.05)
    assert got.json()["echo"] == "later"


def test_a_session_counts_its_calls(client: httpx2.Client) -> None:
    state = {"session_id": str(uuid.uuid4())}
    bodies = [client.post("/services/dummy/1/jobs", json={"async": False, "state": state}).json() for _ in range(5)]
    assert [body["calls"] for body in bodies] == [1, 2, 3, 4, 5]
    assert bodies[0]["echo"] == "echo"
