"""What surrounds an answer: methods, pages of other origins, tags, packing, headers that protect."""

import gzip

import pytest

from data_process import Served
from readers import PATH, Question, Reader, seen
from wire import assert_problem

pytest_plugins = ["endpoint"]

ASKED = {"metrics": "passing_by", "from_date": "2026-03-02T00:00:00Z", "to_date": "2026-03-03T00:00:00Z"}


def test_head_is_like_get_without_a_body(served: Served) -> None:
    stream = served.archive.create_stream()
    with served.client(stream) as client:
        got, head = client.get(PATH, params=ASKED), client.head(PATH, params=ASKED)
    assert (head.status_code, head.content) == (200, b"")
    for name in ("content-length", "content-type", "etag", "cache-control"):
        assert head.headers[name] == got.headers[name]


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "TRACE"])
def test_other_methods_are_refused(question: Question, method: str) -> None:
    answer = question.reader.request(method, headers=question.reader.bearing(question.stream))
    assert_problem(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"] == "GET, HEAD, OPTIONS"


def test_a_preflight_needs_no_token_and_allows_the_authorization_header(reader: Reader) -> None:
    asked = {
        "Origin": "https://dashboard.example.com",
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "authorization",
    }
    answer = reader.request("OPTIONS", headers=asked)
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert "GET" in answer.headers["Access-Control-Allow-Methods"]
    assert "Authorization" in answer.headers["Access-Control-Allow-Headers"]
    assert int(answer.headers["Access-Control-Max-Age"]) > 0
    assert "Access-Control-Allow-Credentials" not in answer.headers


def test_a_page_of_any_origin_may_read_answers_and_refusals(question: Question) -> None:
    for answer in (question.ask(), question.ask(metrics="nonsense"), question.reader.request("GET")):
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert "ETag" in answer.headers["Access-Control-Expose-Headers"]


def test_an_answer_that_the_client_has_is_not_sent_again(question: Question) -> None:
    first = question.ask()
    tag = first.headers["ETag"]
    assert tag.startswith('W/"')
    for names in (tag, tag.removeprefix("W/"), f'"another", {tag}', "*"):
        headers = question.reader.bearing(question.stream) | {"If-None-Match": names}
        again = question.reader.request("GET", params=ASKED, headers=headers)
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
    question.write(seen(question.stream, "2026-03-02T09:00:00Z"))
    headers = question.reader.bearing(question.stream) | {"If-None-Match": tag}
    changed = question.reader.request("GET", params=ASKED, headers=headers)
    assert (changed.status_code, changed.json()["entities"]["global"]["passing_by"]["value"]) == (200, 1)
    assert changed.headers["ETag"] != tag


def test_a_tag_that_another_answer_has_does_not_count(question: Question) -> None:
    for names in ("", '"another"', "nonsense", ",,,"):
        headers = question.reader.bearing(question.stream) | {"If-None-Match": names}
        assert question.reader.request("GET", params=ASKED, headers=headers).status_code == 200


def test_answers_are_kept_by_nobody_else(question: Question) -> None:
    answer = question.ask()
    assert answer.headers["Cache-Control"] == "private, no-cache"
    assert "Authorization" in answer.headers["Vary"]
    assert question.ask(metrics="nonsense").headers["Cache-Control"] == "no-store"


def test_a_large_answer_is_packed_and_a_tiny_one_is_not(question: Question) -> None:
    headers = question.reader.bearing(question.stream) | {"Accept-Encoding": "gzip"}
    large = question.reader.request("GET", params=ASKED | {"time": "by_hour"}, headers=headers)
    assert large.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in large.headers["Vary"]
    assert int(large.headers["Content-Length"]) < len(large.content) / 3
    tiny = question.reader.request("GET", params=ASKED, headers=headers)
    assert "Content-Encoding" not in tiny.headers
    plain = headers | {"Accept-Encoding": "identity"}
    assert question.reader.request("GET", params=ASKED | {"time": "by_hour"}, headers=plain).json() == large.json()


def test_a_packed_answer_is_whole_on_the_wire(served: Served) -> None:
    stream = served.archive.create_stream()
    with (
        served.client(stream) as client,
        client.stream("GET", PATH, params=ASKED | {"time": "by_hour"}, headers={"Accept-Encoding": "gzip"}) as answer,
    ):
        packed = b"".join(answer.iter_raw())
    assert b'"total_results":24' in gzip.decompress(packed)


def test_every_answer_protects_itself_and_names_its_request(question: Question) -> None:
    for answer in (question.ask(), question.ask("/nowhere"), question.reader.request("GET", "/livez")):
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert len(answer.headers["X-Request-Id"]) == 32
    headers = question.reader.bearing(question.stream) | {"X-Request-Id": "chosen-by-me"}
    assert question.reader.request("GET", headers=headers).headers["X-Request-Id"] == "chosen-by-me"


def test_parameters_that_are_unknown_are_passed_over(question: Question) -> None:
    assert question.body(format="json", callback="x") == question.body()


@pytest.mark.parametrize("name", ["metrics", "from_date", "to_date", "time", "tz", "page"])
def test_a_parameter_that_is_there_twice_is_refused(question: Question, name: str) -> None:
    pairs = [*ASKED.items(), ("time", "global"), ("tz", "UTC"), ("page", "1")]
    doubled = [*pairs, next(pair for pair in pairs if pair[0] == name)]
    answer = question.reader.request("GET", params=doubled, headers=question.reader.bearing(question.stream))
    assert f"`{name}` is there twice" in assert_problem(answer, 400, "bad_request")["detail"]


@pytest.mark.parametrize("query", ["metrics=%FF", "%C3%28=1", "metrics=passing_by&from_date=%80"])
def test_a_query_that_is_no_utf_8_is_refused(question: Question, query: str) -> None:
    answer = question.reader.request("GET", f"{PATH}?{query}", headers=question.reader.bearing(question.stream))
    assert_problem(answer, 400, "bad_request")
