"""People of whom any sum tells who is in it: seconds and balances are powers of two."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from onlooker.metrics import definitions
from onlooker_pipeline.visits.visit import Visit
from testkit.oracle import AGE_BANDS, CATEGORIES, EMOTIONS, Thresholds, age_band_of, category_of, emotion_of, gender_of

STILL_BITS = 9
LOOKING_BITS = 9
BALANCE_BITS = 6
CODES = STILL_BITS + LOOKING_BITS + BALANCE_BITS
LEAST_STILL_S = 3
LEAST_LOOKING_S = 2
HUNDREDTH = 100
APART = 1e-3
"""Means have six decimals, and are of few people."""
KNOWN = Thresholds(senior_age=50, gender_above=0.5, age_above=0.5)
METRICS = tuple(definitions.METRICS)
READ = ("age_read", "gender_read", "expression_read")
"""Shares of interested people, in `quality`."""

Bucket = Mapping[str, Mapping[str, Any]]


class Unexplained(Exception):
    """Numbers that are no sum of whole people."""


def dress(visit: Visit, code: int, chance: random.Random) -> Visit:
    """The visit of an interested person with this code, from when it begins on; all else of them is drawn."""
    still_s, looking_s, hundredths = LEAST_STILL_S, LEAST_LOOKING_S, 0
    if code < STILL_BITS:
        still_s += 1 << code
    elif code < STILL_BITS + LOOKING_BITS:
        looking_s += 1 << (code - STILL_BITS)
    else:
        hundredths = 1 << (code - STILL_BITS - LOOKING_BITS)
    begins_ms, length_ms = visit.began_ms, 1000 * max(still_s, looking_s) + chance.randrange(1000)
    share = 2 * hundredths / HUNDREDTH
    return msgspec.structs.replace(
        visit,
        present=[(begins_ms, begins_ms + length_ms)],
        still=[(begins_ms, begins_ms + 1000 * still_s)],
        looking=[(begins_ms, begins_ms + 1000 * looking_s)],
        age=float(chance.randrange(90)),
        age_confidence=0.9,
        gender=chance.choice(("female", "male")),
        gender_confidence=0.9,
        expression=(share, 0.0, 0.0, 1 - share, 0.0),
    )


@dataclass(frozen=True)
class Fingerprints:
    """Who has which code."""

    visits: Mapping[int, Visit]
    """By code. Revisions of one visit have codes of their own."""
    persons: Sequence[int]
    """By code, the number of the person."""

    def read(self, bucket: Bucket) -> int:
        """The codes of all who are in a bucket's sums, as a mask. Raises Unexplained."""
        told: int = bucket["gender"]["female"] + bucket["gender"]["male"]
        mask = self._read_codes(bucket, told)
        self._require_parts(bucket, mask)
        _require_shares(bucket, told)
        return mask

    def _read_codes(self, bucket: Bucket, told: int) -> int:
        still = _whole(bucket["stop_time"]["value"], told) - LEAST_STILL_S * told
        looking = _whole(bucket["attention_time"]["value"], told) - LEAST_LOOKING_S * told
        balance = _whole(bucket["satisfaction"]["value"], told, unit=HUNDREDTH)
        for bits, total in ((STILL_BITS, still), (LOOKING_BITS, looking), (BALANCE_BITS, balance)):
            if not 0 <= total < 1 << bits:
                raise Unexplained
        mask = still | looking << STILL_BITS | balance << STILL_BITS + LOOKING_BITS
        codes = codes_of(mask)
        if len(codes) != told or any(code not in self.visits for code in codes):
            raise Unexplained
        return mask

    def read_cell(self, cell: Bucket) -> int:
        """The codes of all who are in a cell of a week, as a mask. Raises Unexplained."""
        told: int = cell["interested"]["value"]
        mask = self._read_codes(cell, told)
        people = [self.visits[code] for code in codes_of(mask)]
        parts = {
            "gender": [gender_of(one, KNOWN) for one in people],
            "age": [age_band_of(one, KNOWN) for one in people],
        }
        for name, joint in cell.get("by", {}).items():
            if not set(parts[name]) <= set(joint.split("|")):
                raise Unexplained
        emotions = [emotion_of(one) for one in people]
        if any(cell["emotion"][emotion] != emotions.count(emotion) for emotion in EMOTIONS):
            raise Unexplained
        return mask

    def _require_parts(self, bucket: Bucket, mask: int) -> None:
        people = [self.visits[code] for code in codes_of(mask)]
        for name, parts, part_of in (
            ("gender", ("female", "male"), lambda one: gender_of(one, KNOWN)),
            ("category", CATEGORIES, lambda one: category_of(one, KNOWN)),
            ("age", tuple(AGE_BANDS), lambda one: age_band_of(one, KNOWN)),
            ("emotion", EMOTIONS, emotion_of),
        ):
            found = [part_of(one) for one in people]
            if any(bucket[name][part] != found.count(part) for part in parts):
                raise Unexplained


def _require_shares(bucket: Bucket, told: int) -> None:
    """All who are told of can be read: how well people could be read tells nothing else."""
    counted = bucket["interested"]["value"]
    for name in READ if "quality" in bucket else ():
        share = bucket["quality"][name]
        if (share is None) != (not counted) or (counted and abs(counted * share - told) > APART):
            raise Unexplained


def _whole(mean: float | None, told: int, *, unit: int = 1) -> int:
    """The sum that a mean is of; there is none of nobody."""
    if (mean is None) != (told == 0):
        raise Unexplained
    total = unit * told * (mean or 0.0)
    if abs(total - round(total)) > APART * unit:
        raise Unexplained
    return round(total)


def codes_of(mask: int) -> list[int]:
    return [code for code in range(CODES) if mask >> code & 1]
