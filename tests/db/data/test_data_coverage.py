"""What was watched, as the data endpoint says it, and who is in view now."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from onlooker.metrics.coverage import Absence
from onlooker.metrics.definitions import METRICS
from readers import Question, seen
from recorder_process import visit
from wire import assert_problem

pytest_plugins = ["endpoint"]

NOTHING = {absence.value: 0.0 for absence in Absence}
HOURS = {"time": "by_hour", "from_date": "2026-03-02T09:00:00Z", "to_date": "2026-03-02T12:00:00Z"}


@pytest.fixture
def watching(question: Question) -> Question:
    """A camera that watched from 9:00 to 9:45, was switched off at 10:30, and never came back."""
    execute, stream_id = question.reader.archive.execute, question.stream.stream_id
    execute("UPDATE streams_stream SET created_at = '2026-03-01Z' WHERE id = %s", stream_id)
    for slot in ("09:00", "09:15", "09:30"):
        statement = "INSERT INTO streams_coverage (stream_id, slot_at, video_s) VALUES (%s, %s, 900)"
        execute(statement, stream_id, f"2026-03-02 {slot}Z")
    execute("INSERT INTO streams_statechange (stream_id, at, state) VALUES (%s, %s, 'disabled')", stream_id, OFF_AT)
    refusal = "INSERT INTO streams_refusal (stream_id, slot_at, reason, frames) VALUES (%s, %s, 'overloaded', 3)"
    execute(refusal, stream_id, "2026-03-02 10:00Z")
    return question


OFF_AT = "2026-03-02 10:30Z"


def entities(question: Question, **asked: Any) -> list[dict[str, Any]]:
    return list(question.body(**asked)["entities"].values())


def test_each_bucket_says_what_was_watched_and_why_not_the_rest(watching: Question) -> None:
    assert entities(watching, metrics="gaps,watched", **HOURS) == [
        {"gaps": NOTHING | {"offline": 900.0}, "watched": {"value": 2700.0, "share": 0.75}},
        {
            "gaps": NOTHING | {"refused": 900.0, "offline": 900.0, "disabled": 1800.0},
            "watched": {"value": 0.0, "share": 0.0},
        },
        {"gaps": NOTHING | {"disabled": 3600.0}, "watched": {"value": 0.0, "share": 0.0}},
    ]


def test_watched_alone_is_the_same(watching: Question) -> None:
    assert [one["watched"]["value"] for one in entities(watching, metrics="watched", **HOURS)] == [2700.0, 0.0, 0.0]
    [whole] = entities(watching, metrics="watched", **(HOURS | {"time": "global"}))
    assert whole == {"watched": {"value": 2700.0, "share": 0.25}}


def test_metrics_of_both_kinds_come_in_the_order_asked(watching: Question) -> None:
    watching.write(seen(watching.stream, "2026-03-02T09:10:00Z"))
    first, *_ = entities(watching, metrics="watched,passing_by,gaps,interested", **HOURS)
    assert list(first) == ["watched", "passing_by", "gaps", "interested"]
    assert (first["passing_by"], first["watched"]["value"]) == ({"value": 1}, 2700.0)


def test_an_answer_without_them_stays_as_it_is(watching: Question) -> None:
    [whole] = entities(watching, metrics=",".join(METRICS))
    assert list(whole) == list(METRICS)


def test_pages_go_on_with_them(watching: Question) -> None:
    asked = {"metrics": "watched,gaps", "time": "by_hour", "from_date": "2026-03-01T00:00:00Z"}
    body = watching.body(**asked, to_date="2026-03-04T00:00:00Z")
    assert "metrics=watched%2Cgaps" in body["next_page"]


def test_a_range_in_the_future_has_no_share(watching: Question) -> None:
    [whole] = entities(watching, metrics="watched,gaps", from_date="2099-01-01", to_date="2099-01-02")
    assert whole == {"watched": {"value": 0.0, "share": None}, "gaps": NOTHING}


def test_coverage_is_there_when_the_visits_are_gone(watching: Question) -> None:
    execute, stream_id = watching.reader.archive.execute, watching.stream.stream_id
    execute("UPDATE streams_stream SET retention_days = 1 WHERE id = %s", stream_id)
    execute("INSERT INTO visits_kept (stream_id, since) VALUES (%s, '2026-04-01Z')", stream_id)
    first, *_ = entities(watching, metrics="watched,gaps", **HOURS)
    assert (first["watched"]["share"], first["gaps"]["unknown"]) == (0.75, 0.0)


def test_what_an_earlier_release_deleted_is_not_known(watching: Question) -> None:
    since = "UPDATE streams_stream SET coverage_since = '2026-03-02 09:45Z' WHERE id = %s"
    watching.reader.archive.execute(since, watching.stream.stream_id)
    for metrics in ("watched", "watched,gaps"):
        shares = [one["watched"]["share"] for one in entities(watching, metrics=metrics, **HOURS)]
        assert shares == [0.75, 0.0, 0.0]
    since = "UPDATE streams_stream SET coverage_since = '2026-03-02 11:00Z' WHERE id = %s"
    watching.reader.archive.execute(since, watching.stream.stream_id)
    for metrics in ("watched", "watched,gaps"):
        shares = [one["watched"]["share"] for one in entities(watching, metrics=metrics, **HOURS)]
        assert shares == [None, None, 0.0], "the third hour is known: the stream was disabled"


def test_who_is_in_view_stands_in_the_bucket_of_now(question: Question) -> None:
    now = datetime.now(UTC)
    start = int(now.timestamp() * 1000) - 4000
    looking = [(start, start + 4000)]
    question.write(visit(question.stream.stream_id, began_ms=start, revision=4, ended=False, looking=looking))
    asked = {"metrics": "in_view", "time": "by_hour", "from_date": (now - timedelta(hours=2)).isoformat()}
    *before, last = entities(question, **asked, to_date=None)
    assert last == {"in_view": {"value": 1, "looking": 1}}
    assert {tuple(one["in_view"].values()) for one in before} == {(None, None)}


def test_a_range_that_is_over_has_nobody_in_view(question: Question) -> None:
    assert entities(question, metrics="in_view") == [{"in_view": {"value": None, "looking": None}}]


def test_a_wrong_name_is_told_all_that_there_are(question: Question) -> None:
    detail = assert_problem(question.ask(metrics="seen"), 400, "bad_request")["detail"]
    assert all(name in detail for name in ("passing_by", "watched", "gaps", "in_view"))
