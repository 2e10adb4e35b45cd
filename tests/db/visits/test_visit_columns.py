"""Visits in PostgreSQL's binary format are read as they are, and what the database can't hold is refused."""

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import msgspec
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onlooker.bus.session_store import sealed_name
from onlooker.visits.visit_columns import EARLIEST_MS, LATEST_MS, columns_of
from onlooker_pipeline.expressions import EXPRESSIONS
from onlooker_pipeline.visits.visit import Interval, Visit
from recorder_process import visit
from testkit import migrated_database

TYPES = {
    "stream_id": "bigint",
    "began_at": "timestamptz",
    "id": "uuid",
    "revision": "int",
    "ended": "boolean",
    "session": "text",
    **dict.fromkeys(("present", "still", "looking"), "tstzmultirange"),
    "age": "real",
    "age_confidence": "real",
    "gender": "text",
    "gender_confidence": "real",
    **dict.fromkeys(EXPRESSIONS, "real"),
    "confidence": "real",
}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def connection() -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with migrated_database() as url, psycopg.connect(url, autocommit=True) as connected:
        yield connected


def moment(at_ms: int) -> datetime:
    return EPOCH + timedelta(milliseconds=at_ms)


def intervals_from(edges_ms: list[int]) -> list[Interval]:
    ordered = sorted(set(edges_ms))
    return list(zip(ordered[::2], ordered[1::2], strict=False))


SHARES = st.floats(0, 1, width=32)
EDGES = st.lists(st.integers(EARLIEST_MS + 86_400_000, LATEST_MS - 86_400_000), max_size=12).map(intervals_from)
VISITS = st.builds(
    Visit,
    id=st.binary(min_size=16, max_size=16),
    stream_id=st.integers(-(2**63), 2**63 - 1),
    session=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=50),
    revision=st.integers(1, 2**31 - 1),
    ended=st.booleans(),
    present=EDGES.filter(len),
    still=EDGES,
    looking=EDGES,
    age=st.none() | st.floats(0, 150, width=32),
    age_confidence=SHARES,
    gender=st.sampled_from([None, "male", "female"]),
    gender_confidence=SHARES,
    expression=st.none() | st.tuples(*[SHARES] * 5),
    confidence=SHARES,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(visits=st.lists(VISITS, min_size=1, max_size=5))
def test_every_member_is_read_as_it_is(connection: psycopg.Connection[tuple[object, ...]], visits: list[Visit]) -> None:
    arrays = ", ".join(f"%({name})s::{kind}[]" for name, kind in TYPES.items())
    rows = connection.execute(f"SELECT * FROM unnest({arrays})", columns_of(visits), binary=True).fetchall()
    assert len(rows) == len(visits)
    for row, one in zip(rows, visits, strict=True):
        read = dict(zip(TYPES, row, strict=True))
        assert read.pop("id").bytes == one.id  # type: ignore[attr-defined]
        assert read.pop("began_at") == moment(one.began_ms)
        for name in ("present", "still", "looking"):
            ranges = [(part.lower, part.upper, part.bounds) for part in read.pop(name)]  # type: ignore[attr-defined]
            assert ranges == [(moment(start), moment(end), "[)") for start, end in getattr(one, name)]
        assert read.pop("session") == ("" if one.ended else sealed_name(one.session)), "never the client's own id"
        expression = [read.pop(name) for name in EXPRESSIONS]
        assert expression == list(one.expression or [None] * 5)
        assert read == {name: getattr(one, name) for name in read}


@pytest.mark.parametrize(
    "changes",
    [
        {"stream_id": 2**63},
        {"revision": 2**31},
        {"present": [(0, LATEST_MS + 1)]},
        {"present": [(EARLIEST_MS - 1, 0)]},
        {"looking": [(0, 10**30)]},
        {"age": 1e300},
    ],
)
def test_what_no_column_can_hold_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(OverflowError):
        columns_of([msgspec.structs.replace(visit(1), **changes)])


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_unknown(connection: psycopg.Connection[tuple[object, ...]], value: float) -> None:
    columns = columns_of([visit(1, age=value), visit(1, age=20.5)])
    rows = connection.execute("SELECT unnest(%(age)s::real[])", columns).fetchall()
    assert rows == [(None,), (20.5,)]
