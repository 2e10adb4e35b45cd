"""A batch of visits as the database reads it quickest: an array for each column, in PostgreSQL's binary format.

Reading them as JSON, with a dozen moments each as text, took the database longer than storing them.
"""

import math
from collections.abc import Iterable, Sequence
from struct import Struct, error

import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format

from onlooker.bus.session_store import sealed_name
from onlooker_pipeline.expressions import EXPRESSIONS
from onlooker_pipeline.visits.visit import Interval, Visit

EPOCH_MS = 946_684_800_000
"""PostgreSQL counts from the year 2000, in microseconds."""
EARLIEST_MS, LATEST_MS = -62_135_596_800_000, 253_402_300_799_999
"""The years 1 to 9999, which Python can read again."""
_BOOL, _INT8, _INT4, _TEXT, _FLOAT4, _TIMESTAMPTZ, _UUID, _TSTZMULTIRANGE = 16, 20, 23, 25, 700, 1184, 2950, 4534
"""Object ids of types; they are the same in every PostgreSQL."""
_NULL = b"\xff\xff\xff\xff"

_pack_head = Struct(">iiIii").pack
_pack_length = Struct(">i").pack
_pack_bool = Struct(">i?").pack
_pack_int8 = Struct(">iq").pack
_pack_int4 = Struct(">ii").pack
_pack_float4 = Struct(">if").pack
_pack_ranges = Struct(">ii").pack
_pack_range = Struct(">iBiqiq").pack
_RANGE_BYTES, _START_INCLUDED = 25, 2


class BinaryArray(bytes):
    """An array in PostgreSQL's binary format; the statement says of which type."""


class _BinaryArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: BinaryArray) -> bytes:
        return obj


psycopg.adapters.register_dumper(BinaryArray, _BinaryArrayDumper)


def columns_of(visits: Sequence[Visit]) -> dict[str, BinaryArray]:
    """By name. Raises OverflowError for a number or a time that the database can't hold.

    The client's id of the session is not among them: the name of its state on the bus finds it while a visit is open.
    """
    try:
        return {
            "stream_id": _array(_INT8, [_pack_int8(8, visit.stream_id) for visit in visits]),
            "began_at": _array(_TIMESTAMPTZ, [_pack_int8(8, _moment(visit.began_ms)) for visit in visits]),
            "id": _array(_UUID, [_pack_length(16) + visit.id for visit in visits]),
            "revision": _array(_INT4, [_pack_int4(4, visit.revision) for visit in visits]),
            "ended": _array(_BOOL, [_pack_bool(1, visit.ended) for visit in visits]),
            "session": _array(_TEXT, [_text("" if visit.ended else sealed_name(visit.session)) for visit in visits]),
            "present": _array(_TSTZMULTIRANGE, [_multirange(visit.present) for visit in visits]),
            "still": _array(_TSTZMULTIRANGE, [_multirange(visit.still) for visit in visits]),
            "looking": _array(_TSTZMULTIRANGE, [_multirange(visit.looking) for visit in visits]),
            "age": _floats(visit.age for visit in visits),
            "age_confidence": _floats(visit.age_confidence for visit in visits),
            "gender": _array(_TEXT, [_text(visit.gender) for visit in visits]),
            "gender_confidence": _floats(visit.gender_confidence for visit in visits),
            **{
                name: _floats(visit.expression[place] if visit.expression else None for visit in visits)
                for place, name in enumerate(EXPRESSIONS)
            },
            "confidence": _floats(visit.confidence for visit in visits),
        }
    except error as unfit:
        raise OverflowError(str(unfit)) from None


def _array(type_id: int, elements: list[bytes]) -> BinaryArray:
    """One dimension, counted from 1; it may contain nulls."""
    return BinaryArray(_pack_head(1, 1, type_id, len(elements), 1) + b"".join(elements))


def _moment(at_ms: int) -> int:
    if not EARLIEST_MS <= at_ms <= LATEST_MS:
        raise OverflowError(f"{at_ms} ms is not between the years 1 and 9999.")
    return 1000 * (at_ms - EPOCH_MS)


def _multirange(intervals: Sequence[Interval]) -> bytes:
    ranges = [
        _pack_range(_RANGE_BYTES, _START_INCLUDED, 8, _moment(start_ms), 8, _moment(end_ms))
        for start_ms, end_ms in intervals
    ]
    return _pack_ranges(4 + (4 + _RANGE_BYTES) * len(ranges), len(ranges)) + b"".join(ranges)


def _floats(values: Iterable[float | None]) -> BinaryArray:
    """What is not a number, or infinite, is unknown."""
    known = [_NULL if value is None or not math.isfinite(value) else _pack_float4(4, value) for value in values]
    return _array(_FLOAT4, known)


def _text(value: str | None) -> bytes:
    if value is None:
        return _NULL
    encoded = value.encode()
    return _pack_length(len(encoded)) + encoded
