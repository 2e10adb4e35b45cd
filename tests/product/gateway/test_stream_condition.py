"""PUT /stream/condition: what an agent may report of its camera, and how often."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx2
import psycopg
import pytest

from clients import client_of
from onlooker.database import load_queries
from onlooker.streams.condition import FRESH_S, DropReason
from onlooker_client.agent.frame_counts import Drop
from testkit import Stack, TestStream
from wire import assert_problem

GOOD: dict[str, Any] = {
    "state": "camera_lost",
    "since_s": 90.5,
    "over_s": 30,
    "sent": 120,
    "dropped": {"busy": 3, "unreachable": 0},
    "version": "0.1.0",
}
ROW = """SELECT state, extract(epoch FROM received_at - since_at)::float, over_s, sent, dropped, version
         FROM streams_agentcondition WHERE stream_id = %s"""


def put(stack: Stack, stream: TestStream, body: Any = GOOD, **options: Any) -> httpx2.Response:
    with client_of(stack, stream) as client:
        given = {"json": body} if not isinstance(body, bytes) else {"content": body}
        return client.put("/stream/condition", **given, **options)


def test_a_condition_is_one_row_of_its_stream(stack: Stack, stream: TestStream) -> None:
    answer = put(stack, stream)
    assert (answer.status_code, answer.content) == (204, b"")
    assert stack.execute(ROW, stream.id) == [("camera_lost", 90.5, 30.0, 120, {"busy": 3}, "0.1.0")]


def test_only_state_and_since_are_needed_and_what_is_unknown_is_ignored(stack: Stack, stream: TestStream) -> None:
    assert put(stack, stream, {"state": "seeing", "since_s": 1, "mood": "good"}).status_code == 204
    assert stack.execute(ROW, stream.id) == [("seeing", 1.0, 0.0, 0, {}, "")]


def test_reasons_that_only_a_newer_agent_knows_are_other(stack: Stack, stream: TestStream) -> None:
    put(stack, stream, GOOD | {"dropped": {"moonlight": 2, "sunlight": 3, "busy": 1}})
    [row] = stack.execute(ROW, stream.id)
    assert row[4] == {"other": 5, "busy": 1}


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"state": "asleep"}, "seeing, camera_lost, source_silent"),
        ({"state": 5}, "`state`"),
        ({"state": ["seeing"]}, "`state`"),
        ({"since_s": -1}, "since_s"),
        ({"since_s": 1e12}, "since_s"),
        ({"since_s": "long"}, "since_s"),
        ({"since_s": None}, "since_s"),
        ({"over_s": -0.1}, "over_s"),
        ({"sent": -1}, "sent"),
        ({"sent": 10**13}, "sent"),
        ({"sent": 1.5}, "sent"),
        ({"dropped": {"busy": -1}}, "dropped"),
        ({"dropped": {"x" * 41: 1}}, "dropped"),
        ({"dropped": {f"r{number}": 1 for number in range(33)}}, "dropped"),
        ({"dropped": ["busy"]}, "dropped"),
        ({"version": "1" * 41}, "version"),
        ({"version": "a\u0000b"}, "version"),
    ],
)
def test_a_wrong_field_is_refused_by_name(
    stack: Stack, stream: TestStream, changed: dict[str, Any], named: str
) -> None:
    problem = put(stack, stream, GOOD | changed)
    assert_problem(problem, 400, "bad_request")
    assert named in problem.json()["detail"]
    assert not stack.execute(ROW, stream.id)
    assert put(stack, stream).status_code == 204, "a refused one does not count"


def test_a_missing_field_is_refused(stack: Stack, stream: TestStream) -> None:
    answer = put(stack, stream, {"state": "seeing"})
    assert_problem(answer, 400, "bad_request")
    assert "since_s" in answer.json()["detail"]
    assert "/openapi.json" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "headers", "refusal"),
    [
        (b"{", {}, (400, "bad_request")),
        (b"[]", {}, (400, "bad_request")),
        (b"", {}, (400, "bad_request")),
        (b"{}", {"Content-Type": "text/plain"}, (415, "unsupported_media_type")),
        (b"{}", {"Content-Encoding": "gzip"}, (415, "unsupported_media_type")),
        (b'{"a": "' + b"x" * 4096 + b'"}', {}, (413, "too_large")),
    ],
)
def test_a_wrong_body_is_refused(
    stack: Stack, stream: TestStream, body: bytes, headers: dict[str, str], refusal: tuple[int, str]
) -> None:
    answer = put(stack, stream, body, headers={"Content-Type": "application/json"} | headers)
    assert_problem(answer, *refusal)


def test_a_second_report_within_30_seconds_is_refused(stack: Stack, stream: TestStream) -> None:
    assert put(stack, stream).status_code == 204
    answer = put(stack, stream, GOOD | {"state": "seeing"})
    assert_problem(answer, 429, "rate_limited")
    assert "every 30 seconds" in answer.json()["detail"]
    assert 25 <= int(answer.headers["Retry-After"]) <= 30
    assert stack.execute(ROW, stream.id)[0][0] == "camera_lost"
    assert put(stack, stack.create_stream()).status_code == 204, "others are not affected"


def test_only_the_stream_itself_may_report(stack: Stack, stream: TestStream) -> None:
    other = stack.create_stream()
    for token in ("", "wrong", other.access_token):
        assert_problem(put(stack, replace(stream, access_token=token)), 401, "bad_credentials")
    with client_of(stack, None) as nobody:
        assert_problem(nobody.put("/stream/condition", json=GOOD), 401, "bad_credentials")
    assert not stack.execute(ROW, stream.id)


def test_since_when_stays_where_it_was_and_a_restarted_agent_is_still_without_its_camera(
    stack: Stack, stream: TestStream
) -> None:
    put(stack, stream)
    times = "SELECT since_at, blind_since_at FROM streams_agentcondition WHERE stream_id = %s"
    [(since_at, blind_since_at)] = stack.execute(times, stream.id)
    assert since_at == blind_since_at
    # Sent by the statement itself: the gateway accepts one in 30 seconds.
    for since_s, is_same in ((93, True), (5, False)):
        again(stack, stream, state="camera_lost", since_s=since_s)
        [(now_since_at, now_blind_since_at)] = stack.execute(times, stream.id)
        assert (now_since_at == since_at) is is_same
        assert abs(now_blind_since_at - blind_since_at) < timedelta(seconds=5)
    again(stack, stream, state="seeing", since_s=1)
    assert stack.execute(times, stream.id)[0][1] is None


def again(stack: Stack, stream: TestStream, *, state: str, since_s: float) -> None:
    values = {"stream_id": stream.id, "state": state, "since_s": since_s, "gap_s": FRESH_S}
    values |= {"over_s": 30.0, "sent": 1, "dropped": "{}", "version": ""}
    with psycopg.connect(stack.setting("database_url"), autocommit=True) as connection:
        connection.execute(load_queries("onlooker.streams")["put_condition"].encode(), values)


def test_it_is_described(stack: Stack, stream: TestStream) -> None:
    with client_of(stack, stream) as client:
        document = client.get("/openapi.json").json()
    operation = document["paths"]["/stream/condition"]["put"]
    assert {"204", "400", "401", "413", "415", "429"} <= operation["responses"].keys()
    schema = document["components"]["schemas"]["Condition"]
    assert schema["required"] == ["state", "since_s"]
    assert set(schema["properties"]["state"]["enum"]) == {"seeing", "camera_lost", "source_silent"}


def test_the_reasons_of_agents_are_known_here() -> None:
    assert {reason.value for reason in Drop} == set(DropReason) - {DropReason.OTHER}
