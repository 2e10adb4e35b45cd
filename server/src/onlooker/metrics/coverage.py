"""How much of each bucket was watched, and why not the rest: tells 'nobody came' from 'the camera was off'."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice, pairwise, takewhile
from typing import Any

from psycopg import AsyncConnection
from psycopg.rows import DictRow, tuple_row

from onlooker.database import Pool, load_queries
from onlooker.metrics.buckets import Buckets
from onlooker.metrics.hour_sums import BESIDE, HOUR_S, WATCHED, PastBuckets, past_buckets, read_hour_sums, units_cut
from onlooker.metrics.query import Query
from onlooker.metrics.statements import as_array
from onlooker.slots import SLOT, SLOT_S, is_slot_edge, slot_of
from onlooker.streams.business_hours import closed_spans, parse_hours, zone_of
from onlooker.streams.coverage import Reason, reason_of

NOTHING_S = 1e-6
"""Anything below this is a rounding error of a sum."""
TOLD_BY_STATE = [Reason.STREAM_DISABLED, Reason.QUOTA_EXCEEDED, Reason.STREAM_CLOSED]
"""Refusals that add nothing: the log of states, or the opening hours, say when they began and ended."""

CoverageRow = tuple[int, str | None, float, float]
"""Number, reason, seconds and covered seconds."""
BlindRow = tuple[int, str | None, str, float]
"""Number, reason, fault and seconds."""

_queries = load_queries("onlooker.metrics", "sql/coverage.sql")


class Absence(StrEnum):
    """Why nobody was watched for. A closed list."""

    DISABLED = "disabled"
    """The stream was switched off."""
    QUOTA = "quota"
    """Its monthly quota was used up."""
    REFUSED = "refused"
    """Frames arrived and were not computed."""
    BLACK = "black"
    """Frames arrived and showed nothing; from here on to MOVED, a `PictureFault` each."""
    COVERED = "covered"
    DARK = "dark"
    OVEREXPOSED = "overexposed"
    BLURRED = "blurred"
    FROZEN = "frozen"
    MOVED = "moved"
    NOT_CREATED = "not_created"
    """The stream did not exist yet."""
    OFFLINE = "offline"
    """No frames arrived: the camera was off."""
    UNKNOWN = "unknown"
    """Before the stream's coverage was kept for good."""
    CLOSED = "closed"
    """Outside the stream's opening hours: no gap, as nobody was expected to be watched for."""


_ABSENCES = {absence.value: absence for absence in Absence}
_ORDER = {absence: place for place, absence in enumerate(Absence)}

Missing = dict[Absence | Reason, float]
"""Seconds by why they are missing; refused seconds by reason."""


@dataclass(frozen=True)
class Watched:
    """How much was covered of the part of a bucket that lies inside the range, in the past and in opening hours."""

    covered_s: float
    length_s: float
    is_known: bool = True
    """False where more may have been covered than is still known."""

    @property
    def share(self) -> float | None:
        """None where it is not known, or where none of the time has passed yet or all of it was closed."""
        return min(1.0, self.covered_s / self.length_s) if self.is_known and self.length_s else None


@dataclass(frozen=True)
class BucketCoverage:
    """The part of a bucket that lies inside the range and in the past: each second of it is covered or missing."""

    length_s: float
    covered_s: float
    missing: dict[Absence, float]
    """Only causes with some seconds."""
    refused_for: Reason | None
    """The reason for most of the refused seconds."""

    @property
    def open_s(self) -> float:
        """What was not closed."""
        closed_s = self.missing.get(Absence.CLOSED, 0.0)
        return 0.0 if closed_s and self.length_s - closed_s <= NOTHING_S else self.length_s - closed_s

    @property
    def is_closed(self) -> bool:
        """Whether all of it was."""
        return bool(self.length_s) and not self.open_s

    @property
    def in_hours(self) -> "BucketCoverage":
        """The part that was not closed."""
        missing = dict(self.missing)
        missing.pop(Absence.CLOSED, None)
        return replace(self, length_s=self.open_s, missing=missing)

    @property
    def watched(self) -> Watched:
        return Watched(self.covered_s, self.open_s, Absence.UNKNOWN not in self.missing)


@dataclass(frozen=True)
class Closure:
    """A period in which the stream could not compute: not created yet, closed, disabled, or its quota used up."""

    absence: Absence
    from_at: datetime
    to_at: datetime


@dataclass(frozen=True)
class SlotCoverage:
    """The slots of a stretch in which frames were computed, or were refused mostly for this reason."""

    length_s: float
    covered_s: float
    reason: Reason | None
    blind: Mapping[Absence, float] = field(default_factory=dict)
    """Seconds in which the camera saw nothing."""


@dataclass(frozen=True)
class Stretch:
    """A period inside a bucket: closed slots, open slots, or a single slot that was both in turn."""

    bucket: int
    from_at: datetime
    to_at: datetime
    otherwise: Absence
    """The cause of missing seconds that nothing is recorded about."""

    @property
    def length_s(self) -> float:
        return (self.to_at - self.from_at).total_seconds()

    def explain(self, parts: Sequence[SlotCoverage], closures: Sequence[Closure]) -> Missing:
        """All missing seconds: what the camera could not see first, then closures, then refusals."""
        missing: Missing = defaultdict(float)
        closed = closed_between(self.from_at, self.to_at, closures)
        for part in _with_unwritten(parts, self.length_s):
            rest_s = part.length_s - part.covered_s - sum(part.blind.values())
            for absence, blind_s in part.blind.items():
                missing[absence] += blind_s
            for absence, closed_s in closed.items():
                explained_s = min(rest_s, closed_s * part.length_s / self.length_s)
                missing[absence] += explained_s
                rest_s -= explained_s
            missing[part.reason or self.otherwise] += rest_s
        return missing


def _with_unwritten(parts: Sequence[SlotCoverage], length_s: float) -> Iterator[SlotCoverage]:
    """The parts of a stretch; what nothing is written of belongs to the part without refusals."""
    unwritten_s = length_s - sum(part.length_s for part in parts)
    yield from (part for part in parts if part.reason)
    plain = next((part for part in parts if not part.reason), SlotCoverage(0.0, 0.0, None))
    yield replace(plain, length_s=plain.length_s + unwritten_s)


def cut_stretches(
    edges: Sequence[datetime], closures: Iterable[Closure], *, within: tuple[datetime, datetime], known_since: datetime
) -> Iterator[Stretch]:
    """The buckets inside a range, cut where coverage starts to be known and around each slot that a closure cuts."""
    cuts = {*edges, *within, known_since, *_slots_cut_by(closures)}
    for begin_at, end_at in pairwise(sorted(cut for cut in cuts if within[0] <= cut <= within[1])):
        otherwise = Absence.UNKNOWN if end_at <= known_since else Absence.OFFLINE
        yield Stretch(bisect_right(edges, begin_at) - 1, begin_at, end_at, otherwise)


def _slots_cut_by(closures: Iterable[Closure]) -> Iterator[datetime]:
    """Where those slots begin and end. A closure that cuts none begins and ends with a slot."""
    for closure in closures:
        for edge in (closure.from_at, closure.to_at):
            yield slot_of(edge)
            if not is_slot_edge(edge):
                yield slot_of(edge) + SLOT


def closed_between(from_at: datetime, to_at: datetime, closures: Sequence[Closure]) -> dict[Absence, float]:
    """How many seconds of a period were closed. Closures are in order and do not overlap."""
    first = bisect_right(closures, from_at, key=lambda closure: closure.to_at)
    if first == len(closures) or closures[first].from_at >= to_at:
        return {}
    closed = {Absence.NOT_CREATED: 0.0, Absence.CLOSED: 0.0, Absence.DISABLED: 0.0, Absence.QUOTA: 0.0}
    for closure in takewhile(lambda closure: closure.from_at < to_at, islice(closures, first, None)):
        closed[closure.absence] += (min(closure.to_at, to_at) - max(closure.from_at, from_at)).total_seconds()
    return closed


def compute_bucket_coverage(
    stretches: Iterable[tuple[Stretch, Sequence[SlotCoverage]]], closures: Sequence[Closure]
) -> BucketCoverage:
    """The coverage of the bucket with these stretches."""
    length_s = covered_s = 0.0
    missing: Missing = defaultdict(float)
    for stretch, parts in stretches:
        length_s += stretch.length_s
        covered_s += sum(part.covered_s for part in parts)
        for why, missing_s in stretch.explain(parts, closures).items():
            missing[why] += missing_s
    return BucketCoverage(length_s, covered_s, *_fold_reasons(missing))


def _fold_reasons(missing: Missing) -> tuple[dict[Absence, float], Reason | None]:
    """Absences in the order of their declaration, and the reason of most refusals."""
    refused = {why: missing_s for why, missing_s in missing.items() if isinstance(why, Reason)}
    seconds = {why: missing_s for why, missing_s in missing.items() if isinstance(why, Absence)}
    if refused:
        seconds[Absence.REFUSED] = sum(refused.values())
    told = sorted((why for why, missing_s in seconds.items() if missing_s > NOTHING_S), key=_ORDER.__getitem__)
    most = max(refused, key=lambda reason: refused[reason]) if Absence.REFUSED in told else None
    return {absence: seconds[absence] for absence in told}, most


def sum_coverage(coverages: Iterable[BucketCoverage]) -> BucketCoverage:
    """The coverage of several buckets together."""
    length_s = covered_s = 0.0
    missing: dict[Absence, float] = defaultdict(float)
    refused: dict[Reason, float] = defaultdict(float)
    for one in coverages:
        length_s += one.length_s
        covered_s += one.covered_s
        for absence, missing_s in one.missing.items():
            missing[absence] += missing_s
        if one.refused_for:
            refused[one.refused_for] += one.missing[Absence.REFUSED]
    most = max(refused, key=lambda reason: refused[reason], default=None)
    return BucketCoverage(length_s, covered_s, dict(missing), most)


async def read_coverage(pool: Pool, query: Query, buckets: Buckets, *, now: datetime) -> tuple[BucketCoverage, ...]:
    """The coverage of each bucket, inside the range and in the past."""
    past = past_buckets(query, buckets.edges_s, now)
    from_at, to_at = past.from_at, past.to_at
    values = {"stream_id": query.stream_id, "from_at": from_at, "to_at": to_at, "now": now}
    async with pool.connection() as connection:
        [known] = await _read(connection, "find_known_since", values)
        logged = [_closure_of(row) for row in await _read(connection, "read_closures", values)]
        closures = add_closed_time(logged, await read_closed_time(connection, query.stream_id, from_at, to_at))
        known_since = known["since"].astimezone(UTC)
        stretches = list(cut_stretches(buckets.edges, closures, within=(from_at, to_at), known_since=known_since))
        values |= _cut_values([*(stretch.from_at.timestamp() for stretch in stretches), to_at.timestamp()])
        rows: list[CoverageRow] = await _read_slots(connection, "read_coverage", values)
        blind: list[BlindRow] = await _read_slots(connection, "read_blindness", values)
    parts = _gather(rows, blind)
    found: dict[int, list[tuple[Stretch, list[SlotCoverage]]]] = defaultdict(list)
    for number, stretch in enumerate(stretches, start=1):
        found[stretch.bucket].append((stretch, parts[number]))
    return tuple(compute_bucket_coverage(found[bucket], closures) for bucket in range(len(buckets.keys)))


async def read_closed_time(
    connection: AsyncConnection[DictRow], stream_id: int, from_at: datetime, to_at: datetime
) -> list[Closure]:
    """When the stream was closed inside a range, by the opening hours that held then; in order."""
    values = {"stream_id": stream_id, "from_at": from_at, "to_at": to_at}
    closed: list[Closure] = []
    for row in await _read(connection, "read_opening_hours", values):
        hours = parse_hours(row["hours"])
        begin_at, end_at = row["from_at"].astimezone(UTC), row["to_at"].astimezone(UTC)
        spans = closed_spans(hours, zone_of(row["time_zone"]), begin_at, end_at) if hours else []
        closed += [Closure(Absence.CLOSED, span.from_at, span.to_at) for span in spans]
    return closed


def add_closed_time(logged: Sequence[Closure], closed: Sequence[Closure]) -> list[Closure]:
    """All in order, none overlapping: whatever else stood in the way of a closed stream was missed by nobody."""
    if not closed:
        return list(logged)
    absent = [one for one in logged if one.absence is Absence.NOT_CREATED]
    others = [one for one in logged if one.absence is not Absence.NOT_CREATED]
    kept = [*absent, *_without(closed, absent), *_without(others, closed)]
    return sorted(kept, key=lambda closure: closure.from_at)


def _without(closures: Iterable[Closure], others: Sequence[Closure]) -> Iterator[Closure]:
    """What of closures lies outside others, which are in order."""
    for closure in closures:
        begin_at = closure.from_at
        first = bisect_right(others, begin_at, key=lambda other: other.to_at)
        for other in islice(others, first, None):
            if other.from_at >= closure.to_at:
                break
            if begin_at < other.from_at:
                yield replace(closure, from_at=begin_at, to_at=other.from_at)
            begin_at = max(begin_at, other.to_at)
        if begin_at < closure.to_at:
            yield replace(closure, from_at=begin_at)


async def read_covered(pool: Pool, stream_id: int, past: PastBuckets) -> tuple[list[float], datetime | None]:
    """Seconds that were covered in each bucket, and since when all are known: never, if the stream is gone."""
    covered, known_since = [0.0] * (len(past.edges_s) - 1), None
    async with pool.connection() as connection:
        for bucket, share, (covered_s,) in await read_hour_sums(connection, WATCHED, stream_id, past):
            if bucket == BESIDE:
                known_since = datetime.fromtimestamp(covered_s or 0, UTC)
            else:
                covered[bucket] += share * covered_s
    return covered, known_since


async def read_watched(pool: Pool, query: Query, buckets: Buckets, *, now: datetime) -> list[Watched]:
    """How much of each bucket was covered. Quicker than `read_coverage`, except where not all is known any more.

    Neither the log of states nor refusals change how much was covered. Opening hours change of how much time.
    """
    past = past_buckets(query, buckets.edges_s, now)
    covered, known_since = await read_covered(pool, query.stream_id, past)
    if known_since is None or past.from_at < known_since:
        return [one.watched for one in await read_coverage(pool, query, buckets, now=now)]
    inside = pairwise(min(max(edge, past.from_at), past.to_at) for edge in buckets.edges)
    lengths_s = ((end_at - begin_at).total_seconds() for begin_at, end_at in inside)
    return [Watched(*pair) for pair in zip(covered, lengths_s, strict=True)]


def _cut_values(cuts_s: Sequence[float]) -> dict[str, Any]:
    return {
        "cuts_s": as_array(cuts_s),
        "cut_hours_s": as_array(units_cut(cuts_s, HOUR_S)),
        "cut_slots_s": as_array(units_cut(cuts_s, SLOT_S)),
        "told_by_state": TOLD_BY_STATE,
    }


async def _read_slots(connection: AsyncConnection[DictRow], name: str, values: dict[str, Any]) -> list[Any]:
    """What lies between each cut and the next, numbered from 1."""
    cursor = connection.cursor(row_factory=tuple_row, binary=True)
    await cursor.execute(_queries[name], values, prepare=True)
    return await cursor.fetchall()


def _gather(rows: list[CoverageRow], blind_rows: list[BlindRow]) -> dict[int, list[SlotCoverage]]:
    """The slots of each stretch, grouped by reason. Stretches are numbered from 1."""
    sums: dict[tuple[int, str | None], tuple[float, float]] = {}
    for number, reason, length_s, covered_s in rows:
        before = sums.get((number, reason), (0.0, 0.0))
        sums[number, reason] = (before[0] + length_s, before[1] + covered_s)
    blind: dict[tuple[int, str | None], dict[Absence, float]] = {}
    for number, reason, fault, blind_s in blind_rows:
        of_part = blind.setdefault((number, reason), defaultdict(float))
        of_part[_ABSENCES.get(fault, Absence.UNKNOWN)] += blind_s  # a gateway may be a version ahead
    parts: dict[int, list[SlotCoverage]] = defaultdict(list)
    for key in {**sums, **blind}:
        number, reason = key
        seconds = sums.get(key, (0.0, 0.0))
        parts[number].append(SlotCoverage(*seconds, reason_of(reason) if reason else None, blind.get(key, {})))
    return parts


async def _read(connection: AsyncConnection[DictRow], name: str, values: dict[str, Any]) -> list[DictRow]:
    return await (await connection.execute(_queries[name], values, prepare=True)).fetchall()


def _closure_of(row: DictRow) -> Closure:
    return Closure(Absence(row["state"]), row["from_at"].astimezone(UTC), row["to_at"].astimezone(UTC))
