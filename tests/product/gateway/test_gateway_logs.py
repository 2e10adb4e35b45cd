"""What the logs hold, at their most talkative: the way of a request, and nothing of what it carried."""

import base64
import json
import uuid
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from clients import client_of
from feed_client import exchange, open_feed, part
from testkit import Stack, TestStream
from wire import basic, dummy, finished, measure, store_blob, wait_for

CANARY = f"canary-{uuid.uuid4().hex}"


def lines(stack: Stack) -> Iterator[dict[str, Any]]:
    for line in stack.output.read_text().splitlines():
        if line.startswith("{"):
            yield json.loads(line)


def _talk(client: httpx2.Client, stream: TestStream) -> None:
    """Requests of every kind, good and bad, each with a canary wherever a client can put one."""
    state = {"session_id": str(uuid.uuid4())}
    dummy(client, echo=CANARY)
    dummy(client, echo=CANARY, state=state, unknown=CANARY)
    finished(client, client.post("/services/dummy/1/jobs", json={"echo": CANARY}).json()["url"])
    measure(client, CANARY.encode())
    finished(client, measure(client, CANARY.encode(), **{"async": True}).json()["url"])
    store_blob(client, CANARY.encode())
    for trouble in ("fail", "crash"):
        client.post("/services/trouble/1/jobs", json={trouble: True, "note": CANARY, "async": False})
    exchange(client, open_feed(client, echo=CANARY), [part(CANARY.encode(), params={"echo": CANARY})])
    client.get(f"/services?name={CANARY}")
    client.get(f"/services/{CANARY}")
    client.get(f"/blobs/{CANARY}")
    client.get("/services", headers={"Host": CANARY, "User-Agent": CANARY, "Referer": CANARY, "Cookie": CANARY})
    client.post("/services/dummy/1/jobs", json={"echo": [CANARY]})
    client.post("/services/measure/1/jobs", json={"image": f"https://{CANARY}.example"})
    malformed = {"Content-Type": "application/json"}
    client.post("/services/dummy/1/jobs", content=f'{{"{CANARY}'.encode(), headers=malformed)
    client.post("/services/dummy/1/jobs", content=CANARY.encode(), headers={"Content-Type": CANARY})
    client.get("/services", headers={"Authorization": basic(stream.client_id, CANARY)})
    client.get("/services", headers={"Authorization": basic(CANARY, stream.access_token)})
    client.get("/services", headers={"Authorization": f"Bearer {CANARY}"})
    client.get("/services", headers={"X-Request-Id": f"{CANARY} with a space"})


@pytest.fixture(scope="module")
def talked(stack: Stack) -> str:
    """All that was logged up to the end of a long talk."""
    stream = stack.create_stream()
    with client_of(stack, stream) as client:
        _talk(client, stream)
        last = f"last-{uuid.uuid4().hex}"
        client.get("/services", headers={"X-Request-Id": last})
    text = wait_for(stack.output.read_text, lambda text: last in text)
    assert stack.setting("log_level") == "debug"
    return text


def test_no_credentials_are_logged(stack: Stack, talked: str) -> None:
    """client_id and access_token are private values."""
    assert len(stack.streams) > 0
    for stream in stack.streams:
        encoded = base64.b64encode(f"{stream.client_id}:{stream.access_token}".encode()).decode()
        for secret in (stream.client_id, uuid.UUID(stream.client_id).hex, stream.access_token, encoded):
            assert secret not in talked
        assert basic(stream.client_id, CANARY).removeprefix("Basic ") not in talked


def test_no_body_parameter_or_header_is_logged(talked: str) -> None:
    """Logs hold only the fields that are named: nothing of what a client sent."""
    assert CANARY not in talked
    assert base64.b64encode(CANARY.encode()).decode().rstrip("=") not in talked


def test_no_password_of_the_bus_is_logged(stack: Stack, talked: str) -> None:
    """Secrets are not logged."""
    for user in ("gateway", "dispatcher", "recorder", "setup", "worker-1", "worker-2"):
        assert stack.password(user) not in talked


def test_every_log_line_of_a_process_is_one_json_object(stack: Stack, talked: str) -> None:
    """Structured logs: one JSON object a line."""
    found = [line for line in lines(stack) if "process" in line]
    assert {"gateway", "dispatcher"} <= {line["process"] for line in found}
    assert all({"time", "level", "process", "logger", "event"} <= set(line) for line in found)


def processes_of(stack: Stack, request_id: str) -> set[str]:
    """Processes whose log lines carry a request id; workers all count as one."""
    found = [line["process"] for line in lines(stack) if line.get("request_id") == request_id]
    return {"worker" if name.startswith("worker-") else name for name in found}


def test_one_request_id_leads_through_gateway_and_worker(stack: Stack, client: httpx2.Client) -> None:
    """A request id that the client sends is in its answer and in the log lines of every process on the way."""
    request_id = f"trace-{uuid.uuid4().hex}"
    answer = client.post("/services/dummy/1/jobs", json={"async": False}, headers={"X-Request-Id": request_id})
    assert answer.headers["x-request-id"] == request_id
    wait_for(lambda: processes_of(stack, request_id), lambda found: found == {"gateway", "worker"}, limit_s=3)


def test_one_request_id_leads_through_gateway_dispatcher_and_worker(stack: Stack, client: httpx2.Client) -> None:
    """A request id: also of a job that is computed later."""
    request_id = f"trace-{uuid.uuid4().hex}"
    answer = client.post("/services/dummy/1/jobs", json={}, headers={"X-Request-Id": request_id})
    finished(client, answer.json()["url"])
    everywhere = {"gateway", "dispatcher", "worker"}
    wait_for(lambda: processes_of(stack, request_id), lambda found: found == everywhere, limit_s=3)


@pytest.mark.parametrize("given", [None, "short", "x" * 65, "with space in it", "semi;colon;semi", "Ünicode-id"])
def test_a_request_without_a_proper_id_gets_one(client: httpx2.Client, given: str | None) -> None:
    """A request id: made where there is none, or none that can go into a log line as it is."""
    headers = {} if given is None else {"X-Request-Id": given.encode()}
    answer = client.get("/services", headers=headers)
    assert answer.headers["x-request-id"] == uuid.UUID(answer.headers["x-request-id"]).hex


def test_a_refusal_carries_its_request_id_too(client: httpx2.Client) -> None:
    """A request id: on every answer, refusals above all."""
    answer = client.get("/nothing", headers={"X-Request-Id": "of-a-refusal"})
    assert (answer.status_code, answer.headers["x-request-id"]) == (404, "of-a-refusal")
