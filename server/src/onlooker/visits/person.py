"""One person's sightings, frame after frame, to present, still and looking intervals. Pure."""

import msgspec

from onlooker.compute.sightings import Estimate, Expression, PersonId, Sighting
from onlooker.visits.intervals import add_interval, intervals_of, length_of
from onlooker.visits.visit import Visit

HOLDS_MS = 1_000
"""A frame's state holds until the session's next frame, and no longer than this."""
BRIDGED_MS = 3_000
"""A gap between two frames that is no longer takes the state that stands on both its sides."""
STILL_APART_MS = 1_000
"""Still intervals that are less apart become one."""


class Look(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What one frame says of a person who is in it."""

    still: bool
    looking: bool
    expression: Expression | None = None


class Person(msgspec.Struct, array_like=True, gc=False):
    """What is folded of a person so far. Times are milliseconds since `origin_ms`."""

    id: PersonId
    origin_ms: int
    """Unix time of the first frame that had this person."""
    estimate: Estimate
    present: list[int]
    still: list[int]
    looking: list[int]
    away: list[int]
    """Time since the person was last seen, present only if they come back."""
    unsettled: list[int]
    """For each unsettled frame, 0 or a packed Look."""
    unsettled_expressions: list[Expression]
    last: Look | None = None
    """Of the last settled frame that had them."""
    last_ms: int = 0
    here: bool = False
    """Whether that was the last settled frame of all."""
    left: bool = False
    expression: Expression | None = None
    expression_ms: int = 0
    revision: int = 0
    """How often it was published."""
    published_ms: int = 0
    began_ms: int = 0
    """Since it was first published: the visit's start, whatever becomes of the frames that told it."""


def new_person(person_id: PersonId, *, at_ms: int, estimate: Estimate) -> Person:
    return Person(person_id, at_ms, estimate, [], [], [], [], [], [])


def copy_person(person: Person) -> Person:
    return msgspec.structs.replace(
        person,
        present=person.present.copy(),
        still=person.still.copy(),
        looking=person.looking.copy(),
        away=person.away.copy(),
    )


def pass_frame(person: Person, before_ms: int | None, at_ms: int, look: Look | None) -> None:
    """Go on from the frame before to this one; `look` is None where the person is not in it."""
    if person.last is not None and before_ms is not None:
        _spend(person, before_ms - person.origin_ms, at_ms - person.origin_ms, look)
    if look is not None:
        person.last, person.last_ms = look, at_ms - person.origin_ms
    person.here = look is not None


def _spend(person: Person, start: int, end: int, look: Look | None) -> None:
    """The time between two frames; nobody knows before the second what stands on both sides."""
    held = min(end, start + HOLDS_MS)
    bridged = end if end - start <= BRIDGED_MS else held
    if person.here:
        _hold(person, start, held=held, bridged=bridged, look=look)
    else:
        add_interval(person.away, start, bridged)
    if look is None or not person.away:
        return
    assert person.last
    still_meanwhile = person.last.still and look.still
    for away_start, away_end in zip(person.away[::2], person.away[1::2], strict=True):
        add_interval(person.present, away_start, away_end)
        if still_meanwhile:
            add_interval(person.still, away_start, away_end, apart=STILL_APART_MS)
    person.away = []


def _hold(person: Person, start: int, *, held: int, bridged: int, look: Look | None) -> None:
    """The time after a frame that had the person."""
    last = person.last
    assert last
    add_interval(person.present, start, bridged if look else held)
    if last.still:
        still_end = bridged if look and look.still else held
        add_interval(person.still, start, still_end, apart=STILL_APART_MS)
    if last.looking:
        looking_end = bridged if look and look.looking else held
        add_interval(person.looking, start, looking_end)
        _weigh(person, last.expression, looking_end - start)
    if look is None:
        add_interval(person.away, held, bridged)


def _weigh(person: Person, expression: Expression | None, duration_ms: int) -> None:
    if expression is None or duration_ms <= 0:
        return
    person.expression_ms += duration_ms
    share = duration_ms / person.expression_ms
    a, b, c, d, e = (
        old + (new - old) * share for old, new in zip(person.expression or expression, expression, strict=True)
    )
    person.expression = a, b, c, d, e


def end_frames(person: Person, last_ms: int, gap_ms: int) -> None:
    """The last frame of all holds as long as the gap before it."""
    if person.here:
        start = last_ms - person.origin_ms
        end = start + min(gap_ms, HOLDS_MS)
        _hold(person, start, held=end, bridged=end, look=None)


def present_ms(person: Person) -> int:
    return length_of(person.present)


def pack_unsettled(person: Person, sightings: list[Sighting | None]) -> None:
    """Remember how the unsettled frames look now; an expression stands for many frames and is kept once."""
    person.unsettled_expressions = list(dict.fromkeys(one.expression for one in sightings if one and one.expression))
    numbers = {expression: number for number, expression in enumerate(person.unsettled_expressions, start=1)}
    person.unsettled = [
        (1 | one.still << 1 | one.looking << 2 | (numbers[one.expression] if one.expression else 0) << 3) if one else 0
        for one in sightings
    ]


def unpack_unsettled(person: Person) -> list[Look | None]:
    expressions = (None, *person.unsettled_expressions)
    return [Look(bool(code & 2), bool(code & 4), expressions[code >> 3]) if code else None for code in person.unsettled]


def visit_of(person: Person, *, stream_id: int, session: str, ended: bool) -> Visit:
    """The visit as it stands, under the person's revision."""
    began, estimate = person.began_ms, person.estimate
    present, still, looking = (
        intervals_of(edges, origin=person.origin_ms, not_before=began)
        for edges in (person.present, person.still, person.looking)
    )
    start = person.origin_ms + began
    if not present or present[0][0] > start:
        present.insert(0, (start, start + 1))  # the frames that told the start were taken back
    return Visit(
        id=person.id,
        stream_id=stream_id,
        session=session,
        revision=person.revision,
        ended=ended,
        present=present,
        still=still,
        looking=looking,
        age=estimate.age,
        age_confidence=estimate.age_confidence,
        gender=estimate.gender,
        gender_confidence=estimate.gender_confidence,
        expression=person.expression if estimate.reads_expression else None,
        confidence=estimate.confidence,
    )
