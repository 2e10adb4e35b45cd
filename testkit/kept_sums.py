"""What is kept of people without their visits is rounded: seconds add up to whole ones, balances to hundredths."""

from collections.abc import Sequence
from dataclasses import replace
from struct import pack, unpack

from onlooker_pipeline.visits.visit import Visit
from testkit.oracle import SECOND_US, Judged, Rounding

BILLION = 10**9


def rounded(judged: Sequence[Judged]) -> list[Judged]:
    """People who are kept as one sum, such as those of a slot. What was rounded before is rounded as it stands."""
    interested = [one for one in judged if one.interested]
    read = [one for one in interested if one.visit.expression]
    rounding = Rounding(
        still_us=_rounding_of([one.still_us + one.rounding.still_us for one in interested], SECOND_US),
        looking_us=_rounding_of([one.looking_us + one.rounding.looking_us for one in interested], SECOND_US),
        balance=_rounding_of(
            [_billionths_of(one.visit) + BILLION * one.rounding.balance for one in read], BILLION // 100
        )
        / BILLION,
    )
    return [replace(one, rounding=_both(one.rounding, rounding)) for one in judged]


def _both(first: Rounding, then: Rounding) -> Rounding:
    return Rounding(first.still_us + then.still_us, first.looking_us + then.looking_us, first.balance + then.balance)


def _rounding_of(parts: list[float], unit: int) -> float:
    """What rounding their sum, a whole number, adds to each of them."""
    total = round(sum(parts))
    return ((total + unit // 2) // unit * unit - total) / len(parts) if parts else 0.0


def _billionths_of(person: Visit) -> int:
    """As the database adds it up, from shares as precise as it stores them: otherwise a half rounds the wrong way."""
    assert person.expression
    happiness, anger, sadness = (_as_kept(share) for share in (person.expression[1], *person.expression[3:]))
    return round(max(0, min(2, 1 + happiness - anger - sadness)) / 2 * BILLION)


def _as_kept(share: float) -> float:
    kept: float = unpack("f", pack("f", share))[0]
    return kept
