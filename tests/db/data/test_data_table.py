"""The table of a range: every bucket a row, every figure a column."""

import csv
import io
import re
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from data_process import Served
from onlooker.metrics.coverage import Absence
from onlooker.metrics.definitions import METRICS
from onlooker.metrics.extensions import CARRIED
from readers import PATH, Question, seen
from wire import assert_problem, wait_for

pytest_plugins = ["endpoint"]

TABLE = f"{PATH}.csv"
YEAR = {"metrics": ",".join(METRICS), "time": "by_hour", "from_date": "2025-03-01T00:00:00Z"}
ALL_TIME = {**YEAR, "from_date": "2015-01-01T00:00:00Z", "to_date": "2026-05-01T00:00:00Z"}
"""Nearly as many rows as a table may have."""


def test_a_table_has_an_end(question: Question) -> None:
    answer = question.ask(TABLE, **{**ALL_TIME, "from_date": "2000-01-01T00:00:00Z"})
    assert_problem(answer, 400, "bad_request")
    assert "at most 100000 rows" in answer.json()["detail"]


def rows_of(answer: httpx2.Response) -> list[dict[str, str]]:
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text)))


def flat(values: dict[str, dict[str, Any]]) -> dict[str, str]:
    """A bucket of the JSON answer, as the table says it."""
    found = {}
    for metric, value in values.items():
        for part, number in value.items():
            found[metric if part == "value" else f"{metric}_{part}"] = "" if number is None else str(number)
    return found


def read_out(chunks: Iterator[bytes]) -> int:
    return sum(len(chunk) for chunk in chunks)


def test_a_mean_has_six_digits_in_pages_and_tables_alike(question: Question) -> None:
    angry, happy = (0.1, 0.0, 0.0, 0.128, 0.0), (0.1, 0.572, 0.0, 0.0, 0.333)
    question.write(
        seen(question.stream, "2026-03-02T09:30:00Z", still_s=6, look_s=3, expression=angry),
        seen(question.stream, "2026-03-02T09:40:00Z", still_s=4, look_s=2, expression=angry),
        seen(question.stream, "2026-03-02T10:10:00Z", still_s=4, look_s=2, expression=angry),
        seen(question.stream, "2026-03-02T10:20:00Z", still_s=4, look_s=2, expression=happy),
        seen(question.stream, "2026-03-02T10:40:00Z", still_s=5, look_s=3, expression=happy),
    )
    asked = {"metrics": "stop_time,satisfaction", "time": "by_hour", "from_date": "2026-03-02T09:00:00Z"}
    asked["to_date"] = "2026-03-02T11:00:00Z"
    means = [
        {"stop_time": {"value": 5.0}, "satisfaction": {"value": 0.436}},
        {"stop_time": {"value": 4.333333}, "satisfaction": {"value": 0.558333}},
    ]
    assert list(question.body(**asked)["entities"].values()) == means
    rows = rows_of(question.ask(TABLE, **asked))
    assert [(row["stop_time"], row["satisfaction"]) for row in rows] == [("5.0", "0.436"), ("4.333333", "0.558333")]


def test_it_says_what_the_pages_say(question: Question) -> None:
    question.write(
        seen(question.stream, "2026-03-02T09:30:00Z", still_s=6, look_s=3),
        seen(question.stream, "2026-03-04T09:40:00Z", still_s=4, look_s=2, gender=None),
    )
    asked = {"metrics": ",".join(METRICS), "time": "by_hour", "to_date": "2026-03-07T05:00:00Z"}
    carrying = asked | {"metrics": ",".join((*METRICS, *CARRIED))}
    pages = [question.body(**carrying, page=page)["entities"] for page in (1, 2, 3)]
    rows = rows_of(question.ask(TABLE, **asked))
    assert [row.pop("bucket") for row in rows] == [key for page in pages for key in page]
    assert {row.pop("exact") for row in rows} == {"true"}
    assert rows == [flat(values) for page in pages for values in page.values()]


def test_columns_are_in_the_order_of_the_metrics_and_their_parts(question: Question) -> None:
    header = question.ask(TABLE, metrics="stop_time,gender,passing_by").text.splitlines()[0]
    gaps = ",".join(f"gaps_{absence}" for absence in Absence)
    assert header == (
        f"bucket,stop_time,gender_?,gender_female,gender_male,passing_by,exact,watched,watched_share,{gaps}"
    )


def test_what_was_watched_stands_where_it_is_asked_for(question: Question) -> None:
    header = question.ask(TABLE, metrics="watched,passing_by").text.splitlines()[0]
    gaps = ",".join(f"gaps_{absence}" for absence in Absence)
    assert header == f"bucket,watched,watched_share,passing_by,exact,{gaps}"


def test_it_is_offered_as_a_file(question: Question) -> None:
    answer = question.ask(TABLE)
    assert answer.headers["Content-Type"].startswith("text/csv; charset=utf-8")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="entities.csv"'
    assert answer.headers["Cache-Control"] == "private, no-cache"
    assert answer.text.startswith("bucket,passing_by,exact,watched,watched_share,")
    assert answer.text.splitlines()[1].startswith("global,0,true,0.0,0.0,")


def test_a_page_can_not_be_asked_for(question: Question) -> None:
    assert "`page`" in assert_problem(question.ask(TABLE, page=1), 400, "bad_request")["detail"]


def test_what_is_wrong_is_said_as_a_problem(question: Question) -> None:
    assert_problem(question.ask(TABLE, metrics="nonsense"), 400, "bad_request")
    assert_problem(question.reader.request("GET", TABLE), 401, "missing_token")


def test_rows_that_are_not_exact_say_so(question: Question) -> None:
    question.write(seen(question.stream, "2026-03-02T09:05:00Z"))
    archive, stream_id = question.reader.archive, question.stream.stream_id
    archive.fill()
    archive.execute("INSERT INTO visits_kept (stream_id, since) VALUES (%s, '2026-04-01Z')", stream_id)
    archive.execute("DELETE FROM visits_visit WHERE stream_id = %s", stream_id)
    assert [row["exact"] for row in rows_of(question.ask(TABLE, from_date="2026-03-02T09:01:00Z"))] == ["false"]


def test_head_of_a_table_asks_for_nothing_but_its_first_page(served: Served) -> None:
    stream = served.archive.create_stream()
    with served.client(stream) as client:
        head = client.head(TABLE, params=ALL_TIME, timeout=5)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Disposition"].startswith("attachment")


def test_a_table_that_can_not_be_finished_breaks_the_connection(served: Served) -> None:
    stream = served.archive.create_stream()
    with (
        served.client(stream) as client,
        client.stream("GET", TABLE, params=ALL_TIME, headers={"Accept-Encoding": "identity"}) as answer,
    ):
        chunks = answer.iter_bytes()
        assert next(chunks).startswith(b"bucket,")
        with served.archive.held_up(), pytest.raises(httpx2.RemoteProtocolError):
            read_out(chunks)
    assert '"code":"overloaded"' in served.log.read_text()


def test_a_reader_that_leaves_ends_its_table(served: Served) -> None:
    stream = served.archive.create_stream()
    with served.client(stream) as client, client.stream("GET", TABLE, params=ALL_TIME) as answer:
        next(answer.iter_bytes())

    def pages_in_a_while() -> float:
        before = pages_asked(served)
        time.sleep(0.3)
        return pages_asked(served) - before

    wait_for(pages_in_a_while, lambda pages: pages == 0)


def pages_asked(served: Served) -> float:
    found = re.search(r'onlooker_data_query_seconds_count{time="by_hour"} (\S+)', served.metrics())
    assert found
    return float(found[1])
