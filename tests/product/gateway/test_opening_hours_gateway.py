"""A stream with opening hours: frames from outside them are refused, counted and never computed; devices are told."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from test_device_visits import batch, post, slot, visit

from clients import client_of
from onlooker.streams.business_hours import WEEKDAYS
from testkit import Stack, TestStream
from wire import assert_problem, dummy, measure, wait_for

CLOSE = "UPDATE streams_stream SET hours = %s, hours_since = now() - interval '30 days' WHERE id = %s"


def hours_around(moment: datetime) -> str:
    """Open in the hour in which a moment lies, in UTC, and closed otherwise."""
    local = moment.astimezone(UTC)
    ends = "24:00" if local.hour == 23 else f"{local.hour + 1:02}:00"
    return f"{WEEKDAYS[local.weekday()]} {local.hour:02}:00-{ends}"


@pytest.fixture
def closed(stack: Stack) -> TestStream:
    """A stream that is open for an hour of the day before yesterday."""
    stream = stack.create_stream()
    stack.execute(CLOSE, hours_around(datetime.now(UTC) - timedelta(days=2)), stream.id)
    return stream


def test_a_frame_is_refused_politely(stack: Stack, closed: TestStream) -> None:
    with client_of(stack, closed) as client:
        answer = measure(client)
        assert_problem(answer, 403, "stream_closed")
        assert 1 <= int(answer.headers["Retry-After"]) <= 600
        opens_at = datetime.fromisoformat(answer.json()["opens_at"])
        assert timedelta(0) < opens_at - datetime.now(UTC) <= timedelta(days=7)
        assert dummy(client).status_code == 201
        assert client.get("/services").status_code == 200
        assert measure(client, **{"async": True}).status_code == 403


def test_hours_that_hold_now_let_a_frame_through(stack: Stack) -> None:
    stream = stack.create_stream()
    now = datetime.now(UTC)
    if now.minute >= 58:
        pytest.skip("the hour ends now")
    stack.execute(CLOSE, hours_around(now), stream.id)
    with client_of(stack, stream) as client:
        assert measure(client).status_code == 201


def test_a_device_is_told_when_the_stream_is_open(stack: Stack, closed: TestStream) -> None:
    with client_of(stack, closed) as client:
        said = client.get("/stream").json()
    opening = said["opening"]
    assert said["is_open"] is False
    assert opening["to"] - opening["from"] == 15 * 86_400
    assert [ends - begins for begins, ends in opening["spans"]][:2] == [3600, 3600][: len(opening["spans"][:2])]
    assert all(begins > time.time() for begins, _ in opening["spans"])
    assert opening["changes"] == [], "UTC"


def test_a_device_is_told_when_the_local_clock_is_set(stack: Stack, closed: TestStream) -> None:
    stack.execute("UPDATE streams_stream SET time_zone = 'Europe/Paris' WHERE id = %s", closed.id)
    with client_of(stack, closed) as client:
        changes = client.get("/stream").json()["opening"]["changes"]
    assert sorted(by for _, by in changes[:2]) == [-3600, 3600], "summer and winter"
    assert all(datetime.fromtimestamp(set_at, UTC).hour == 1 for set_at, _ in changes)


def test_a_stream_without_hours_is_always_open(stack: Stack, stream: TestStream) -> None:
    with client_of(stack, stream) as client:
        said = client.get("/stream").json()
    assert (said["opening"], said["is_open"]) == (None, True)


def test_what_a_device_computed_outside_the_hours_is_refused(stack: Stack, closed: TestStream) -> None:
    answer = post(stack, closed, batch([visit(ago_s=3600)], [slot(ago=4)]))
    assert answer.status_code == 200
    said = answer.json()
    assert said["accepted"] == {"visits": 0, "coverage": 0}
    assert {one["code"] for one in said["refused"]} == {"closed"}


def test_what_was_computed_before_the_hours_held_is_taken(stack: Stack, closed: TestStream) -> None:
    stack.execute("UPDATE streams_stream SET hours_since = now() WHERE id = %s", closed.id)
    said = post(stack, closed, batch([visit(ago_s=3600)], [slot(ago=4)])).json()
    assert said["accepted"] == {"visits": 1, "coverage": 1}


def test_looks_of_a_stream_that_only_counts_are_not_kept(stack: Stack) -> None:
    stream = stack.create_stream()
    stack.execute("UPDATE streams_stream SET reads_faces = false, reads_age = false WHERE id = %s", stream.id)
    assert post(stack, stream, batch([visit()])).json()["accepted"]["visits"] == 1
    look = "SELECT isempty(looking), age FROM visits_visit WHERE stream_id = %s"
    assert wait_for(lambda: stack.execute(look, stream.id), bool) == [(True, None)]
