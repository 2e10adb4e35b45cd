"""Numbers that are broken down and filtered: pages, tables, refusals, and that nothing else changed."""

import csv
import io
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import duckdb
import pytest

from onlooker.metrics import cells
from onlooker.metrics.definitions import METRICS
from onlooker.metrics.dimensions import DIMENSIONS, STAY_BANDS
from onlooker.metrics.extensions import CARRIED
from readers import PATH, Question, seen
from wire import assert_problem

pytest_plugins = ["endpoint"]

TABLE = f"{PATH}.csv"
PARQUET = f"{PATH}.parquet"
SURE = {"gender_confidence": 0.9, "age_confidence": 0.9}
MONDAY = "2026-03-02"
ALL = ",".join(METRICS)


@pytest.fixture
def shop(question: Question) -> Question:
    """On Monday two women and a man, one of whom is old; on Tuesday somebody unknown, and one who goes by."""
    stream = question.stream
    question.write(
        seen(stream, "2026-03-02T09:30:00Z", still_s=6, look_s=4, gender="female", age=30.0, **SURE),
        seen(stream, "2026-03-02T09:45:00Z", still_s=12, look_s=8, gender="female", age=70.0, **SURE),
        seen(stream, "2026-03-02T14:00:00Z", still_s=3, look_s=2, gender="male", age=30.0, **SURE),
        seen(stream, "2026-03-03T09:10:00Z", still_s=20, look_s=20, gender=None, gender_confidence=0.0, age=None),
        seen(stream, "2026-03-03T09:20:00Z"),
    )
    return question


WEEK = {"from_date": "2026-03-02T00:00:00Z", "to_date": "2026-03-09T00:00:00Z"}


def cells_of(bucket: dict[str, Any], metric: str) -> dict[tuple[str, ...], Any]:
    """By the parts of each cell that has somebody."""
    found = {tuple(cell["by"].values()): cell[metric]["value"] for cell in bucket["cells"]}
    return {parts: value for parts, value in found.items() if value}


def test_age_by_gender(shop: Question) -> None:
    body = shop.body(metrics="interested,stop_time", by="age,gender", **WEEK)
    (bucket,) = body["entities"].values()
    assert (bucket["interested"], bucket["stop_time"]) == ({"value": 4}, {"value": 10.25})
    assert len(bucket["cells"]) == 8 * 3
    assert bucket["cells"][1]["by"] == {"age": "0-14", "gender": "female"}
    assert cells_of(bucket, "interested") == {
        ("25-34", "female"): 1,
        ("25-34", "male"): 1,
        ("65+", "female"): 1,
        ("?", "?"): 1,
    }
    assert cells_of(bucket, "stop_time")[("65+", "female")] == 12.0
    assert list(body)[-1] == "by"
    assert body["by"] == ["age", "gender"]


def test_how_long_people_stay(shop: Question) -> None:
    (bucket,) = shop.body(metrics="interested,passing_by", by="stop_band", **WEEK)["entities"].values()
    assert [cell["by"]["stop_band"] for cell in bucket["cells"]] == list(STAY_BANDS)
    assert cells_of(bucket, "interested") == {("3-5",): 1, ("5-10",): 1, ("10-20",): 1, ("20-30",): 1}
    assert cells_of(bucket, "passing_by")[("0-1",)] == 1
    (bucket,) = shop.body(metrics="passing_by", by="presence_band", **WEEK)["entities"].values()
    assert cells_of(bucket, "passing_by") == {("20-30",): 5}


def test_a_heat_map_is_of_local_hours(shop: Question) -> None:
    asked = {"metrics": "passing_by,watched", "by": "weekday,hour_of_day", "tz": "America/New_York"}
    (bucket,) = shop.body(**asked, from_date="2026-03-02T00:00:00-05:00", to_date="2026-03-16T00:00:00-04:00")[
        "entities"
    ].values()
    assert len(bucket["cells"]) == 168
    assert cells_of(bucket, "passing_by") == {("mon", "04"): 2, ("mon", "09"): 1, ("tue", "04"): 2}
    assert {cell["watched"]["value"] for cell in bucket["cells"]} == {0.0}


def test_what_was_watched_of_a_cell_is_that_of_its_hours(shop: Question) -> None:
    """Also where a filter keeps some hours only; clocks went forward on 29 March, so Sunday had no 02."""
    archive, stream = shop.reader.archive, shop.stream
    created = "UPDATE streams_stream SET created_at = '2026-01-01', coverage_since = '2026-01-01' WHERE id = %s"
    archive.execute(created, stream.stream_id)
    for slot_at, video_s in (
        ("2026-03-29T08:00:00Z", 900),
        ("2026-03-29T08:15:00Z", 300),
        ("2026-03-30T08:00:00Z", 60),
    ):
        statement = "INSERT INTO streams_coverage (stream_id, slot_at, video_s) VALUES (%s, %s, %s)"
        archive.execute(statement, stream.stream_id, slot_at, video_s)
    asked = {"metrics": "watched,gaps", "tz": "Europe/Paris", "from_date": "2026-03-29", "to_date": "2026-03-31"}
    (bucket,) = shop.body(**asked, by="weekday,hour_of_day")["entities"].values()
    seconds = {tuple(cell["by"].values()): cell["watched"]["value"] for cell in bucket["cells"]}
    lengths = {
        tuple(cell["by"].values()): cell["watched"]["value"] + sum(cell["gaps"].values()) for cell in bucket["cells"]
    }
    assert {parts: value for parts, value in seconds.items() if value} == {("sun", "10"): 1200, ("mon", "10"): 60}
    assert (lengths["sun", "02"], lengths["sun", "03"], lengths["tue", "10"]) == (0, 3600, 0)
    (bucket,) = shop.body(**asked, filter="weekday:sun,hour_of_day:10,hour_of_day:11")["entities"].values()
    assert bucket["watched"] == {"value": 1200.0, "share": round(1200 / 7200, 6)}
    assert "cells" not in bucket


def test_any_metric_over_visits_that_match(shop: Question) -> None:
    body = shop.body(metrics="interested,stop_time,age", filter="gender:female,age:25-34,age:65+", **WEEK)
    assert body["entities"] == {
        "global": {
            "interested": {"value": 2},
            "stop_time": {"value": 9.0},
            "age": {"0-14": 0, "15-24": 0, "25-34": 1, "35-44": 0, "45-54": 0, "55-64": 0, "65+": 1, "?": 0},
        }
    }
    assert body["filter"] == {"gender": ["female"], "age": ["25-34", "65+"]}
    days = shop.body(metrics="interested", filter="stop_band:10-20,stop_band:20-30", time="by_day", **WEEK)["entities"]
    assert [day["interested"]["value"] for day in days.values()] == [1, 1, 0, 0, 0, 0, 0]


def test_cells_are_those_that_a_filter_keeps(shop: Question) -> None:
    (bucket,) = shop.body(metrics="interested", by="gender", filter="gender:female,hour_of_day:09", **WEEK)[
        "entities"
    ].values()
    assert bucket == {"interested": {"value": 2}, "cells": [{"by": {"gender": "female"}, "interested": {"value": 2}}]}


def test_all_visits_together_are_what_is_answered_without(shop: Question) -> None:
    plain = shop.body(metrics=ALL, time="by_day", **WEEK)
    for by in DIMENSIONS:
        broken_down = shop.body(metrics=ALL, time="by_day", by=by, **WEEK)
        assert {key: {name: bucket[name] for name in METRICS} for key, bucket in broken_down["entities"].items()} == (
            plain["entities"]
        )


def test_pages_have_fewer_buckets_where_these_have_many_cells(shop: Question) -> None:
    asked = {"metrics": "passing_by", "by": "weekday,hour_of_day", "filter": "gender:female", "time": "by_day"}
    first = shop.body(**asked, from_date="2026-03-02", to_date="2026-04-01")
    assert (first["total_results"], first["nb_of_pages"], len(first["entities"])) == (30, 3, 14)
    following = dict(parse_qsl(urlsplit(first["next_page"]).query))
    assert (following["by"], following["filter"], following["page"]) == ("weekday,hour_of_day", "gender:female", "2")
    second = shop.body(**following)
    assert len(second["entities"]) == 14
    assert set(second["entities"]).isdisjoint(first["entities"])


def test_a_table_has_a_row_for_each_cell(shop: Question) -> None:
    asked = {"metrics": "gender,stop_time", "by": "gender,weekday", "time": "by_day", **WEEK}
    pages = shop.body(**asked | {"metrics": ",".join((asked["metrics"], *CARRIED))})["entities"]
    text = shop.ask(TABLE, **asked).text
    assert text.startswith(
        "bucket,gender,weekday,gender_?,gender_female,gender_male,stop_time,exact,watched,watched_share,gaps_"
    )
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 7 * 3 * 7
    found = [(row["bucket"], row["gender"], row["weekday"], row["stop_time"], row["watched"]) for row in rows]
    assert found == [
        (key, *cell["by"].values(), *("" if one is None else str(one) for one in _two_of(cell)))
        for key, bucket in pages.items()
        for cell in bucket["cells"]
    ]


def _two_of(cell: dict[str, Any]) -> tuple[float | None, float]:
    return cell["stop_time"]["value"], cell["watched"]["value"]


def test_parquet_has_the_rows_of_the_table(shop: Question, tmp_path: Any) -> None:
    asked = {"metrics": "interested,stop_time", "by": "age,stop_band", "filter": "gender:female", **WEEK}
    path = tmp_path / "entities.parquet"
    path.write_bytes(shop.ask(PARQUET, **asked).content)
    rows = duckdb.execute(f"SELECT age, stop_band, interested FROM '{path}' WHERE interested > 0").fetchall()
    assert rows == [("25-34", "5-10", 1), ("65+", "10-20", 1)]
    said = duckdb.execute(f"SELECT key, value FROM parquet_kv_metadata('{path}')").fetchall()
    told = {key.decode(): value.decode() for key, value in said}
    assert (told["onlooker.by"], told["onlooker.filter"]) == ("age,stop_band", "gender:female")


def test_a_table_of_too_many_cells_is_refused(shop: Question) -> None:
    asked = {"metrics": "passing_by", "by": "age,hour_of_day", "time": "by_hour", "to_date": "2026-04-02"}
    assert "100000 rows" in assert_problem(shop.ask(TABLE, **asked), 400, "bad_request")["detail"]


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"by": ""}, "There is no dimension ''. `by` is one or two of gender, age"),
        ({"by": "height"}, "There is no dimension 'height'"),
        ({"by": "gender,age,emotion"}, "one dimension, or two different ones"),
        ({"by": "gender,gender"}, "one dimension, or two different ones"),
        ({"filter": "gender"}, "`filter` is a list such as gender:female,age:25-34, without spaces, not 'gender'"),
        ({"filter": "height:tall"}, "Its dimensions are gender, age"),
        ({"filter": "age:25"}, "There is no age '25'. Its parts are 0-14 15-24"),
        ({"filter": "age:65 "}, "A plus sign in a URL is written %2B."),
        ({"by": "gender", "filters": "age:65+"}, "no parameters are ignored"),
        ({"by": "gender", "metrics": "passing_by,quality"}, "`quality` is not of single visits"),
        ({"filter": "gender:female", "metrics": "in_view"}, "`in_view` is not of single visits"),
        ({"by": "gender", "compare": "previous"}, "are not compared"),
        ({"by": "gender", "page": "2"}, "There is no page 2"),
    ],
)
def test_what_is_wrong_is_named(question: Question, parameters: dict[str, str], said: str) -> None:
    assert said in assert_problem(question.ask(**parameters), 400, "bad_request")["detail"]


def test_unknown_parameters_are_still_ignored_without_one(question: Question) -> None:
    assert question.body(filters="age:65+") == question.body()


def test_streams_that_tell_of_groups_are_refused(shop: Question) -> None:
    """Also of the time before, since that is told in blocks now; later numbers are told singly again."""
    archive, stream_id = shop.reader.archive, shop.stream.stream_id
    archive.fill()
    assert shop.ask(by="gender", **WEEK).status_code == 200
    archive.execute("UPDATE streams_stream SET groups_of = 2 WHERE id = %s", stream_id)
    for asked in (
        {"by": "gender"},
        {"by": "hour_of_day"},
        {"filter": "age:65+"},
        {"by": "stop_band", "time": "by_day"},
    ):
        for path in (PATH, TABLE, PARQUET):
            refused = assert_problem(shop.ask(path, **asked, **WEEK), 400, "bad_request")
            assert "tells about people in groups" in refused["detail"]
    assert shop.body(metrics="watched", by="hour_of_day", **WEEK)["entities"]
    archive.execute("UPDATE streams_stream SET groups_of = 1 WHERE id = %s", stream_id)
    refused = assert_problem(shop.ask(by="gender", **WEEK), 400, "bad_request")
    assert "Or ask for a later range than 2026-03-03T09:30:00+00:00" in refused["detail"]
    assert shop.body(by="gender", **WEEK | {"from_date": "2026-03-03T09:30:00Z"})["entities"]


def test_whole_weeks_of_groups_are_told_by_gender_and_age(question: Question, tmp_path: Any) -> None:
    """As JSON, as a table and as Parquet; parts that are told only together are named so."""
    archive, stream = question.reader.archive, question.stream
    archive.execute("UPDATE streams_stream SET groups_of = 2 WHERE id = %s", stream.stream_id)
    for gender, age in (("female", 30.0), ("female", 40.0), ("male", 30.0), ("male", 40.0), ("female", 30.0)):
        question.write(
            seen(stream, "2026-03-02T09:30:00Z", still_s=6, look_s=4, gender=gender, age=age, **SURE),
        )
    asked = {"metrics": "interested,stop_time", "by": "gender,age", **WEEK}
    assert "No week of it is told yet" in question.ask(**asked).json()["detail"]
    archive.release_weeks()
    body = question.body(**asked)
    (bucket,) = body["entities"].values()
    assert bucket["interested"] == {"value": 5}
    assert cells_of(bucket, "interested") == {("female", "25-34|35-44"): 3, ("male", "25-34|35-44"): 2}
    assert "exact" not in body
    rows = list(csv.DictReader(io.StringIO(question.ask(TABLE, **asked).text)))
    told = {(row["gender"], row["age"]): row["interested"] for row in rows if row["interested"] != "0"}
    assert told == {("female", "25-34|35-44"): "3", ("male", "25-34|35-44"): "2"}
    path = tmp_path / "entities.parquet"
    path.write_bytes(question.ask(PARQUET, **asked).content)
    in_parquet = duckdb.execute(f"SELECT gender, age, interested FROM '{path}' WHERE interested > 0").fetchall()
    assert in_parquet == [("female", "25-34|35-44", 3), ("male", "25-34|35-44", 2)]
    refused = assert_problem(question.ask(**asked | {"filter": "age:25-34"}), 400, "bad_request")
    assert "age 25-34|35-44 is told only together of this range" in refused["detail"]


def test_a_visit_in_a_group_that_reaches_into_the_range_is_not_told(question: Question) -> None:
    archive, stream = question.reader.archive, question.stream
    question.write(seen(stream, "2026-03-02T09:14:50Z", still_s=20, look_s=20))
    archive.fill()
    grouped_until = "UPDATE streams_stream SET grouped_until = '2026-03-02T09:15:00Z' WHERE id = %s"
    archive.execute(grouped_until, stream.stream_id)
    asked = {"metrics": "passing_by", "by": "presence_band", "to_date": "2026-03-02T10:00:00Z"}
    assert_problem(question.ask(**asked, from_date="2026-03-02T09:15:00Z"), 400, "bad_request")
    assert question.body(**asked, from_date="2026-03-02T09:15:10Z")


def test_streams_on_the_grid_are_refused(shop: Question) -> None:
    shop.reader.archive.execute("UPDATE streams_stream SET grid = true WHERE id = %s", shop.stream.stream_id)
    refused = assert_problem(shop.ask(by="hour_of_day", **WEEK), 400, "bad_request")
    assert "on the grid" in refused["detail"]


def test_deleted_visits_can_not_be_broken_down(shop: Question) -> None:
    """What began before the range and is deleted makes it inexact, as everywhere."""
    archive, stream = shop.reader.archive, shop.stream
    shop.write(seen(stream, "2026-03-02T23:59:50Z"))
    archive.fill()
    archive.execute("INSERT INTO visits_kept (stream_id, since) VALUES (%s, '2026-03-03Z')", stream.stream_id)
    archive.execute("DELETE FROM visits_visit WHERE stream_id = %s AND began_at < '2026-03-03Z'", stream.stream_id)
    refused = assert_problem(shop.ask(by="gender", **WEEK), 400, "bad_request")
    assert "Visits that began before 2026-03-03T00:00:00+00:00 were deleted" in refused["detail"]
    later = {"from_date": "2026-03-03T00:00:00Z", "to_date": WEEK["to_date"]}
    assert shop.body(by="gender", **later)["exact"] is False
    assert "exact" not in shop.body(by="gender", **later | {"from_date": "2026-03-03T00:15:00Z"})


def test_too_many_visits_are_refused_with_a_remedy(shop: Question, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.reader.archive.fill()
    monkeypatch.setattr(cells, "MOST_VISITS", 4)
    refused = assert_problem(shop.ask(by="gender", **WEEK), 400, "bad_request")
    assert "More than 4 people passed by in this range" in refused["detail"]
    monkeypatch.setattr(cells, "MOST_VISITS", 5)
    assert shop.body(by="gender", **WEEK)


def test_too_many_hours_of_coverage_are_refused_with_a_remedy(question: Question) -> None:
    asked = {"by": "weekday", "from_date": "2020-01-01", "to_date": "2026-01-01"}
    assert question.body(**asked, metrics="passing_by")
    refused = assert_problem(question.ask(**asked, metrics="passing_by,watched"), 400, "bad_request")
    assert "at most 833 days" in refused["detail"]
