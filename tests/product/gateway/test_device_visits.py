"""POST /services/scene_analysis/1/visits: what a device computed by itself becomes visits, coverage and use, once."""

import json
import time
import uuid
import zlib
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest

from clients import client_of
from onlooker.streams.administration import TRIAL_TIME
from onlooker.streams.credentials import hash_access_token
from testkit import Stack, TestStream
from wire import assert_problem, dummy, wait_for

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


@pytest.mark.parametrize("deflated", [True, False])
def test_a_visit_is_recorded_as_if_a_worker_had_published_it(stack: Stack, stream: TestStream, deflated: bool) -> None:
    told = visit()
    answer = post(stack, stream, batch([told]), deflated=deflated)
    assert answer.status_code == 200, answer.text
    assert answer.json()["accepted"] == {"visits": 1, "coverage": 0}
    assert answer.json()["refused"] == []
    assert abs(datetime.fromisoformat(answer.json()["now"]) - datetime.now(UTC)).total_seconds() < 10
    [row] = stored(stack, stream, 1)
    assert row[0].replace("-", "") == told["id"]
    assert row[1:] == (
        *(1, True, "", 33.5, "female", 0.5),
        *(datetime.fromtimestamp(told["present"][0][0] / 1000, UTC), 1.0),
    )


def test_the_same_batch_five_times_is_one(stack: Stack, stream: TestStream) -> None:
    body = batch([visit()], [slot(blind_s={"dark": 10}, refused={"compute_busy": 3})])
    answers = [post(stack, stream, body) for _ in range(5)]
    assert [answer.json()["accepted"] for answer in answers] == [{"visits": 1, "coverage": 1}] * 5
    stored(stack, stream, 1)
    assert stack.execute(COVERAGE, stream.id) == [(600.5,)]
    blindness = "SELECT fault, video_s FROM streams_blindness WHERE stream_id = %s"
    assert stack.execute(blindness, stream.id) == [("dark", 10)]
    refusals = "SELECT reason, frames FROM streams_refusal WHERE stream_id = %s"
    assert stack.execute(refusals, stream.id) == [("compute_busy", 3)]
    assert used_s(stack, stream) == 610.5


def used_s(stack: Stack, stream: TestStream) -> float:
    return float(stack.execute("SELECT sum(video_s) FROM streams_usage WHERE stream_id = %s", stream.id)[0][0])


def test_a_higher_revision_replaces_and_a_lower_one_changes_nothing(stack: Stack, stream: TestStream) -> None:
    first = visit()
    longer = first | {"revision": 3, "age": 40.0}
    for told, watched in ((first, (1, 60)), (longer, (3, 180)), (first | {"revision": 2}, (2, 120))):
        coverage = slot(revision=watched[0], watched_s=watched[1])
        assert post(stack, stream, batch([told], [coverage])).status_code == 200
    wait_for(lambda: stored(stack, stream, 1)[0][1], lambda revision: revision == 3)
    assert stored(stack, stream, 1)[0][4] == 40.0
    assert stack.execute(COVERAGE, stream.id) == [(180.0,)]


def test_items_are_refused_one_by_one_and_the_others_are_taken(stack: Stack, stream: TestStream) -> None:
    good, late = visit(), visit(ago_s=-3600)
    old, wrong = slot(ago=366 * 96), slot(ago=9, watched_s=-1)
    answer = post(stack, stream, batch([late, good], [old, slot(), wrong])).json()
    assert answer["accepted"] == {"visits": 1, "coverage": 1}
    found = {one.get("visit", one.get("slot")): one["code"] for one in answer["refused"]}
    assert found == {late["id"]: "in_future", old["slot"]: "too_old", wrong["slot"]: "bad_value"}
    assert all(one["message"] for one in answer["refused"])
    assert len(stored(stack, stream, 1)) == 1


def test_what_the_stream_has_switched_off_is_not_stored(stack: Stack, stream: TestStream) -> None:
    off = "UPDATE streams_stream SET reads_age = false, reads_gender = false, reads_expression = false WHERE id = %s"
    stack.execute(off, stream.id)
    assert post(stack, stream, batch([visit()])).json()["accepted"]["visits"] == 1
    assert stored(stack, stream, 1)[0][4:7] == (None, None, None)


def test_another_stream_with_the_same_device_and_ids_is_not_touched(stack: Stack, stream: TestStream) -> None:
    other, body = stack.create_stream(), batch([visit()], [slot()])
    post(stack, stream, body)
    before = stored(stack, stream, 1)
    changed = batch([body["visits"][0] | {"revision": 9, "age": 99}], [body["coverage"][0] | {"revision": 9}])
    assert post(stack, other, changed).json()["accepted"] == {"visits": 1, "coverage": 1}
    assert stored(stack, other, 1)[0][1] == 9
    assert stack.execute(VISITS, stream.id) == before
    assert stack.execute(COVERAGE, stream.id) == [(600.5,)]


def test_only_somebody_seen_just_now_is_in_view(stack: Stack, stream: TestStream) -> None:
    now, earlier = visit(ago_s=12, ended=False), visit(ago_s=4000, ended=False)
    post(stack, stream, batch([now, earlier]))
    assert [row[2] for row in stored(stack, stream, 2)] == [True, False]


def test_a_stream_whose_device_tells_something_is_live(stack: Stack, stream: TestStream) -> None:
    query = "SELECT now() - max(last_frame_at) < interval '20 seconds' FROM streams_usage WHERE stream_id = %s"
    assert post(stack, stream, batch()).status_code == 200
    assert stack.execute(query, stream.id) == [(None,)], "an empty batch says nothing about the camera"
    post(stack, stream, batch([], [slot()]))
    assert stack.execute(query, stream.id) == [(True,)]


def test_a_used_up_month_refuses_what_was_computed_in_it(stack: Stack) -> None:
    stream = stack.create_stream(kind="developer")
    number = int(time.time()) // SLOT_S - 8
    month = datetime.fromtimestamp(number * SLOT_S, UTC).date().replace(day=1)
    use = "INSERT INTO streams_usage (stream_id, month, video_s) VALUES (%s, %s, 10790)"
    stack.execute(use, stream.id, month)
    taken, beyond = ({"slot": number + place, "revision": 1, "watched_s": 20} for place in (0, 1))
    inside, outside = (visit(ago_s=time.time() - (number + place) * SLOT_S - 5) for place in (0, 1))
    answer = post(stack, stream, batch([inside, outside], [beyond, taken])).json()
    assert answer["accepted"] == {"visits": 1, "coverage": 1}
    codes = {one.get("visit", one.get("slot")): one["code"] for one in answer["refused"]}
    assert codes == {outside["id"]: "quota_exceeded", number + 1: "quota_exceeded"}
    again = post(stack, stream, batch([inside], [taken])).json()
    assert again["accepted"] == {"visits": 1, "coverage": 1}, "what was taken once is taken again"
    with client_of(stack, stream) as client:
        assert client.get("/stream").json()["month"]["used_s"] == pytest.approx(10_810)


def test_a_disabled_stream_keeps_its_batch(stack: Stack) -> None:
    assert_problem(post(stack, stack.create_stream(enabled=False), batch([visit()])), 403, "stream_disabled")


def test_only_the_stream_itself_may_send(stack: Stack, stream: TestStream) -> None:
    for token in ("", "wrong", stack.create_stream().access_token):
        assert_problem(post(stack, replace(stream, access_token=token), batch([visit()])), 401, "bad_credentials")
    trial = """INSERT INTO streams_accesstoken (stream_id, sha256, created_at, expires_at, is_trial)
               VALUES (%s, %s, now(), now() + %s, true)"""
    stack.execute(trial, stream.id, hash_access_token("trial"), TRIAL_TIME)
    wait_for(
        lambda: post(stack, replace(stream, access_token="trial"), batch([visit()])).status_code,
        lambda status: status == 404,
    )
    assert stack.execute(VISITS, stream.id) == []


def test_only_a_service_that_makes_visits_takes_them(stack: Stack, stream: TestStream) -> None:
    for path in ("/services/dummy/1/visits", "/services/scene_analysis/2/visits", "/services/none/1/visits"):
        assert_problem(post(stack, stream, batch([visit()]), path=path), 404, "not_found")


@pytest.mark.parametrize(
    ("body", "headers", "refusal"),
    [
        (b"{", {}, (400, "bad_request")),
        (b'{"device": "x"}', {}, (400, "bad_request")),
        (zlib.compress(b"{}")[:-3], {"Content-Encoding": "deflate"}, (400, "bad_request")),
        (b"{}", {"Content-Encoding": "deflate"}, (400, "bad_request")),
        (b"{}", {"Content-Encoding": "gzip"}, (415, "unsupported_media_type")),
        (b"{}", {"Content-Type": "text/plain"}, (415, "unsupported_media_type")),
        (b" " * (128 * 1024 + 1), {}, (413, "too_large")),
        (zlib.compress(b" " * (50 * 1024**2)), {"Content-Encoding": "deflate"}, (413, "too_large")),
    ],
)
def test_what_is_no_batch_is_refused_whole(
    stack: Stack, stream: TestStream, body: bytes, headers: dict[str, str], refusal: tuple[int, str]
) -> None:
    with client_of(stack, stream) as client:
        answer = client.post(PATH, content=body, headers={"Content-Type": "application/json"} | headers)
    assert_problem(answer, *refusal)


def test_more_than_a_few_batches_at_once_are_refused_for_now(stack: Stack, stream: TestStream) -> None:
    answers = [post(stack, stream, batch()) for _ in range(10)]
    refused = [answer for answer in answers if answer.status_code != 200]
    assert answers[0].status_code == 200
    assert refused
    for answer in refused:
        assert_problem(answer, 429, "rate_limited")
        assert 1 <= int(answer.headers["Retry-After"]) <= 2
    assert post(stack, stack.create_stream(), batch()).status_code == 200, "others are not affected"


def test_items_are_counted_by_what_became_of_them(stack: Stack, stream: TestStream) -> None:
    post(stack, stream, batch([visit(), visit(ago_s=-3600)], [slot()]))
    text = stack.metrics("gateway")
    for kind, outcome in (("visit", "accepted"), ("visit", "in_future"), ("slot", "accepted")):
        assert f'onlooker_device_items_total{{kind="{kind}",outcome="{outcome}"}}' in text


def test_it_is_described(stack: Stack, stream: TestStream) -> None:
    with client_of(stack, stream) as client:
        document = client.get("/openapi.json").json()
    operation = document["paths"][PATH]["post"]
    assert {"200", "400", "401", "403", "413", "415", "429", "503"} <= operation["responses"].keys()
    schema = document["components"]["schemas"]["DeviceBatch"]
    assert schema["required"] == ["device"]
    assert schema["properties"]["visits"]["maxItems"] == 500
    assert "/services/dummy/1/visits" not in document["paths"]


def test_a_stream_says_where_its_agent_is_to_compute(stack: Stack, stream: TestStream) -> None:
    with client_of(stack, stream) as client:
        assert client.get("/stream").json()["compute"] == "server"
        stack.execute("UPDATE streams_stream SET compute = 'device' WHERE id = %s", stream.id)
        wait_for(lambda: client.get("/stream").json()["compute"], lambda compute: compute == "device")
        assert dummy(client).status_code == 201, "jobs go on: the wire is a contract"
