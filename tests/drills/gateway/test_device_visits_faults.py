"""POST /services/scene_analysis/1/visits: what a device computed by itself becomes visits, coverage and use, once."""

import json
import time
import uuid
import zlib
from typing import Any

import httpx2

from clients import client_of
from testkit import Stack, TestStream
from wire import assert_problem, paused, wait_for

PATH = "/services/scene_analysis/1/visits"
SLOT_S = 900
Json = dict[str, Any]
VISITS = """SELECT id::text, revision, ended, session, age, gender, happiness, lower(present), confidence
            FROM visits_visit WHERE stream_id = %s ORDER BY began_at"""
COVERAGE = "SELECT round(video_s::numeric, 3)::float8 FROM streams_coverage WHERE stream_id = %s ORDER BY slot_at"


def visit(*, ago_s: float = 7200, **changes: Any) -> Json:
    """Somebody who was there for ten seconds."""
    began_ms = int((time.time() - ago_s) * 1000)
    told = {
        "id": uuid.uuid4().hex,
        "revision": 1,
        "ended": True,
        "present": [[began_ms, began_ms + 10_000]],
        "looking": [[began_ms + 1000, began_ms + 4000]],
        "age": 33.5,
        "age_confidence": 0.5,
        "gender": "female",
        "gender_confidence": 0.5,
        "expression": [0.5, 0.5, 0, 0, 0],
        "confidence": 1,
    }
    return told | changes


def slot(*, ago: int = 8, **changes: Any) -> Json:
    """Slots that have passed, counted from now."""
    return {"slot": int(time.time()) // SLOT_S - ago, "revision": 1, "watched_s": 600.5} | changes


def batch(visits: list[Json] | None = None, coverage: list[Json] | None = None, **changes: Any) -> Json:
    return {"device": str(uuid.UUID(int=5)), "visits": visits or [], "coverage": coverage or []} | changes


def post(stack: Stack, stream: TestStream, body: Json, *, deflated: bool = True, path: str = PATH) -> httpx2.Response:
    data = json.dumps(body).encode()
    headers = {"Content-Type": "application/json"} | ({"Content-Encoding": "deflate"} if deflated else {})
    with client_of(stack, stream) as client:
        return client.post(path, content=zlib.compress(data) if deflated else data, headers=headers)


def stored(stack: Stack, stream: TestStream, count: int) -> list[tuple[Any, ...]]:
    return wait_for(lambda: stack.execute(VISITS, stream.id), lambda rows: len(rows) == count)


def test_a_blind_camera_is_noted_and_so_is_one_that_sees_again(stack: Stack, stream: TestStream) -> None:
    query = "SELECT fault FROM streams_picturecondition WHERE stream_id = %s"
    number = int(time.time()) // SLOT_S
    dark = {"slot": number, "revision": 1, "blind_s": {"dark": 5}}
    post(stack, stream, batch([], [dark]))
    wait_for(lambda: stack.execute(query, stream.id), lambda rows: rows == [("dark",)])
    post(stack, stream, batch([], [dark | {"revision": 2, "watched_s": 4}]))
    wait_for(lambda: stack.execute(query, stream.id), lambda rows: rows == [("",)])


def test_while_the_bus_is_away_nothing_is_lost(stack: Stack, stream: TestStream) -> None:
    body = batch([visit()], [slot()])
    with paused(stack, "nats"):
        answer = post(stack, stream, body)
    assert_problem(answer, 503, "overloaded")
    assert int(answer.headers["Retry-After"]) >= 1
    again = wait_for(lambda: post(stack, stream, body), lambda answer: answer.status_code == 200)
    assert again.json()["accepted"] == {"visits": 1, "coverage": 1}
    stored(stack, stream, 1)
    assert stack.execute(COVERAGE, stream.id) == [(600.5,)]
