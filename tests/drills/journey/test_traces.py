"""A job is one trace over gateway, bus and worker, at a receiver of OTLP."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from clients import client_of
from testkit import Stack, TestStream, migrated_database, running_stack
from testkit.trace_receiver import ReceivedSpan, TraceReceiver, trace_receiver
from wire import multipart

GATEWAY, DISPATCHER, WORKER = "onlooker-gateway", "onlooker-dispatcher", "onlooker-worker"
GIVEN = "0af7651916cd43dd8448eb211c80319c"
"""The trace that a stranger asks for."""


@dataclass(frozen=True)
class Traced:
    """What was asked of a product that traces every job, and what it sent to its collector."""

    stack: Stack
    sender: TestStream
    receiver: TraceReceiver
    passed: str
    """Request id of the last frame of a session in which somebody leaves."""
    alone: str
    """Of a job without a session."""
    refused: str
    accepted: str
    """Id of a job that was accepted to be computed later."""

    def spans_of(self, request_id: str) -> list[ReceivedSpan]:
        """All spans of the trace of one request."""
        spans = self.receiver.spans()
        ids = {span.trace_id for span in spans if span.attributes.get("onlooker.request_id") == request_id}
        return [span for span in spans if span.trace_id in ids]

    def where_is(self, job: str) -> set[tuple[str, str]]:
        spans = self.receiver.spans()
        return {(span.name, span.process) for span in spans if span.attributes.get("onlooker.job") == job}


ACCEPTED = {("request", GATEWAY), ("engine", DISPATCHER), ("task", WORKER)}


@pytest.fixture(scope="module")
def traced() -> Iterator[Traced]:
    """Spans are sent every five seconds, so everything is asked first, and waited for once."""
    services = {"extra_services": "extra.passer", "worker_services": "dummy,passer"}
    with (
        trace_receiver() as receiver,
        migrated_database() as url,
        running_stack(url, traces_url=receiver.url, traces_ratio=1, **services) as stack,
    ):
        sender = stack.create_stream()
        with client_of(stack, sender) as camera:
            ids = (pass_by(camera), call_alone(camera), ask_as_a_stranger(camera), accept(camera))
        asked = Traced(stack, sender, receiver, *ids)
        # The end of a trace is sent by the gateway, what is in it by others.
        receiver.await_spans(
            lambda _: (
                {"request", "task", "publish visit"} <= {span.name for span in asked.spans_of(asked.passed)}
                and {"request", "task"} <= {span.name for span in asked.spans_of(asked.alone)}
                and bool(asked.spans_of(asked.refused))
                and asked.where_is(asked.accepted) >= ACCEPTED
            )
        )
        yield asked


def pass_by(client: httpx2.Client) -> str:
    """Three frames of one session, in the last of which somebody has left."""
    session, began = {"session_id": str(uuid.uuid4())}, datetime.now(UTC) - timedelta(seconds=10)
    for second in range(3):
        at = (began + timedelta(seconds=second)).isoformat()
        meta = {"image": "attachment://shot", "async": False, "state": session, "timestamp": at, "leaves": second == 2}
        answer = client.post("/services/passer/1/jobs", files=multipart(meta, shot=b"secret picture"))
        assert answer.status_code == 201, answer.text
    return answer.headers["X-Request-Id"]


def call_alone(client: httpx2.Client) -> str:
    answer = client.post("/services/dummy/1/jobs", json={"echo": "x", "async": False})
    return answer.headers["X-Request-Id"]


def ask_as_a_stranger(client: httpx2.Client) -> str:
    headers = {"traceparent": f"00-{GIVEN}-b7ad6b7169203331-01", "X-Request-Id": f"stranger-{uuid.uuid4()}"}
    assert client.post("/services/dummy/1/jobs", json={"echo": [1]}, headers=headers).status_code == 400
    return headers["X-Request-Id"]


def accept(client: httpx2.Client) -> str:
    answer = client.post("/services/dummy/1/jobs", json={"echo": "x"})
    assert answer.status_code == 202
    return str(answer.json()["uuid"]).replace("-", "")


def test_a_job_in_a_session_is_one_trace_over_gateway_and_worker(traced: Traced) -> None:
    spans = traced.spans_of(traced.passed)
    by_name = {span.name: span for span in spans}
    assert len({span.trace_id for span in spans}) == 1
    assert [span.name for span in spans if not span.parent_id] == ["request"]
    parents = {span.name: next((one.name for one in spans if one.span_id == span.parent_id), "") for span in spans}
    assert parents == {
        "request": "",
        **dict.fromkeys(("accept", "wait for turn", "engine", "keep result"), "request"),
        "task": "engine",
        **dict.fromkeys(("queue", "compute", "write state", "publish visit"), "task"),
    }
    in_worker = {"task", "queue", "compute", "write state", "publish visit"}
    assert {span.name: span.process for span in spans} == {
        name: WORKER if name in in_worker else GATEWAY for name in by_name
    }
    order = [
        "accept",
        "wait for turn",
        "engine",
        "task",
        "queue",
        "compute",
        "write state",
        "publish visit",
        "keep result",
    ]
    began = [by_name[name].began_ns for name in order]
    assert began == sorted(began)
    assert all(
        by_name["request"].began_ns <= span.began_ns <= span.ended_ns <= by_name["request"].ended_ns for span in spans
    )
    assert by_name["request"].attributes["http.response.status_code"] == 201
    assert by_name["task"].attributes["onlooker.outcome"] == "done"
    assert by_name["task"].attributes["onlooker.stream"] == traced.sender.id


def test_a_job_without_a_session_writes_no_state(traced: Traced) -> None:
    assert {span.name for span in traced.spans_of(traced.alone)} == {
        *("request", "accept", "wait for turn", "engine", "keep result"),
        *("task", "queue", "compute"),
    }


def test_an_accepted_job_is_found_by_its_id_when_it_is_accepted_and_computed(traced: Traced) -> None:
    assert traced.where_is(traced.accepted) >= ACCEPTED


def test_a_stranger_chooses_no_trace_and_its_refusal_has_no_parts(traced: Traced) -> None:
    (request,) = traced.spans_of(traced.refused)
    assert request.trace_id != GIVEN
    assert request.attributes["http.response.status_code"] == 400


def test_traces_hold_ids_and_nothing_of_people_or_credentials(traced: Traced) -> None:
    known = {"http.response.status_code", *(f"onlooker.{name}" for name in ("job", "outcome", "request_id"))}
    known |= {"onlooker.service", "onlooker.stream", "onlooker.error_code"}
    assert set().union(*(span.attributes for span in traced.receiver.spans())) <= known
    sent = b"".join(traced.receiver.bodies)
    password = traced.stack.password("gateway")
    secrets = (*traced.sender.auth, "owner@example.org", "127.0.0.1", "secret picture", password)
    assert [secret for secret in secrets if secret.encode() in sent] == []
