"""One person's sightings, frame by frame, folded into present, still and looking intervals. Pure."""

import msgspec

from onlooker_pipeline.expressions import Expression
from onlooker_pipeline.visits.intervals import add_interval, intervals_of, length_of
from onlooker_pipeline.visits.sightings import Estimate, PersonId, Sighting
from onlooker_pipeline.visits.visit import SHORTEST_LOOK_S, SHORTEST_STOP_S, Visit

HOLDS_MS = 1_000
"""A frame's state holds until the session's next frame, but no longer than this."""
BRIDGED_MS = 3_000
"""A gap between two frames up to this length takes the state that both sides share."""
STILL_APART_MS = 1_000
"""Still intervals that are closer than this become one."""


class FrameVerdict(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What one frame says about a person in it."""

    still: bool
    looking: bool
    expression: Expression | None = None


class Visitor(msgspec.Struct, array_like=True, gc=False):
    """A person's sightings folded so far. Times are milliseconds since `origin_ms`."""

    id: PersonId
    origin_ms: int
    """Unix time of the first frame with this person."""
    estimate: Estimate
    present: list[int]
    still: list[int]
    looking: list[int]
    away: list[int]
    """Time since the person was last seen; becomes present if they come back."""
    unsettled: list[int]
    """For each unsettled frame, 0 or a packed FrameVerdict."""
    unsettled_expressions: list[Expression]
    last: FrameVerdict | None = None
    """Of the last settled frame with this person."""
    last_ms: int = 0
    here: bool = False
    """Whether that was the session's last settled frame."""
    left: bool = False
    expression: Expression | None = None
    expression_ms: int = 0
    revision: int = 0
    """How often it was published."""
    published_ms: int = 0
    began_ms: int = 0
    """The visit's start, fixed when it is first published, even if the frames it came from are revoked."""
    interested: bool = False
    """Whether a published visit has said so."""


def new_visitor(person_id: PersonId, *, at_ms: int, estimate: Estimate) -> Visitor:
    return Visitor(person_id, at_ms, estimate, [], [], [], [], [], [])


def copy_visitor(visitor: Visitor) -> Visitor:
    return msgspec.structs.replace(
        visitor,
        present=visitor.present.copy(),
        still=visitor.still.copy(),
        looking=visitor.looking.copy(),
        away=visitor.away.copy(),
    )


def add_frame(visitor: Visitor, before_ms: int | None, at_ms: int, verdict: FrameVerdict | None) -> None:
    """Advance from the previous frame to this one; `verdict` is None if the person is not in it."""
    if visitor.last is not None and before_ms is not None:
        _spend(visitor, before_ms - visitor.origin_ms, at_ms - visitor.origin_ms, verdict)
    if verdict is not None:
        visitor.last, visitor.last_ms = verdict, at_ms - visitor.origin_ms
    visitor.here = verdict is not None


def _spend(visitor: Visitor, start: int, end: int, verdict: FrameVerdict | None) -> None:
    """Account for the time between two frames, now that both are known."""
    held = min(end, start + HOLDS_MS)
    bridged = end if end - start <= BRIDGED_MS else held
    if visitor.here:
        _hold(visitor, start, held=held, bridged=bridged, verdict=verdict)
    else:
        add_interval(visitor.away, start, bridged)
    if verdict is None or not visitor.away:
        return
    assert visitor.last
    still_meanwhile = visitor.last.still and verdict.still
    for away_start, away_end in zip(visitor.away[::2], visitor.away[1::2], strict=True):
        add_interval(visitor.present, away_start, away_end)
        if still_meanwhile:
            add_interval(visitor.still, away_start, away_end, apart=STILL_APART_MS)
    visitor.away = []


def _hold(visitor: Visitor, start: int, *, held: int, bridged: int, verdict: FrameVerdict | None) -> None:
    """Account for the time after a frame with the person."""
    last = visitor.last
    assert last
    add_interval(visitor.present, start, bridged if verdict else held)
    if last.still:
        still_end = bridged if verdict and verdict.still else held
        add_interval(visitor.still, start, still_end, apart=STILL_APART_MS)
    if last.looking:
        looking_end = bridged if verdict and verdict.looking else held
        add_interval(visitor.looking, start, looking_end)
        _weigh(visitor, last.expression, looking_end - start)
    if verdict is None:
        add_interval(visitor.away, held, bridged)


def _weigh(visitor: Visitor, expression: Expression | None, duration_ms: int) -> None:
    if expression is None or duration_ms <= 0:
        return
    visitor.expression_ms += duration_ms
    share = duration_ms / visitor.expression_ms
    a, b, c, d, e = (
        old + (new - old) * share for old, new in zip(visitor.expression or expression, expression, strict=True)
    )
    visitor.expression = a, b, c, d, e


def add_last_frame(visitor: Visitor, last_ms: int, gap_ms: int) -> None:
    """The session's last frame holds as long as the gap before it."""
    if visitor.here:
        start = last_ms - visitor.origin_ms
        end = start + min(gap_ms, HOLDS_MS)
        _hold(visitor, start, held=end, bridged=end, verdict=None)


def present_ms(visitor: Visitor) -> int:
    return length_of(visitor.present)


def is_interested(visitor: Visitor, *, ahead_ms: int = 0) -> bool:
    """Whether the person counts as interested, or could with so many milliseconds more of standing and looking."""
    stops = zip(visitor.still[::2], visitor.still[1::2], strict=True)
    longest_ms = max((end - start for start, end in stops), default=0)
    return (
        longest_ms + ahead_ms >= 1000 * SHORTEST_STOP_S
        and length_of(visitor.looking) + ahead_ms > 1000 * SHORTEST_LOOK_S
    )


def pack_unsettled(visitor: Visitor, sightings: list[Sighting | None]) -> None:
    """Store the current verdicts of the unsettled frames; an expression that several frames share is stored once."""
    visitor.unsettled_expressions = list(dict.fromkeys(one.expression for one in sightings if one and one.expression))
    numbers = {expression: number for number, expression in enumerate(visitor.unsettled_expressions, start=1)}
    visitor.unsettled = [
        (1 | one.still << 1 | one.looking << 2 | (numbers[one.expression] if one.expression else 0) << 3) if one else 0
        for one in sightings
    ]


def unpack_unsettled(visitor: Visitor) -> list[FrameVerdict | None]:
    expressions = (None, *visitor.unsettled_expressions)
    return [
        FrameVerdict(bool(code & 2), bool(code & 4), expressions[code >> 3]) if code else None
        for code in visitor.unsettled
    ]


def visit_of(visitor: Visitor, *, stream_id: int, session: str, ended: bool) -> Visit:
    """The visit as it stands, with the visitor's revision."""
    began, estimate = visitor.began_ms, visitor.estimate
    present, still, looking = (
        intervals_of(edges, origin=visitor.origin_ms, not_before=began)
        for edges in (visitor.present, visitor.still, visitor.looking)
    )
    start = visitor.origin_ms + began
    if not present or present[0][0] > start:
        present.insert(0, (start, start + 1))  # the frames that gave the start were revoked
    return Visit(
        id=visitor.id,
        stream_id=stream_id,
        session=session,
        revision=visitor.revision,
        ended=ended,
        present=present,
        still=still,
        looking=looking,
        age=estimate.age,
        age_confidence=estimate.age_confidence,
        gender=estimate.gender,
        gender_confidence=estimate.gender_confidence,
        expression=visitor.expression if estimate.reads_expression else None,
        confidence=estimate.confidence,
    )
