"""The extension's buckets: quarter hours, weeks and months, as pages and as tables."""

import csv
import io
from itertools import pairwise
from typing import Any

import pytest

from onlooker.metrics.definitions import METRICS
from onlooker.metrics.query import Time
from readers import PATH, Question, Reader, seen
from wire import assert_problem

pytest_plugins = ["endpoint"]

TABLE = f"{PATH}.csv"
ALL = ",".join((*METRICS, "watched", "gaps", "quality", "in_view"))


def people(question: Question, **asked: Any) -> dict[str, int]:
    """How many passed by in each bucket that has somebody."""
    counts = {key: values["passing_by"]["value"] for key, values in question.body(**asked)["entities"].items()}
    return {key: count for key, count in counts.items() if count}


@pytest.fixture
def spread(reader: Reader) -> Question:
    """Somebody on both sides of the edges of a quarter hour, a week and a month, on the clock of Paris."""
    question = Question(reader, reader.archive.create_stream(time_zone="Europe/Paris"))
    moments = ("2026-02-28T22:59:00Z", "2026-02-28T23:01:00Z", "2026-03-01T22:59:30Z", "2026-03-01T23:00:00Z")
    question.write(*(seen(question.stream, moment) for moment in (*moments, "2026-03-01T23:14:30Z")))
    return question


RANGE = {"metrics": "passing_by", "from_date": "2026-02-25T12:00:00", "to_date": "2026-03-04T12:00:00"}


def test_a_week_is_one_of_iso_and_a_month_one_of_the_calendar(spread: Question) -> None:
    assert people(spread, **RANGE, time="by_week") == {"2026-02-23T00:00:00+01:00": 3, "2026-03-02T00:00:00+01:00": 2}
    assert people(spread, **RANGE, time="by_month") == {"2026-02-01T00:00:00+01:00": 1, "2026-03-01T00:00:00+01:00": 4}


def test_the_first_and_last_bucket_are_cut_to_the_range(spread: Question) -> None:
    cut = {"metrics": "passing_by,gaps", "from_date": "2026-03-01T00:02:00", "to_date": "2026-03-02T00:10:00"}
    weeks = spread.body(**cut, time="by_week")["entities"]
    assert [values["passing_by"]["value"] for values in weeks.values()] == [1, 1]
    lengths_s = [sum(values["gaps"].values()) for values in weeks.values()]
    assert lengths_s == [86_400 - 120, 600]
    assert list(weeks) == ["2026-02-23T00:00:00+01:00", "2026-03-02T00:00:00+01:00"]


def test_a_quarter_hour_is_a_slot_on_the_local_clock(spread: Question) -> None:
    asked = {"metrics": "passing_by", "from_date": "2026-03-01T22:45:00Z", "to_date": "2026-03-01T23:30:00Z"}
    body = spread.body(**asked, time="by_quarter_hour", tz="Asia/Kathmandu")
    assert {key: values["passing_by"]["value"] for key, values in body["entities"].items()} == {
        "2026-03-02T04:30:00+05:45": 1,
        "2026-03-02T04:45:00+05:45": 2,
        "2026-03-02T05:00:00+05:45": 0,
    }


def test_quarter_hours_do_not_collide_where_clocks_go_back(spread: Question) -> None:
    asked = {"metrics": "passing_by", "from_date": "2026-10-25T02:00:00+02:00", "to_date": "2026-10-25T03:00:00+01:00"}
    keys = list(spread.body(**asked, time="by_quarter_hour")["entities"])
    clocks = [f"2026-10-25T02:{minutes}:00" for minutes in ("00", "15", "30", "45")]
    assert keys == [f"{clock}{offset}" for offset in ("+02:00", "+01:00") for clock in clocks]


@pytest.mark.parametrize("time", [Time.BY_QUARTER_HOUR, Time.BY_WEEK, Time.BY_MONTH])
def test_a_table_says_what_the_pages_say(spread: Question, time: Time) -> None:
    asked = RANGE | {"metrics": ALL, "time": time}
    pages = [spread.body(**asked)]
    while pages[-1]["next_page"]:
        link = pages[-1]["next_page"]
        pages.append(spread.reader.request("GET", link, headers=spread.reader.bearing(spread.stream)).json())
    assert {page["time"] for page in pages} == {time}
    rows = list(csv.DictReader(io.StringIO(spread.ask(TABLE, **asked).text)))
    buckets = [bucket for page in pages for bucket in page["entities"].items()]
    assert [row["bucket"] for row in rows] == [key for key, _ in buckets]
    assert [int(row["passing_by"]) for row in rows] == [values["passing_by"]["value"] for _, values in buckets]
    assert sum(int(row["passing_by"]) for row in rows) == 5
    assert all(one < other for one, other in pairwise(row["bucket"] for row in rows))


def test_a_comparison_does_not_depend_on_the_buckets(spread: Question) -> None:
    days, *others = (spread.body(**RANGE, time=time, compare="previous")["comparison"] for time in Time)
    assert all(other == days for other in others)


def test_three_years_of_quarter_hours_are_refused_before_anything_is_read(spread: Question) -> None:
    asked = {"metrics": "passing_by", "from_date": "2023-01-01", "to_date": "2026-01-01"}
    refused = assert_problem(spread.ask(TABLE, **asked, time="by_quarter_hour"), 400, "bad_request")
    assert refused["detail"] == "A table has at most 100000 rows. Ask for a shorter range, or for longer buckets."
    headers = spread.reader.bearing(spread.stream)
    assert spread.reader.request("HEAD", TABLE, params={**asked, "time": "by_hour"}, headers=headers).status_code == 200
