"""Files of Parquet by two readers that others wrote: pyarrow (Arrow's) and DuckDB's."""

import io
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import pyarrow
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from duckdb_reader import DuckDB, open_duckdb
from onlooker.data.parquet_file import Column, Kind, ParquetFile
from onlooker.data.thrift_compact import varint

VALUES: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.COUNT: st.integers(-(2**63), 2**63 - 1),
    Kind.NUMBER: st.floats(allow_nan=False),
    Kind.FLAG: st.booleans(),
    Kind.TEXT: st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    Kind.MOMENT: st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),
    Kind.DAY: st.dates(date(1600, 1, 1), date(2400, 1, 1)),
}
ARROW_TYPES = {
    Kind.COUNT: pyarrow.int64(),
    Kind.NUMBER: pyarrow.float64(),
    Kind.FLAG: pyarrow.bool_(),
    Kind.TEXT: pyarrow.string(),
    Kind.MOMENT: pyarrow.timestamp("us", "UTC"),
    Kind.DAY: pyarrow.date32(),
}
DUCKDB_TYPES = {
    Kind.COUNT: "BIGINT",
    Kind.NUMBER: "DOUBLE",
    Kind.FLAG: "BOOLEAN",
    Kind.TEXT: "VARCHAR",
    Kind.MOMENT: "TIMESTAMP WITH TIME ZONE",
    Kind.DAY: "DATE",
}
SHOWN = {Kind.MOMENT: 'epoch_us("{}")', Kind.DAY: '"{}"::VARCHAR'}
"""As what JSON has: for moments as such DuckDB asks for pytz, which is not installed."""
Row = tuple[Any, ...]


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Column], list[list[Row]]]:
    """Columns, and groups of rows."""
    kinds = draw(st.lists(st.tuples(st.sampled_from(Kind), st.booleans()), min_size=1, max_size=20))
    columns = [Column(f"{place} {kind.name}?", kind, needed) for place, (kind, needed) in enumerate(kinds)]
    cells = [VALUES[one.kind] if one.is_required else st.none() | VALUES[one.kind] for one in columns]
    groups = st.lists(st.lists(st.tuples(*cells), min_size=1, max_size=20), max_size=4)
    return columns, draw(groups)


def bytes_of(columns: list[Column], groups: list[list[Row]], metadata: dict[str, str] | None = None) -> bytes:
    file = ParquetFile(columns, metadata or {}, created_by="onlooker version 0.1.0")
    return b"".join([file.begin(), *map(file.add_rows, groups), file.finish()])


EVERY_KIND = [Column(kind.name, kind) for kind in Kind]
NOBODY: list[Row] = [(None,) * len(EVERY_KIND)] * 200


@settings(max_examples=20, deadline=None)
@given(tables(), st.dictionaries(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), st.text("aé☃")))
@example((EVERY_KIND, [NOBODY]), {})
def test_arrow_reads_what_was_written(table: tuple[list[Column], list[list[Row]]], metadata: dict[str, str]) -> None:
    columns, groups = table
    file = parquet.ParquetFile(io.BytesIO(bytes_of(columns, groups, metadata)), page_checksum_verification=True)
    found = file.read()
    expected = [pyarrow.field(one.name, ARROW_TYPES[one.kind], nullable=not one.is_required) for one in columns]
    assert list(found.schema) == expected
    assert (found.schema.metadata or {}) == {name.encode(): text.encode() for name, text in metadata.items()}
    assert [tuple(row.values()) for row in found.to_pylist()] == [row for group in groups for row in group]
    assert file.metadata.num_row_groups == len(groups)


@pytest.fixture(scope="module")
def duckdb() -> Iterator[DuckDB]:
    with open_duckdb() as opened:
        yield opened


@settings(max_examples=20, deadline=None)
@given(tables())
def test_duckdb_reads_what_was_written(
    duckdb: DuckDB,
    tmp_path_factory: pytest.TempPathFactory,
    table: tuple[list[Column], list[list[Row]]],
) -> None:
    columns, groups = table
    path = tmp_path_factory.getbasetemp() / "duckdb.parquet"
    path.write_bytes(bytes_of(columns, groups))
    described = duckdb.ask(f"DESCRIBE FROM '{path}'")
    assert [row[:2] for row in described] == [[one.name, DUCKDB_TYPES[one.kind]] for one in columns]
    shown = [SHOWN.get(one.kind, '"{}"').format(one.name) for one in columns]
    rows = duckdb.ask(f"SELECT {', '.join(shown)} FROM '{path}'")
    assert rows == [list(map(as_shown, row)) for group in groups for row in group]


def as_shown(value: Any) -> Any:
    if isinstance(value, datetime):
        return round(value.timestamp() * 1_000_000)
    return value.isoformat() if isinstance(value, date) else value


def test_a_null_where_none_may_be_is_refused() -> None:
    with pytest.raises(ValueError, match="n has a null"):
        bytes_of([Column("n", Kind.COUNT, is_required=True)], [[(1,), (None,)]])


def test_a_file_without_its_end_is_no_file() -> None:
    whole = bytes_of([Column("n", Kind.COUNT)], [[(1,)], [(2,)]])
    for length in (4, len(whole) // 2, len(whole) - 1):
        with pytest.raises(pyarrow.ArrowInvalid):
            parquet.read_table(io.BytesIO(whole[:length]))


@given(st.integers(0, 2**63))
def test_a_number_has_seven_bits_a_byte(number: int) -> None:
    written = varint(number)
    assert sum((digit & 127) << 7 * place for place, digit in enumerate(written)) == number
    assert [digit >> 7 for digit in written] == [1] * (len(written) - 1) + [0]
