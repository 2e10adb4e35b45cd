"""The data endpoint of the supplement, sentence by sentence."""

from urllib.parse import parse_qs, urlsplit

import pytest

from readers import DATA_URL, PATH, Question, Reader, Watched, seen
from wire import assert_problem

pytest_plugins = ["endpoint"]

ALL = "passing_by,interested,stop_time,attention_time,category,gender,satisfaction,age,emotion,stopped"


def test_global_answers_one_bucket_under_the_key_global(question: Question) -> None:
    body = question.body(time="global", from_date="2020-01-01T00:00:00Z")
    assert list(body["entities"]) == ["global"]
    assert body["total_results"] == 1


def test_buckets_without_visits_have_zeros_and_nulls(question: Question) -> None:
    body = question.body(metrics=ALL, time="by_day", to_date="2026-03-04T00:00:00Z")
    assert len(body["entities"]) == 2
    for values in body["entities"].values():
        means = {name: values.pop(name) for name in ("stop_time", "attention_time", "satisfaction")}
        assert all(value == {"value": None} for value in means.values())
        assert {number for value in values.values() for number in value.values()} == {0}


def test_a_page_has_50_buckets(question: Question) -> None:
    body = question.body(time="by_hour", to_date="2026-03-06T05:00:00Z")
    assert (body["total_results"], body["nb_of_pages"], len(body["entities"])) == (101, 3, 50)
    assert len(question.body(time="by_hour", to_date="2026-03-06T05:00:00Z", page=3)["entities"]) == 1


def test_a_page_past_the_last_is_refused(question: Question) -> None:
    assert_problem(question.ask(page=2), 400, "bad_request")
    assert_problem(question.ask(page=10**9), 400, "bad_request")


def test_buckets_are_aligned_in_the_streams_time_zone(reader: Reader) -> None:
    question = Question(reader, reader.archive.create_stream(time_zone="Asia/Kathmandu"))
    body = question.body(time="by_day")
    assert list(body["entities"]) == ["2026-03-02T00:00:00+05:45", "2026-03-03T00:00:00+05:45"]


def test_the_time_zone_is_utc_by_default(question: Question) -> None:
    assert list(question.body(time="by_day")["entities"]) == ["2026-03-02T00:00:00+00:00"]


def test_tz_overrides_it(reader: Reader) -> None:
    question = Question(reader, reader.archive.create_stream(time_zone="Asia/Kathmandu"))
    body = question.body(time="by_day", tz="America/New_York", from_date="2026-03-02T00:00:00-05:00")
    assert list(body["entities"]) == ["2026-03-02T00:00:00-05:00"]


@pytest.mark.parametrize("tz", ["Mars/Olympus", "../../etc/passwd", "", "x" * 1000, "Europe/Paris\0", "/Europe/Paris"])
def test_tz_is_an_iana_name(question: Question, tz: str) -> None:
    assert "`tz`" in assert_problem(question.ask(tz=tz), 400, "bad_request")["detail"]


def test_keys_carry_the_offset_in_force_at_that_moment(question: Question) -> None:
    range_ = {"from_date": "2026-10-25T01:00:00+02:00", "to_date": "2026-10-25T04:00:00+01:00"}
    keys = list(question.body(time="by_hour", tz="Europe/Paris", **range_)["entities"])
    assert keys == [
        "2026-10-25T01:00:00+02:00",
        "2026-10-25T02:00:00+02:00",
        "2026-10-25T02:00:00+01:00",
        "2026-10-25T03:00:00+01:00",
    ]


def test_a_day_starts_at_the_first_instant_of_its_local_date(question: Question) -> None:
    range_ = {"from_date": "2018-11-03T12:00:00-03:00", "to_date": "2018-11-05T00:00:00-02:00"}
    keys = list(question.body(time="by_day", tz="America/Sao_Paulo", **range_)["entities"])
    assert keys == ["2018-11-03T00:00:00-03:00", "2018-11-04T01:00:00-02:00"]


def test_the_first_and_last_buckets_key_is_its_own_start(question: Question) -> None:
    question.write(seen(question.stream, "2026-03-02T09:10:00Z"), seen(question.stream, "2026-03-02T09:50:00Z"))
    body = question.body(time="by_hour", from_date="2026-03-02T09:30:00Z", to_date="2026-03-02T10:30:00Z")
    assert body["entities"] == {
        "2026-03-02T09:00:00+00:00": {"passing_by": {"value": 1}},
        "2026-03-02T10:00:00+00:00": {"passing_by": {"value": 0}},
    }
    assert body["from_date"] == "2026-03-02T09:30:00+00:00"


def test_from_date_without_an_offset_is_read_in_the_streams_time_zone(reader: Reader) -> None:
    question = Question(reader, reader.archive.create_stream(time_zone="Europe/Paris"))
    assert question.body(from_date="2026-03-01T00:00:00")["from_date"] == "2026-03-01T00:00:00+01:00"


@pytest.mark.parametrize("offset", ["+0200", "+02:00"])
def test_an_offset_is_accepted_with_and_without_a_colon(question: Question, offset: str) -> None:
    assert question.body(from_date=f"2026-03-01T00:00:00{offset}")["from_date"] == "2026-03-01T00:00:00+02:00"


def test_an_answer_carries_the_offsets_that_it_was_asked_with(reader: Reader) -> None:
    """Also in another time zone; without an offset that of the zone."""
    question = Question(reader, reader.archive.create_stream(time_zone="Asia/Kathmandu"))
    body = question.body(from_date="2026-03-01T00:00:00-03:00", to_date="2026-03-02T00:00:00Z", tz="Europe/Paris")
    assert (body["from_date"], body["to_date"]) == ("2026-03-01T00:00:00-03:00", "2026-03-02T00:00:00+00:00")
    assert question.body(from_date="2026-03-01T00:00:00")["from_date"] == "2026-03-01T00:00:00+05:45"


@pytest.mark.parametrize("from_date", ["2026-03-03T00:00:00Z", "2026-03-03T00:00:00.000001Z", "2027-01-01T00:00:00Z"])
def test_from_date_not_before_to_date_is_refused(question: Question, from_date: str) -> None:
    assert_problem(question.ask(from_date=from_date), 400, "bad_request")


@pytest.mark.parametrize("date", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1969-12-31T23:59:59Z"])
def test_dates_that_no_visit_can_have_are_refused(question: Question, date: str) -> None:
    assert_problem(question.ask(from_date=date, to_date=None), 400, "bad_request")


def test_the_counts_of_buckets_add_up_to_global(question: Question) -> None:
    edge = seen(question.stream, "2026-03-02T09:59:55Z", still_s=8, look_s=8)
    question.write(edge, *(seen(question.stream, f"2026-03-02T{hour:02}:30:00Z") for hour in range(24)))
    hours = question.body(metrics="passing_by,interested", time="by_hour")["entities"]
    whole = question.body(metrics="passing_by,interested")["entities"]["global"]
    assert whole == {"passing_by": {"value": 25}, "interested": {"value": 1}}
    for metric, value in whole.items():
        assert sum(hour[metric]["value"] for hour in hours.values()) == value["value"]
    assert hours["2026-03-02T09:00:00+00:00"]["interested"] == {"value": 1}


@pytest.mark.parametrize(
    ("header", "code"),
    [(None, "missing_token"), ("Basic eDp5", "missing_token"), ("Bearer a.b.c", "invalid_jwt")],
)
def test_a_token_that_is_none_is_refused(reader: Reader, header: str | None, code: str) -> None:
    answer = reader.request("GET", headers={"Authorization": header} if header else {})
    assert_problem(answer, 401, code)
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_an_expired_token_is_told_apart(reader: Reader, watched: Watched) -> None:
    token = reader.archive.token(watched, exp=1_700_000_000)
    assert_problem(reader.request("GET", headers={"Authorization": f"Bearer {token}"}), 401, "expired_jwt")


def test_a_token_of_another_console_is_refused(reader: Reader, watched: Watched) -> None:
    for changes in ({"iss": "https://console.example.com"}, {"aud": "somebody else"}):
        token = reader.archive.token(watched, **changes)
        assert_problem(reader.request("GET", headers={"Authorization": f"Bearer {token}"}), 401, "invalid_jwt")


def test_a_disabled_stream_is_still_served(question: Question) -> None:
    question.reader.archive.execute(
        "UPDATE streams_stream SET enabled = false WHERE id = %s", question.stream.stream_id
    )
    assert question.ask().status_code == 200


def test_the_path_answers_with_and_without_a_trailing_slash(question: Question) -> None:
    assert question.ask(f"{PATH}/").json() == question.ask(PATH).json()


def test_all_pages_of_a_walk_are_of_one_range_and_zone(reader: Reader) -> None:
    question = Question(reader, reader.archive.create_stream(time_zone="Europe/Paris"))
    first = question.body(from_date="2026-03-01T00:00:00", to_date=None, time="by_hour", metrics="gender,passing_by")
    parameters = parse_qs(urlsplit(first["next_page"]).query)
    assert parameters == {
        "metrics": ["gender,passing_by"],
        "from_date": ["2026-03-01T00:00:00+01:00"],
        "to_date": [first["to_date"]],
        "time": ["by_hour"],
        "tz": ["Europe/Paris"],
        "page": ["2"],
    }
    reader.archive.execute("UPDATE streams_stream SET time_zone = 'UTC' WHERE id = %s", question.stream.stream_id)
    second = reader.request("GET", first["next_page"], headers=reader.bearing(question.stream)).json()
    assert [second[name] for name in ("from_date", "to_date", "total_results")] == [
        first[name] for name in ("from_date", "to_date", "total_results")
    ]


def test_a_walk_can_begin_where_offsets_had_seconds(question: Question) -> None:
    body = question.body(
        from_date="1971-01-01T00:00:00", to_date="1971-01-05T00:00:00", time="by_hour", tz="Africa/Monrovia"
    )
    second = question.reader.request("GET", body["next_page"], headers=question.reader.bearing(question.stream))
    assert second.json()["from_date"] == body["from_date"]


def test_urls_are_built_from_the_configured_address_and_never_from_the_host_header(question: Question) -> None:
    parameters = {"metrics": "passing_by", "from_date": "2026-03-02T00:00:00Z", "time": "by_hour"}
    headers = question.reader.bearing(question.stream) | {"Host": "evil.example.org"}
    body = question.reader.request("GET", params=parameters, headers=headers).json()
    assert body["next_page"].startswith(f"{DATA_URL}/")
    assert "evil" not in str(body)


def test_an_answer_that_is_not_exact_says_so(question: Question) -> None:
    """Visits were deleted after their time; a range that cuts through a quarter of an hour of theirs can't be exact."""
    question.write(seen(question.stream, "2026-03-02T09:05:00Z"))
    archive, stream_id = question.reader.archive, question.stream.stream_id
    archive.fill()
    archive.execute("INSERT INTO visits_kept (stream_id, since) VALUES (%s, '2026-04-01Z')", stream_id)
    archive.execute("DELETE FROM visits_visit WHERE stream_id = %s", stream_id)
    whole = question.body()
    assert whole["entities"]["global"]["passing_by"] == {"value": 1}
    assert "exact" not in whole
    cut = question.body(from_date="2026-03-02T09:01:00Z")
    assert cut["entities"]["global"]["passing_by"] == {"value": 0}
    assert (list(cut)[-1], cut["exact"]) == ("exact", False)
