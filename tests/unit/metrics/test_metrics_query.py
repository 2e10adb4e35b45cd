"""What a person or a program writes becomes a query, or a sentence that says how it is right."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from onlooker.errors import Problem
from onlooker.metrics.query import Query, Time, parse_query

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
GIVEN = {"metrics": "interested", "from_date": "2026-11-01T00:00:00Z"}


def parse(**changes: str) -> Query:
    query, _ = parse_query(GIVEN | changes, stream_id=7, time_zone="Europe/Paris", now=NOW)
    return query


def complaint(**changes: str) -> str:
    with pytest.raises(Problem) as caught:
        parse(**changes)
    assert caught.value.code == "bad_request"
    return caught.value.detail


def test_what_is_left_out_has_its_default() -> None:
    from_at, zone = datetime(2026, 11, 1, tzinfo=UTC), ZoneInfo("Europe/Paris")
    expected = Query(7, ("interested",), from_at, NOW, zone, Time.GLOBAL, from_offset=UTC)
    assert parse_query(GIVEN, stream_id=7, time_zone="Europe/Paris", now=NOW) == (expected, 1)


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-01T01:00:00+01:00",
        "2026-11-01T01:00:00+0100",
        "2026-11-01T01:00+01",
        "2026-11-01T00:00:00.000Z",
        "2026-11-01T01:00:00",
        "2026-11-01 01:00",
        "20261101T010000",
    ],
)
def test_dates_are_read_in_every_usual_form_and_without_an_offset_in_the_streams_zone(text: str) -> None:
    assert parse(from_date=text).from_at == datetime(2026, 11, 1, tzinfo=UTC)


def test_another_zone_is_also_that_of_dates_without_an_offset() -> None:
    query = parse(from_date="2026-11-01T09:00:00", tz="Asia/Kathmandu")
    assert (query.from_at, query.zone.key) == (datetime(2026, 11, 1, 3, 15, tzinfo=UTC), "Asia/Kathmandu")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-11-01T00:00:00Z\0",
        "2026-11-01T00:00\0Z",
        "2026-11-01\N{SNOWMAN}00:00",
        "2026-13-01",
        "2026-02-30T00:00:00Z",
        "\N{ARABIC-INDIC DIGIT TWO}026-11-01",
        "2026-11-01T00:00:00 01:00",
        "x" * 5000,
    ],
)
def test_what_is_no_date_is_refused_in_few_words(text: str) -> None:
    detail = complaint(from_date=text)
    assert detail.startswith("`from_date`")
    assert len(detail) < 300


def test_a_plus_that_became_a_space_is_explained() -> None:
    assert "%2B" in complaint(from_date="2026-11-01T00:00:00 01:00")


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2100-01-02T00:00:00Z", "9999-12-31"])
def test_dates_lie_in_years_that_mean_something(text: str) -> None:
    assert "between the years 1970 and 2100" in complaint(to_date=text)


def test_a_range_has_a_length() -> None:
    assert complaint(to_date=GIVEN["from_date"]) == "`from_date` must lie before `to_date`."
    assert "now" in complaint(from_date="2027-01-01T00:00:00Z")


def test_a_metric_asked_for_twice_is_answered_once() -> None:
    assert parse(metrics="gender,interested,gender").metrics == ("gender", "interested")


@pytest.mark.parametrize("text", ["", "interested, gender", "interested,", "Interested", "nonsense"])
def test_other_metrics_are_refused_with_those_there_are(text: str) -> None:
    assert "passing_by" in complaint(metrics=text)


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "", "1e3", "\N{ARABIC-INDIC DIGIT TWO}", "9" * 5000])
def test_a_page_is_a_plain_number_from_one_on(text: str) -> None:
    assert complaint(page=text).startswith("`page` is a number from 1 on")


@pytest.mark.parametrize("text", ["", "Mars/Olympus", "../../etc/passwd", "localtime", "x" * 5000])
def test_a_zone_that_there_is_not_is_refused(text: str) -> None:
    assert "IANA name" in complaint(tz=text)


def test_other_buckets_are_refused_with_those_there_are() -> None:
    expected = "`time` is one of global, by_quarter_hour, by_hour, by_day, by_week, by_month, not 'by_year'."
    assert complaint(time="by_year") == expected
