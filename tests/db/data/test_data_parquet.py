"""The table as Parquet: the rows of the CSV with types, and what they are in the file."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from data_process import Served
from onlooker.data.openapi import BUCKET
from onlooker.data.parquet_table import GROUP_ROWS
from onlooker.metrics.definitions import METRICS
from onlooker.metrics.query import KNOWN_METRICS, Time
from readers import PATH, Question, Reader, seen
from wire import assert_problem

pytest_plugins = ["endpoint"]

TABLE, PARQUET = f"{PATH}.csv", f"{PATH}.parquet"
BEGINS = datetime(2026, 3, 27, tzinfo=UTC)
ZONES = ("UTC", "Europe/Paris", "Asia/Kathmandu", "Australia/Lord_Howe")
QUERIES = st.fixed_dictionaries(
    {
        "metrics": st.lists(st.sampled_from(KNOWN_METRICS), min_size=1, max_size=5, unique=True).map(",".join),
        "from_date": st.integers(0, 40 * 60).map(lambda minutes: (BEGINS + timedelta(minutes=minutes)).isoformat()),
        "to_date": st.integers(41 * 60, 99 * 60).map(lambda minutes: (BEGINS + timedelta(minutes=minutes)).isoformat()),
        "time": st.sampled_from([str(time) for time in Time]),
        "tz": st.sampled_from(ZONES),
    }
)
YEARS = {"time": "by_hour", "from_date": "2015-01-01T00:00:00Z", "to_date": "2026-05-01T00:00:00Z"}


def table_of(answer: httpx2.Response) -> pyarrow.Table:
    assert answer.status_code == 200, answer.text
    return parquet.read_table(io.BytesIO(answer.content), page_checksum_verification=True)


def as_cell(value: Any) -> str:
    """As a table of text has it."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


@pytest.fixture
def lively(question: Question) -> Question:
    """People over three days around a change of clocks, of whom half was watched, well for some of it."""
    execute, stream_id = question.reader.archive.execute, question.stream.stream_id
    execute("UPDATE streams_stream SET created_at = '2026-03-27 12:00Z' WHERE id = %s", stream_id)
    execute(
        """INSERT INTO streams_coverage (stream_id, slot_at, video_s)
           SELECT %s, slot_at, 700 FROM generate_series('2026-03-28Z', '2026-03-29Z', interval '15 minutes') slot_at""",
        stream_id,
    )
    people = [BEGINS + timedelta(minutes=17 * number) for number in range(200)]
    looks = {"gender": "male", "gender_confidence": 0.9, "expression": (0.1, 0.2, 0.3, 0.2, 0.2)}
    question.write(
        *(
            seen(question.stream, at.isoformat(), still_s=number % 7, look_s=number % 4, **looks)
            for number, at in enumerate(people)
        )
    )
    question.reader.archive.fill()
    return question


def test_every_column_has_the_type_of_its_number(lively: Question) -> None:
    found = table_of(lively.ask(PARQUET, metrics=",".join(KNOWN_METRICS), time="by_hour"))
    types = {field.name: (str(field.type), field.nullable) for field in found.schema}
    assert types["bucket"] == ("string", False)
    assert types["start"] == ("timestamp[us, tz=UTC]", False)
    assert types["exact"] == ("bool", False)
    assert types["passing_by"] == types["gender_?"] == types["in_view"] == types["quality_face_px"] == ("int64", True)
    assert types["stop_time"] == types["watched_share"] == types["gaps_offline"] == ("double", True)
    assert types["quality_models"] == ("string", True)
    assert len(types) == 3 + sum(len(BUCKET["properties"][name]["properties"]) for name in KNOWN_METRICS)


def test_what_nobody_knows_is_null_and_never_zero(question: Question) -> None:
    found = table_of(question.ask(PARQUET, metrics="stop_time,in_view,quality")).to_pylist()[0]
    unknown = [name for name in found if name.startswith(("stop_time", "in_view", "quality"))]
    assert {found[name] for name in unknown} == {None}
    assert (found["watched"], found["watched_share"]) == (0.0, 0.0)


def test_the_file_says_what_it_is(question: Question) -> None:
    asked = {"metrics": "passing_by", "time": "by_day", "tz": "Europe/Paris"}
    said = {
        name.decode(): text.decode()
        for name, text in table_of(question.ask(PARQUET, **asked)).schema.metadata.items()
        if name.startswith(b"onlooker.")
    }
    meanings, definitions = json.loads(said.pop("onlooker.meanings")), said.pop("onlooker.definitions")
    assert said == {
        "onlooker.client_id": str(question.stream.client_id),
        "onlooker.time_zone": "Europe/Paris",
        "onlooker.from_date": "2026-03-02T00:00:00+00:00",
        "onlooker.to_date": "2026-03-03T00:00:00+00:00",
        "onlooker.time": "by_day",
        "onlooker.metrics": "passing_by,watched,gaps",
    }
    assert meanings["passing_by"] == METRICS["passing_by"].meaning
    assert len(definitions) == 16


def test_parquet_is_offered_as_a_file(question: Question) -> None:
    answer = question.ask(PARQUET)
    assert answer.headers["Content-Type"] == "application/vnd.apache.parquet"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="entities.parquet"'
    assert answer.headers["Cache-Control"] == "private, no-cache"


def test_parquet_is_refused_as_the_csv_is(reader: Reader, question: Question) -> None:
    for wrong in ({"page": 1}, {"metrics": "nonsense"}, {"compare": "previous"}, {**YEARS, "from_date": "1990-01-01"}):
        detail = assert_problem(question.ask(PARQUET, **wrong), 400, "bad_request")["detail"]
        assert detail == question.ask(TABLE, **wrong).json()["detail"]
    assert_problem(reader.request("GET", PARQUET), 401, "missing_token")


def test_long_files_have_several_groups_of_rows(question: Question) -> None:
    asked = {"time": "by_hour", "from_date": "2026-01-01T00:00:00Z", "to_date": "2026-04-01T00:00:00Z"}
    file = parquet.ParquetFile(io.BytesIO(question.ask(PARQUET, **asked).content))
    groups = [file.metadata.row_group(place).num_rows for place in range(file.metadata.num_row_groups)]
    assert groups == [GROUP_ROWS, GROUP_ROWS, 90 * 24 - 2 * GROUP_ROWS]


def test_a_file_that_can_not_be_finished_breaks_the_connection(served: Served) -> None:
    stream = served.archive.create_stream()
    with served.client(stream) as client, client.stream("GET", PARQUET, params=YEARS | {"metrics": "gender"}) as answer:
        chunks = answer.iter_raw()
        assert next(chunks)
        with served.archive.held_up(), pytest.raises(httpx2.RemoteProtocolError):
            sum(len(chunk) for chunk in chunks)


@pytest.mark.parametrize("settings_of_stream", ["grid = false", "grid = true", "groups_of = 5"])
def test_it_has_the_rows_and_values_of_the_csv(lively: Question, settings_of_stream: str) -> None:
    statement = f"UPDATE streams_stream SET {settings_of_stream} WHERE id = %s"
    lively.reader.archive.execute(statement, lively.stream.stream_id)

    @given(QUERIES)
    @settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
    def compare(asked: dict[str, str]) -> None:
        rows = list(csv.DictReader(io.StringIO(lively.ask(TABLE, **asked).text)))
        found = table_of(lively.ask(PARQUET, **asked))
        body = lively.body(**asked)
        assert [name for name in found.column_names if name != "start"] == list(rows[0])
        starts = found.column("start").to_pylist()
        for row, start in zip(rows, starts, strict=True):
            text = body["from_date"] if row["bucket"] == "global" else row["bucket"]
            assert start == datetime.fromisoformat(text)
        typed = found.drop_columns("start").to_pylist()
        assert [{name: as_cell(value) for name, value in row.items()} for row in typed] == rows

    compare()
