"""A job is one trace over gateway, bus and worker, at a receiver of OTLP; without the setting nothing is loaded."""

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import msgspec
import pytest

from clients import client_of
from onlooker.bus.messages import Task, decode_task, encode_task
from onlooker.settings import SettingsError, read_settings
from testkit import Stack, TestStream, migrated_database, running_stack
from testkit.trace_receiver import ReceivedSpan, TraceReceiver, trace_receiver
from wire import multipart

GATEWAY, DISPATCHER, WORKER = "onlooker-gateway", "onlooker-dispatcher", "onlooker-worker"
TRACE_MEMBER = 12
"""The place of the trace in a task."""


@pytest.fixture(scope="module")
def receiver() -> Iterator[TraceReceiver]:
    with trace_receiver() as running:
        yield running


@pytest.fixture(scope="module")
def traced(receiver: TraceReceiver) -> Iterator[Stack]:
    services = {"extra_services": "extra.passer", "worker_services": "dummy,passer"}
    with (
        migrated_database() as url,
        running_stack(url, traces_url=receiver.url, traces_ratio=1, **services) as running,
    ):
        yield running


@pytest.fixture
def sender(traced: Stack) -> TestStream:
    return traced.create_stream()


@pytest.fixture
def camera(traced: Stack, sender: TestStream) -> Iterator[httpx2.Client]:
    with client_of(traced, sender) as client:
        yield client


def trace_with(receiver: TraceReceiver, request_id: str, *, until: set[str]) -> list[ReceivedSpan]:
    """All spans of the trace of one request, once those named have come."""

    def found() -> list[ReceivedSpan]:
        spans = receiver.spans()
        ids = {span.trace_id for span in spans if span.attributes.get("onlooker.request_id") == request_id}
        return [span for span in spans if span.trace_id in ids]

    receiver.await_spans(lambda _: until <= {span.name for span in found()})
    return found()


def pass_by(client: httpx2.Client) -> str:
    """Three frames of one session, in the last of which somebody has left; the request id of that one."""
    session, began = {"session_id": str(uuid.uuid4())}, datetime.now(UTC) - timedelta(seconds=10)
    for second in range(3):
        at = (began + timedelta(seconds=second)).isoformat()
        meta = {"image": "attachment://shot", "async": False, "state": session, "timestamp": at, "leaves": second == 2}
        answer = client.post("/services/passer/1/jobs", files=multipart(meta, shot=b"secret picture"))
        assert answer.status_code == 201, answer.text
    return answer.headers["X-Request-Id"]


def test_a_job_in_a_session_is_one_trace_over_gateway_and_worker(
    receiver: TraceReceiver, camera: httpx2.Client, sender: TestStream
) -> None:
    spans = trace_with(receiver, pass_by(camera), until={"request", "task", "publish visit"})
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
    assert by_name["task"].attributes["onlooker.stream"] == sender.id


def test_a_job_without_a_session_writes_no_state(receiver: TraceReceiver, camera: httpx2.Client) -> None:
    answer = camera.post("/services/dummy/1/jobs", json={"echo": "x", "async": False})
    spans = trace_with(receiver, answer.headers["X-Request-Id"], until={"request", "task", "keep result"})
    assert {span.name for span in spans} == {
        *("request", "accept", "wait for turn", "engine", "keep result"),
        *("task", "queue", "compute"),
    }


def test_an_accepted_job_is_found_by_its_id_when_it_is_accepted_and_computed(
    receiver: TraceReceiver, camera: httpx2.Client
) -> None:
    answer = camera.post("/services/dummy/1/jobs", json={"echo": "x"})
    assert answer.status_code == 202
    job = answer.json()["uuid"].replace("-", "")
    named = {("request", GATEWAY), ("engine", DISPATCHER), ("task", WORKER)}
    receiver.await_spans(
        lambda spans: named <= {(one.name, one.process) for one in spans if one.attributes.get("onlooker.job") == job}
    )


def test_a_stranger_chooses_no_trace_and_its_refusal_has_no_parts(
    receiver: TraceReceiver, camera: httpx2.Client
) -> None:
    given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    headers = {"traceparent": given, "X-Request-Id": f"stranger-{uuid.uuid4()}"}
    assert camera.post("/services/dummy/1/jobs", json={"echo": [1]}, headers=headers).status_code == 400
    (request,) = trace_with(receiver, headers["X-Request-Id"], until={"request"})
    assert request.trace_id not in given
    assert request.attributes["http.response.status_code"] == 400


def test_traces_hold_ids_and_nothing_of_people_or_credentials(
    receiver: TraceReceiver, traced: Stack, camera: httpx2.Client, sender: TestStream
) -> None:
    trace_with(receiver, pass_by(camera), until={"request", "publish visit"})
    known = {"http.response.status_code", *(f"onlooker.{name}" for name in ("job", "outcome", "request_id"))}
    known |= {"onlooker.service", "onlooker.stream", "onlooker.error_code"}
    assert set().union(*(span.attributes for span in receiver.spans())) <= known
    sent = b"".join(receiver.bodies)
    secrets = (*sender.auth, "owner@example.org", "127.0.0.1", "secret picture", traced.password("gateway"))
    assert [secret for secret in secrets if secret.encode() in sent] == []


def test_spans_are_counted_and_a_collector_that_is_away_is_said_once(tmp_path: Path) -> None:
    with trace_receiver() as gone:
        url = gone.url
    services = {"worker_services": "dummy", "log_level": "info"}
    with migrated_database() as database, running_stack(database, traces_url=url, traces_ratio=1, **services) as stack:
        with client_of(stack, stack.create_stream()) as client:
            for _ in range(3):
                assert client.post("/services/dummy/1/jobs", json={"echo": "x", "async": False}).status_code == 201
        lost = 'onlooker_trace_spans_total{outcome="lost"}'
        give_up_at = time.monotonic() + 40
        while lost not in stack.metrics("gateway"):
            assert time.monotonic() < give_up_at
            time.sleep(0.2)
        text = stack.output.read_text()
    gateway = [line for line in text.splitlines() if '"process":"gateway"' in line]
    assert sum("traces can't be sent" in line for line in gateway) == 1
    assert "opentelemetry" not in text


@pytest.mark.parametrize(
    "process", ["onlooker.gateway.app", "onlooker.gateway.queue.dispatcher", "onlooker.compute.worker"]
)
def test_without_the_setting_nothing_of_it_is_loaded(process: str) -> None:
    script = (
        f"import sys, {process}; print([name for name in sys.modules if 'opentelemetry' in name or 'traces' in name])"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


def test_a_missing_package_is_a_sentence_with_the_remedy() -> None:
    script = "import sys; sys.modules['opentelemetry'] = None; from onlooker.cli import main; main(['gateway'])"
    environment = os.environ | {"ONLOOKER_TRACES_URL": "http://127.0.0.1:4318/v1/traces"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "ONLOOKER_TRACES_URL is set" in done.stderr
    assert "requirements-traces.txt" in done.stderr


@pytest.mark.parametrize("url", ["collector:4318", "http://user:secret@collector:4318/v1/traces", "grpc://collector/"])
def test_an_address_with_a_credential_or_another_protocol_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="ONLOOKER_TRACES_URL"):
        read_settings({"ONLOOKER_TRACES_URL": url})


def test_tasks_of_releases_with_and_without_traces_are_read() -> None:
    task = Task("id", "dummy", 1, {}, {}, None, 1.0, "request", 0.5, trace="00-aa-bb-01")
    members = msgspec.msgpack.decode(encode_task(task))
    assert members[TRACE_MEMBER] == "00-aa-bb-01"
    assert decode_task(msgspec.msgpack.encode(members[:TRACE_MEMBER])).trace == ""
    assert decode_task(encode_task(task)).trace == "00-aa-bb-01"
