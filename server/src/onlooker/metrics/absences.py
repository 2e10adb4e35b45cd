"""Why a time was not looked at, reckoned from what was computed, what was refused and the log of states. Pure."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import islice, pairwise, takewhile

from onlooker.metrics.slots import SLOT, is_slot_edge, slot_of
from onlooker.streams.coverage import Reason

NOTHING_S = 1e-6
"""Less than this is what sums of fractions leave over."""


class Absence(StrEnum):
    """Why a time was not looked at. A closed list."""

    DISABLED = "disabled"
    """The stream was switched off."""
    QUOTA = "quota"
    """It had used up its month."""
    REFUSED = "refused"
    """Frames came, and were not computed."""
    NOT_CREATED = "not_created"
    """The stream did not exist yet."""
    OFFLINE = "offline"
    """Nothing came: the camera was off."""
    UNKNOWN = "unknown"
    """Longer ago than the stream keeps its coverage."""


Missing = dict[Absence | Reason, float]
"""Seconds by why they are missing; refused ones by their reason."""


@dataclass(frozen=True)
class BucketCoverage:
    """A bucket, as far as it lies inside the range and in the past: each second of it is covered or missing."""

    length_s: float
    covered_s: float
    missing: dict[Absence, float]
    """Only what there is of it."""
    refused_for: Reason | None
    """Why most of what was refused was refused."""


@dataclass(frozen=True)
class Closure:
    """A time in which the stream could not compute: it did not exist yet, was disabled, or had used up its month."""

    absence: Absence
    from_at: datetime
    to_at: datetime


@dataclass(frozen=True)
class Part:
    """Slots of a stretch in which frames were computed, or refused, mostly for this reason."""

    length_s: float
    covered_s: float
    reason: Reason | None


@dataclass(frozen=True)
class Stretch:
    """A time inside a bucket: slots that are closed, slots that are open, or a single one that is both in turn."""

    bucket: int
    from_at: datetime
    to_at: datetime
    otherwise: Absence
    """Why a second is missing of which nothing is written down."""

    @property
    def length_s(self) -> float:
        return (self.to_at - self.from_at).total_seconds()

    def explain(self, parts: Sequence[Part], closures: Sequence[Closure]) -> Missing:
        """All that is missing: first because it was closed, then because it was refused."""
        missing: Missing = defaultdict(float)
        closed = closed_between(self.from_at, self.to_at, closures)
        unwritten_s = self.length_s - sum(part.length_s for part in parts)
        for part in (*parts, Part(unwritten_s, 0.0, None)):
            rest_s = part.length_s - part.covered_s
            for absence, closed_s in closed.items():
                explained_s = min(rest_s, closed_s * part.length_s / self.length_s)
                missing[absence] += explained_s
                rest_s -= explained_s
            missing[part.reason or self.otherwise] += rest_s
        return missing


def cut_stretches(
    edges: Sequence[datetime], closures: Iterable[Closure], *, within: tuple[datetime, datetime], known_since: datetime
) -> Iterator[Stretch]:
    """The buckets inside a range, cut where coverage begins to be known and around each slot that a closure cuts."""
    cuts = {*edges, *within, known_since, *_slots_cut_by(closures)}
    for begin_at, end_at in pairwise(sorted(cut for cut in cuts if within[0] <= cut <= within[1])):
        otherwise = Absence.UNKNOWN if end_at <= known_since else Absence.OFFLINE
        yield Stretch(bisect_right(edges, begin_at) - 1, begin_at, end_at, otherwise)


def _slots_cut_by(closures: Iterable[Closure]) -> Iterator[datetime]:
    """Where they begin and end; a closure that is not cut begins and ends with a slot."""
    for closure in closures:
        for edge in (closure.from_at, closure.to_at):
            yield slot_of(edge)
            if not is_slot_edge(edge):
                yield slot_of(edge) + SLOT


def closed_between(from_at: datetime, to_at: datetime, closures: Sequence[Closure]) -> dict[Absence, float]:
    """How many seconds of a time were closed. Closures are in order, and none lies in another."""
    closed = {Absence.NOT_CREATED: 0.0, Absence.DISABLED: 0.0, Absence.QUOTA: 0.0}
    first = bisect_right(closures, from_at, key=lambda closure: closure.to_at)
    for closure in takewhile(lambda closure: closure.from_at < to_at, islice(closures, first, None)):
        closed[closure.absence] += (min(closure.to_at, to_at) - max(closure.from_at, from_at)).total_seconds()
    return closed


def reckon(stretches: Iterable[tuple[Stretch, Sequence[Part]]], closures: Sequence[Closure]) -> BucketCoverage:
    """The coverage of the bucket that has these stretches."""
    length_s = covered_s = 0.0
    missing: Missing = defaultdict(float)
    for stretch, parts in stretches:
        length_s += stretch.length_s
        covered_s += sum(part.covered_s for part in parts)
        for why, missing_s in stretch.explain(parts, closures).items():
            missing[why] += missing_s
    return BucketCoverage(length_s, covered_s, *_fold_reasons(missing))


def _fold_reasons(missing: Missing) -> tuple[dict[Absence, float], Reason | None]:
    refused = {why: missing_s for why, missing_s in missing.items() if isinstance(why, Reason)}
    refused_s = sum(refused.values())
    seconds = {absence: missing.get(absence, 0.0) for absence in Absence} | {Absence.REFUSED: refused_s}
    most = max(refused, key=lambda reason: refused[reason]) if refused_s > NOTHING_S else None
    return {absence: missing_s for absence, missing_s in seconds.items() if missing_s > NOTHING_S}, most


def add_up(coverages: Iterable[BucketCoverage]) -> BucketCoverage:
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
