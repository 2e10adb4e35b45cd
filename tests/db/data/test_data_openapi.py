"""The OpenAPI document says what the endpoint does, and its examples are real."""

from typing import Any

import jsonschema_rs
import pytest

from onlooker.data import openapi
from onlooker.data.app import ROUTES
from onlooker.metrics.definitions import METRICS
from onlooker.metrics.extensions import EXTENSIONS
from onlooker.metrics.query import Time
from readers import DATA_URL, PATH, Question, Reader, seen

pytest_plugins = ["endpoint"]


@pytest.fixture
def document(reader: Reader) -> dict[str, Any]:
    answer = reader.request("GET", "/openapi.json")
    assert answer.status_code == 200
    return dict(answer.json())


@pytest.fixture
def exemplary(question: Question) -> Question:
    """Visits that give the answer of the example, of a camera that never slept."""
    execute, stream_id = question.reader.archive.execute, question.stream.stream_id
    execute(
        """INSERT INTO streams_coverage (stream_id, slot_at, video_s)
           SELECT %s, slot_at, 900 FROM generate_series('2026-03-27Z', '2026-03-31Z', interval '15 minutes') slot_at""",
        stream_id,
    )
    man = {"gender": "male", "gender_confidence": 0.9}
    question.write(
        seen(question.stream, "2026-03-28T10:00:00+01:00", still_s=4, look_s=2),
        seen(question.stream, "2026-03-28T23:59:00+01:00", still_s=7, look_s=2, **man),
        seen(question.stream, "2026-03-28T12:00:00+01:00", still_s=4),
        seen(question.stream, "2026-03-29T23:00:00+02:00"),
    )
    return question


def parameters_of(operation: dict[str, Any]) -> dict[str, str]:
    """The examples, as a client sends them; a comparison has an example of its own."""
    asked = [one for one in operation["parameters"] if one["in"] == "query" and "example" in one]
    found = {one["name"]: one["example"] for one in asked}
    return {name: ",".join(value) if isinstance(value, list) else str(value) for name, value in found.items()}


def test_it_has_every_route(document: dict[str, Any]) -> None:
    assert list(document["paths"]) == [row.path for row in ROUTES]
    assert document["servers"] == [{"url": DATA_URL}]


@pytest.mark.parametrize("status", ["200", "304", "400", "401", "429", "503"])
def test_it_tells_of_the_status(document: dict[str, Any], status: str) -> None:
    assert status in document["paths"][PATH]["get"]["responses"]


def test_its_example_is_what_the_endpoint_answers(document: dict[str, Any], exemplary: Question) -> None:
    operation = document["paths"][PATH]["get"]
    body = exemplary.reader.ask(exemplary.stream, **parameters_of(operation)).json()
    example = operation["responses"]["200"]["content"]["application/json"]["example"]
    assert list(body.items()) == list(example.items())
    assert example == openapi.EXAMPLE_ANSWER


def test_the_example_of_a_table_is_what_the_endpoint_answers(document: dict[str, Any], exemplary: Question) -> None:
    operation = document["paths"][f"{PATH}.csv"]["get"]
    answer = exemplary.reader.ask(exemplary.stream, f"{PATH}.csv", **parameters_of(operation))
    assert answer.text == operation["responses"]["200"]["content"]["text/csv"]["example"]


@pytest.mark.parametrize("time", Time)
def test_answers_have_the_shape_that_it_tells_of(document: dict[str, Any], exemplary: Question, time: str) -> None:
    names = ",".join((*METRICS, *EXTENSIONS))
    body = exemplary.body(metrics=names, time=time, from_date="2026-03-20T00:00:00Z", to_date=None)
    validator = jsonschema_rs.validator_for(document["components"]["schemas"]["Entities"])
    validator.validate(body)
    for wrong in (body | {"more": 1}, body | {"exact": True}, body | {"page": 0}, body | {"entities": {"x": {}}}):
        assert not validator.is_valid(wrong)


def test_parameters_match_their_own_schemas(document: dict[str, Any]) -> None:
    for parameter in document["paths"][PATH]["get"]["parameters"]:
        if "example" in parameter:
            jsonschema_rs.validator_for(parameter["schema"]).validate(parameter["example"])


def test_it_names_every_metric_with_its_meaning(document: dict[str, Any]) -> None:
    metrics = document["paths"][PATH]["get"]["parameters"][0]
    assert metrics["schema"]["items"]["enum"] == [*METRICS, *EXTENSIONS]
    meanings = [metric.meaning for metric in METRICS.values()] + [metric.meaning for metric in EXTENSIONS.values()]
    assert all(meaning.rstrip(".") in metrics["description"] for meaning in meanings)


def test_refusals_have_the_shape_and_the_headers_that_it_tells_of(document: dict[str, Any], question: Question) -> None:
    validator = jsonschema_rs.validator_for(document["components"]["schemas"]["Problem"])
    responses = document["paths"][PATH]["get"]["responses"]
    for answer in (question.ask(page=0), question.reader.request("GET")):
        validator.validate(answer.json())
        told = responses[str(answer.status_code)]
        assert all(name in answer.headers for name in told.get("headers", {}))
