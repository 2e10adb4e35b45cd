"""Flat tables as Apache Parquet, a group of rows at a time: plain values, gzip, nothing nested.

The format: https://github.com/apache/parquet-format. A file is a magic word, the pages of each row group, and a footer
that says where they are, written in Thrift's compact protocol. Decision 0070 says why this is written here.
"""

import enum
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from onlooker.data.thrift_compact import Long, Struct, encode_struct, varint

MAGIC = b"PAR1"
MEDIA_TYPE = "application/vnd.apache.parquet"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY = date(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
_FORMAT_VERSION = 2
_OPTIONAL, _REQUIRED = 1, 0
_PLAIN, _RLE = 0, 3
_GZIP = 2
_GZIP_WINDOW = 31
"""Of zlib: with gzip's header, which the format asks for."""
_LEVEL = 5
_BOOLEAN, _INT32, _INT64, _DOUBLE, _BYTE_ARRAY = 0, 1, 2, 5, 6
_STRING: Struct = {1: {}}
_DATE: Struct = {6: {}}
_UTC_MICROSECONDS: Struct = {8: {1: True, 2: {2: {}}}}


class Kind(enum.Enum):
    """What a column holds: the format's physical type, its older mark, and its logical type."""

    COUNT = (_INT64, None, None)
    NUMBER = (_DOUBLE, None, None)
    FLAG = (_BOOLEAN, None, None)
    TEXT = (_BYTE_ARRAY, 0, _STRING)
    MOMENT = (_INT64, 10, _UTC_MICROSECONDS)
    DAY = (_INT32, 6, _DATE)
    """A date of no clock in particular."""


@dataclass(frozen=True)
class Column:
    name: str
    kind: Kind
    is_required: bool = False
    """Without nulls."""


class ParquetFile:
    """The bytes of a file in order: `begin`, `add_rows` for each group of rows, `finish`."""

    def __init__(self, columns: Sequence[Column], metadata: Mapping[str, str], *, created_by: str) -> None:
        self._columns = columns
        self._metadata = metadata
        self._created_by = created_by
        self._written_bytes = 0
        self._rows = 0
        self._groups: list[Struct] = []

    def begin(self) -> bytes:
        return self._count(MAGIC)

    def add_rows(self, rows: Sequence[Sequence[Any]]) -> bytes:
        """A row group; a row has a value for each column, None for null."""
        begin, group_bytes = self._written_bytes, 0
        chunks: list[Struct] = []
        pages = []
        for column, values in zip(self._columns, zip(*rows, strict=True), strict=True):
            page, plain_bytes = _make_page(column, values)
            chunks.append({2: Long(0), 3: self._describe_chunk(column, len(rows), page, plain_bytes)})
            pages.append(self._count(page))
            group_bytes += plain_bytes
        self._groups.append({1: chunks, 2: Long(group_bytes), 3: Long(len(rows)), 6: Long(self._written_bytes - begin)})
        self._rows += len(rows)
        return b"".join(pages)

    def finish(self) -> bytes:
        schema = [{4: "schema", 5: len(self._columns)}, *map(_describe_column, self._columns)]
        pairs = [{1: name, 2: text} for name, text in self._metadata.items()]
        footer = encode_struct(
            {1: _FORMAT_VERSION, 2: schema, 3: Long(self._rows), 4: self._groups, 5: pairs, 6: self._created_by}
        )
        return footer + struct.pack("<I", len(footer)) + MAGIC

    def _describe_chunk(self, column: Column, count: int, page: bytes, plain_bytes: int) -> Struct:
        """The column of a row group, which is one page."""
        return {
            1: column.kind.value[0],
            2: [_PLAIN, _RLE],
            3: [column.name],
            4: _GZIP,
            5: Long(count),
            6: Long(plain_bytes),
            7: Long(len(page)),
            9: Long(self._written_bytes),
        }

    def _count(self, piece: bytes) -> bytes:
        self._written_bytes += len(piece)
        return piece


def _describe_column(column: Column) -> Struct:
    physical, mark, logical = column.kind.value
    found: Struct = {1: physical, 3: _REQUIRED if column.is_required else _OPTIONAL, 4: column.name}
    return found | ({} if mark is None else {6: mark, 10: logical})


def _make_page(column: Column, values: Sequence[Any]) -> tuple[bytes, int]:
    """A page with its header, and how long both would be without compression."""
    present = [value for value in values if value is not None]
    if column.is_required and len(present) < len(values):
        raise ValueError(f"{column.name} has a null")
    levels = b"" if column.is_required else _encode_levels(values)
    plain = levels + _encode_plain(column.kind, present)
    deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP_WINDOW)
    packed = deflate.compress(plain) + deflate.flush()
    header = encode_struct(
        {
            1: 0,
            2: len(plain),
            3: len(packed),
            4: _signed(zlib.crc32(packed)),
            5: {1: len(values), 2: _PLAIN, 3: _RLE, 4: _RLE},
        }
    )
    return header + packed, len(header) + len(plain)


def _encode_levels(values: Sequence[Any]) -> bytes:
    """Which values there are, a bit each: the second kind of run of the format's hybrid."""
    bits = _pack_bits([value is not None for value in values])
    run = varint(len(bits) << 1 | 1) + bits
    return struct.pack("<I", len(run)) + run


def _encode_plain(kind: Kind, values: Sequence[Any]) -> bytes:
    if kind is Kind.TEXT:
        texts = [value.encode() for value in values]
        return b"".join(struct.pack("<I", len(text)) + text for text in texts)
    if kind is Kind.FLAG:
        return _pack_bits(values)
    if kind is Kind.MOMENT:
        values = [(value - _EPOCH) // _MICROSECOND for value in values]
    if kind is Kind.DAY:
        values = [(value - _FIRST_DAY).days for value in values]
    letter = {_DOUBLE: "d", _INT32: "i", _INT64: "q"}[kind.value[0]]
    return struct.pack(f"<{len(values)}{letter}", *values)


def _pack_bits(flags: Sequence[bool]) -> bytes:
    """The first in the lowest bit."""
    number = int("".join("1" if flag else "0" for flag in reversed(flags)) or "0", 2)
    return number.to_bytes(-(-len(flags) // 8), "little")


def _signed(number: int) -> int:
    return number - (1 << 32) if number >> 31 else number
