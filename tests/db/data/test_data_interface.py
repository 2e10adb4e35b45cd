"""The data endpoint of the interface document, row by row."""

from typing import Any

import pytest

from onlooker.metrics.definitions import METRICS
from readers import DATA_URL, PATH, Question, Reader, Watched, seen
from wire import assert_problem

pytest_plugins = ["endpoint"]

COUNTS_AND_MEANS = {
    "interested": {"value": 1},
    "passing_by": {"value": 2},
    "stop_time": {"value": 6.0},
    "attention_time": {"value": 3.0},
    "category": {"senior_female": 0, "senior_male": 0, "young_female": 1, "young_male": 0},
    "gender": {"?": 0, "female": 1, "male": 0},
}


@pytest.fixture
def busy(question: Question) -> Question:
    """On one morning somebody stopped and looked, and somebody walked by."""
    question.write(
        seen(question.stream, "2026-03-02T09:30:00Z", still_s=6, look_s=3),
        seen(question.stream, "2026-03-02T09:40:00Z"),
    )
    return question


def test_fields_of_the_entities_response(busy: Question) -> None:
    body = busy.body()
    expected = [
        ("entities", {"global": {"passing_by": {"value": 2}}}),
        ("time", "global"),
        ("from_date", "2026-03-02T00:00:00+00:00"),
        ("to_date", "2026-03-03T00:00:00+00:00"),
        ("total_results", 1),
        ("nb_of_pages", 1),
        ("page", 1),
        ("next_page", ""),
    ]
    assert list(body.items()) == expected


def test_entities_maps_bucket_starts_to_requested_metrics(busy: Question) -> None:
    entities = busy.body(metrics="gender,passing_by", time="by_hour")["entities"]
    assert len(entities) == 24
    assert next(iter(entities)) == "2026-03-02T00:00:00+00:00"
    assert all(list(values) == ["gender", "passing_by"] for values in entities.values())
    assert entities["2026-03-02T09:00:00+00:00"]["passing_by"] == {"value": 2}


def test_next_page_is_a_complete_url(busy: Question) -> None:
    body = busy.body(time="by_hour", to_date="2026-03-06T00:00:00Z")
    assert (body["total_results"], body["nb_of_pages"], body["page"]) == (96, 2, 1)
    assert body["next_page"].startswith(f"{DATA_URL}{PATH}?")
    followed = busy.reader.request("GET", body["next_page"], headers=busy.reader.bearing(busy.stream)).json()
    assert (followed["page"], followed["next_page"], len(followed["entities"])) == (2, "", 46)
    assert followed == busy.body(time="by_hour", to_date="2026-03-06T00:00:00Z", page=2)


@pytest.mark.parametrize(("metric", "value"), COUNTS_AND_MEANS.items())
def test_value_shape(busy: Question, metric: str, value: dict[str, Any]) -> None:
    found = busy.body(metrics=metric)["entities"]["global"][metric]
    assert found == value
    assert list(found) == list(value)


def test_by_day_keys_are_day_starts(busy: Question) -> None:
    body = busy.body(time="by_day", to_date="2026-03-04T12:00:00Z")
    assert list(body["entities"]) == [f"2026-03-0{day}T00:00:00+00:00" for day in (2, 3, 4)]
    assert body["time"] == "by_day"


def test_by_hour_buckets_are_hours(busy: Question) -> None:
    body = busy.body(time="by_hour", to_date="2026-03-02T03:00:00Z")
    assert list(body["entities"]) == [f"2026-03-02T0{hour}:00:00+00:00" for hour in (0, 1, 2)]


@pytest.mark.parametrize("name", ["metrics", "from_date"])
def test_parameter_is_required(question: Question, name: str) -> None:
    body = assert_problem(question.ask(**{name: None}), 400, "bad_request")
    assert f"`{name}`" in body["detail"]


def test_metrics_is_a_comma_separated_list_without_whitespace(question: Question) -> None:
    asked = "interested,passing_by,stop_time,attention_time,category,gender,satisfaction"
    assert list(question.body(metrics=asked)["entities"]["global"]) == asked.split(",")
    assert_problem(question.ask(metrics="interested, passing_by"), 400, "bad_request")


def test_metrics_takes_no_others(question: Question) -> None:
    assert "interested" in assert_problem(question.ask(metrics="interest"), 400, "bad_request")["detail"]


def test_from_date_is_url_encoded(busy: Question) -> None:
    query = "metrics=passing_by&from_date=2026-03-02T10%3A35%3A00%2B01%3A00&to_date=2026-03-02T11%3A00%3A00%2B01%3A00"
    answer = busy.reader.request("GET", f"{PATH}?{query}", headers=busy.reader.bearing(busy.stream))
    assert answer.json()["entities"]["global"]["passing_by"] == {"value": 1}


def test_a_plus_sign_that_is_not_encoded_is_told_the_remedy(question: Question) -> None:
    query = "metrics=passing_by&from_date=2026-03-02T10:35:00+01:00"
    answer = question.reader.request("GET", f"{PATH}?{query}", headers=question.reader.bearing(question.stream))
    assert "%2B" in assert_problem(answer, 400, "bad_request")["detail"]


def test_to_date_defaults_to_the_current_date(question: Question) -> None:
    body = question.body(to_date=None, from_date="2026-03-02T00:00:00Z")
    assert body["to_date"] > body["from_date"]
    later = question.body(to_date=None, from_date="2026-03-02T00:00:00Z")
    assert later["to_date"] > body["to_date"]


@pytest.mark.parametrize("time", ["by_hour", "by_day", "global"])
def test_time_takes_its_value(question: Question, time: str) -> None:
    assert question.body(time=time)["time"] == time


def test_time_takes_no_other_value_and_defaults_to_global(question: Question) -> None:
    assert_problem(question.ask(time="by_year"), 400, "bad_request")
    assert question.body(time=None)["time"] == "global"


def test_page_is_an_integer_and_defaults_to_1(question: Question) -> None:
    assert question.body(page=None)["page"] == 1
    assert question.body(page=1)["page"] == 1
    for wrong in ("0", "-1", "1.5", "one", ""):
        assert_problem(question.ask(page=wrong), 400, "bad_request")


def test_every_request_carries_the_authorization_header(reader: Reader) -> None:
    for path in (PATH, f"{PATH}.csv"):
        answer = reader.request("GET", path, params={"metrics": "interested", "from_date": "2026-03-02T00:00:00Z"})
        assert_problem(answer, 401, "missing_token")
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_problem_of_the_jwt_is_explained(reader: Reader, watched: Watched) -> None:
    told = set()
    for token in ("nonsense", reader.archive.token(watched, exp=1), reader.archive.token(watched, credential=0)):
        answer = reader.request("GET", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 401
        told.add(answer.json()["detail"])
    assert len(told) == 3


def test_a_malformed_request_is_described(question: Question) -> None:
    body = assert_problem(question.ask(from_date="yesterday"), 400, "bad_request")
    assert "`from_date`" in body["detail"]
    assert "yesterday" in body["detail"]


def test_the_version_is_in_the_path(question: Question) -> None:
    assert question.ask("/api/1/entities").status_code == 200
    assert_problem(question.ask("/api/2/entities"), 404, "not_found")


def test_numbers_of_another_stream_are_never_shown(busy: Question) -> None:
    other = busy.reader.archive.create_stream()
    for extra in ({}, {"stream_id": busy.stream.stream_id, "client_id": str(busy.stream.client_id)}):
        body = Question(busy.reader, other).body(metrics=",".join(METRICS), **extra)
        assert body["entities"]["global"]["passing_by"] == {"value": 0}
