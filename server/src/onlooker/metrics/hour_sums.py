"""Sums over the buckets of a range, read by whole hours: a quarter of the slots."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from psycopg import AsyncConnection, AsyncRawCursor
from psycopg.rows import DictRow, tuple_row
from psycopg.types.numeric import Int8

from onlooker.database import load_sql_parts
from onlooker.metrics.query import Query
from onlooker.metrics.statements import as_array
from onlooker.slots import SLOT_IN_SQL, SLOT_S
from onlooker_pipeline.face_size import FACE_BINS

HOUR_S = 3600
WATCHED, QUALITY = "watched", "quality"
BESIDE = -1
"""Stands in place of a bucket's number for what is read beside the sums."""
_VALUES = ("stream_id", "from_at", "to_at", "now", "cuts_s", "cut_hours_s", "cut_slots_s", "run_begins_s", "run_ends_s")
_BINS = range(1, FACE_BINS + 1)


@dataclass(frozen=True)
class PastBuckets:
    """The parts of buckets that lie inside a range and in the past."""

    from_at: datetime
    to_at: datetime
    edges_s: Sequence[float]
    """Of the whole buckets."""
    now: datetime

    @cached_property
    def cuts_s(self) -> list[float]:
        """Where the parts begin, and where the last one ends."""
        ends_s, edges_s = (self.from_at.timestamp(), self.to_at.timestamp()), self.edges_s
        return [ends_s[0], *edges_s[bisect_right(edges_s, ends_s[0]) : bisect_left(edges_s, ends_s[1])], ends_s[1]]

    @cached_property
    def _cuts_us(self) -> list[int]:
        return [_microseconds(cut_s) for cut_s in self.cuts_s]

    @cached_property
    def first(self) -> int:
        """The bucket of the first part."""
        return bisect_right(self.edges_s, self.cuts_s[0]) - 1

    def shares_of(self, slot_s: float) -> Iterator[tuple[int, float]]:
        """The buckets that a slot lies in, each with its share. The current slot is as long as it has lasted."""
        begins, ends, cuts = _microseconds(slot_s), _microseconds(slot_s + SLOT_S), self._cuts_us
        lasted = min(ends, _microseconds(self.now.timestamp())) - begins
        for number in range(max(1, bisect_right(cuts, begins)), min(bisect_left(cuts, ends) + 1, len(cuts))):
            inside = min(ends, cuts[number]) - max(begins, cuts[number - 1])
            yield self.first + number - 1, inside / lasted

    def values(self, stream_id: int) -> tuple[Any, ...]:
        """In the order of _VALUES."""
        cut_hours_s, cut_slots_s = (units_cut(self.cuts_s, unit_s) for unit_s in (HOUR_S, SLOT_S))
        given: list[Sequence[float]] = [self.cuts_s, cut_hours_s, cut_slots_s, *runs_of(cut_hours_s)]
        return (Int8(stream_id), self.from_at, self.to_at, self.now, *map(as_array, given))


def units_cut(cuts_s: Iterable[float], unit_s: int) -> list[int]:
    """Where the hours or slots begin inside which a cut lies."""
    return sorted({int(cut_s // unit_s * unit_s) for cut_s in cuts_s if cut_s % unit_s})


def runs_of(hours_s: Sequence[int]) -> tuple[list[int], list[int]]:
    """Where runs of consecutive hours begin, and where they end."""
    known, ends_s = set(hours_s), [hour_s + HOUR_S for hour_s in hours_s]
    begins_s = [hour_s for hour_s in hours_s if hour_s - HOUR_S not in known]
    return begins_s, [end_s for end_s in ends_s if end_s not in known]


def _microseconds(seconds: float) -> int:
    """Whole ones: differences of Unix times in seconds are off by a fifth of a microsecond."""
    return round(seconds * 1_000_000)


def past_buckets(query: Query, edges_s: Sequence[float], now: datetime) -> PastBuckets:
    begin_at, end_at = (datetime.fromtimestamp(edges_s[place], UTC) for place in (0, -1))
    from_at = max(query.from_at.astimezone(UTC), begin_at)
    to_at = max(from_at, min(query.to_at.astimezone(UTC), end_at, now))
    return PastBuckets(from_at, to_at, edges_s, now)


def _compile(name: str) -> bytes:
    parts = load_sql_parts("onlooker.metrics", "sql/hour_sums.sql")
    values = SLOT_IN_SQL | {value: f"${number}" for number, value in enumerate(_VALUES, start=1)}
    values |= {
        "faces_of_hours": ", ".join(f"sum(faces_{number})" for number in _BINS),
        "faces_of_slots": ", ".join(f"sum(faces[{number}])" for number in _BINS),
    }
    values |= {part: parts[part].substitute(values) for part in parts if part not in (WATCHED, QUALITY)}
    return parts[name].substitute(values).encode()


_statements = {name: _compile(name) for name in (WATCHED, QUALITY)}


async def read_hour_sums(
    connection: AsyncConnection[DictRow], name: str, stream_id: int, buckets: PastBuckets
) -> Iterator[tuple[int, float, tuple[Any, ...]]]:
    """Buckets, what share of the sums is theirs, and the sums. BESIDE stands for no bucket."""
    cursor = AsyncRawCursor(connection, row_factory=tuple_row)
    await cursor.execute(_statements[name], buckets.values(stream_id), prepare=True, binary=True)
    return _by_bucket(await cursor.fetchall(), buckets)


def _by_bucket(rows: list[tuple[Any, ...]], buckets: PastBuckets) -> Iterator[tuple[int, float, tuple[Any, ...]]]:
    parts = len(buckets.cuts_s) - 1
    for row in rows:
        number, slot_s = row[:2]
        if slot_s is not None:
            for bucket, share in buckets.shares_of(slot_s):
                yield bucket, share, row[2:]
        elif number == BESIDE:
            yield BESIDE, 1.0, row[2:]
        elif 1 <= number <= parts:  # others are slots of an hour in which the range begins or ends
            yield buckets.first + number - 1, 1.0, row[2:]
