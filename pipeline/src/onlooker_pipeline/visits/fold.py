"""From the sightings of a session to visits. Pure: no clock, no database."""

from collections.abc import Iterable, Sequence

import msgspec

from onlooker_pipeline.visits.intervals import length_of
from onlooker_pipeline.visits.sightings import Estimate, PersonId, Seen, SeenFrame, Sighting
from onlooker_pipeline.visits.visit import Visit, encode_visit
from onlooker_pipeline.visits.visitor import (
    HOLDS_MS,
    STILL_APART_MS,
    FrameVerdict,
    Visitor,
    add_frame,
    add_last_frame,
    copy_visitor,
    is_interested,
    new_visitor,
    pack_unsettled,
    present_ms,
    unpack_unsettled,
    visit_of,
)

SHORTEST_VISIT_MS = 1_000
PUBLISHED_EVERY_MS = 5_000


class Folded(msgspec.Struct, array_like=True, gc=False):
    """The people of a session who have not left, folded so far; small, because it is written with every call."""

    stream_id: int
    session: str
    last_ms: int | None = None
    """Unix time of the last settled frame."""
    gap_ms: int = 0
    """Between that frame and the one before it."""
    unsettled_ms: list[int] = msgspec.field(default_factory=list)
    """Unix times of the later frames, whose verdicts may still change."""
    people: list[Visitor] = msgspec.field(default_factory=list)


encode_folded = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Folded).decode


def decode_folded(value: bytes | None) -> Folded | None:
    """None if nothing was folded, or another release wrote it differently."""
    if value is None:
        return None
    try:
        return _decode(value)
    except msgspec.MsgspecError:
        return None


def fold_sightings(folded: Folded, seen: Seen) -> tuple[Folded, list[Visit]]:
    """Fold what one call adds; returns the new state and the visits to publish now."""
    frames = [*seen.settled, *seen.unsettled]
    closed: list[Visit] = []
    if frames and _is_discontinuous(folded, frames[0].at_ms):
        closed = close_visits(folded)
        folded = Folded(folded.stream_id, folded.session)
    after = _with_newcomers(folded, seen, frames)
    if frames:
        _fold_settled(after, seen.settled)
        _note_unsettled(after, seen.unsettled)
    for person in after.people:
        person.estimate = seen.estimates.get(person.id, person.estimate)
        person.left = person.left or person.id in seen.ended
    return after, closed + _publish(after)


def close_visits(folded: Folded) -> list[Visit]:
    """The last visits of a session that is over: everybody has left."""
    finished = (_finish(folded, person) for person in folded.people)
    return [visit for visit in finished if visit]


def show_visits(folded: Folded) -> list[Visit]:
    """The published visits as they stand, under the number of their last revision: the next one still replaces them."""
    known = (_with_unsettled(folded, person) for person in folded.people if person.revision)
    return [visit_of(one, stream_id=folded.stream_id, session=folded.session, ended=False) for one in known]


def _is_discontinuous(folded: Folded, first_ms: int) -> bool:
    """Whether these frames do not continue the known ones: the clock was set back, or the service lost its state."""
    if folded.unsettled_ms:
        return first_ms != folded.unsettled_ms[0]
    return folded.last_ms is not None and first_ms <= folded.last_ms


def _with_newcomers(folded: Folded, seen: Seen, frames: list[SeenFrame]) -> Folded:
    """A copy that includes the people who are new in these frames."""
    people = {person.id: copy_visitor(person) for person in folded.people}
    for frame in frames:
        for sighting in frame.sightings:
            if sighting.person not in people:
                estimate = seen.estimates.get(sighting.person, Estimate(0.0))
                people[sighting.person] = new_visitor(sighting.person, at_ms=frame.at_ms, estimate=estimate)
    return msgspec.structs.replace(folded, people=list(people.values()))


def _by_person(frame: SeenFrame) -> dict[PersonId, Sighting]:
    return {sighting.person: sighting for sighting in frame.sightings}


def _fold_settled(folded: Folded, frames: Iterable[SeenFrame]) -> None:
    for frame in frames:
        sightings = _by_person(frame)
        for person in folded.people:
            one = sightings.get(person.id)
            verdict = FrameVerdict(one.still, one.looking, one.expression) if one else None
            add_frame(person, folded.last_ms, frame.at_ms, verdict)
        folded.gap_ms = 0 if folded.last_ms is None else frame.at_ms - folded.last_ms
        folded.last_ms = frame.at_ms


def _note_unsettled(folded: Folded, frames: list[SeenFrame]) -> None:
    """Remember the unsettled frames; drop people whose only frames were revoked."""
    folded.unsettled_ms = [frame.at_ms for frame in frames]
    sightings = [_by_person(frame) for frame in frames]
    for person in folded.people:
        pack_unsettled(person, [one.get(person.id) for one in sightings])
    folded.people = [one for one in folded.people if one.last or any(one.unsettled) or one.revision]


def _with_unsettled(folded: Folded, visitor: Visitor) -> Visitor:
    """The person with the unsettled frames folded in, as if the session ended here."""
    visitor = copy_visitor(visitor)
    last_ms, gap_ms = folded.last_ms, folded.gap_ms
    for at_ms, verdict in zip(folded.unsettled_ms, unpack_unsettled(visitor), strict=False):
        add_frame(visitor, last_ms, at_ms, verdict)
        gap_ms = 0 if last_ms is None else at_ms - last_ms
        last_ms = at_ms
    if last_ms is not None:
        add_last_frame(visitor, last_ms, gap_ms)
    return visitor


def _publish(folded: Folded) -> list[Visit]:
    """The visits that are due; drops the people who have left."""
    visits: list[Visit | None] = []
    remaining: list[Visitor] = []
    for person in folded.people:
        if person.left and not _may_still_change(person):
            visits.append(_finish(folded, person))
            continue
        remaining.append(person)
        if _is_due(folded, person):
            visits.append(_write(folded, person))
    folded.people = remaining
    return [visit for visit in visits if visit]


def _may_still_change(visitor: Visitor) -> bool:
    """Whether later frames may still change the visit of somebody who has left."""
    return any(visitor.unsettled) or (visitor.here and not visitor.unsettled)


def _is_due(folded: Folded, visitor: Visitor) -> bool:
    if not visitor.revision:
        return True
    if _is_first_interested(folded, visitor):
        return True
    now_ms = _now_ms(folded) - visitor.origin_ms
    return now_ms - visitor.published_ms >= PUBLISHED_EVERY_MS and _seen_ms(folded, visitor) > visitor.published_ms


def _is_first_interested(folded: Folded, visitor: Visitor) -> bool:
    """The unsettled frames are folded in only where they can make the difference: that is most of the work."""
    if visitor.interested:
        return False
    settled_ms = folded.unsettled_ms[0] if folded.last_ms is None else folded.last_ms
    ahead_ms = _now_ms(folded) - settled_ms + HOLDS_MS + STILL_APART_MS + length_of(visitor.away)
    return is_interested(visitor, ahead_ms=ahead_ms) and is_interested(_with_unsettled(folded, visitor))


def _now_ms(folded: Folded) -> int:
    return folded.unsettled_ms[-1] if folded.unsettled_ms else folded.last_ms or 0


def _seen_ms(folded: Folded, visitor: Visitor) -> int:
    """When the person was last seen, in milliseconds since their origin."""
    unsettled = zip(folded.unsettled_ms, visitor.unsettled, strict=False)
    return max((at_ms - visitor.origin_ms for at_ms, code in unsettled if code), default=visitor.last_ms)


def _finish(folded: Folded, visitor: Visitor) -> Visit | None:
    return _write(folded, copy_visitor(visitor), ended=True)


def _write(folded: Folded, visitor: Visitor, *, ended: bool = False) -> Visit | None:
    """The next revision; None if the person was not there for long enough to count."""
    current = _with_unsettled(folded, visitor)
    if not visitor.revision:
        if present_ms(current) < SHORTEST_VISIT_MS:
            return None
        visitor.began_ms = current.present[0]
    visitor.revision += 1
    visitor.published_ms = _now_ms(folded) - visitor.origin_ms
    visitor.interested = visitor.interested or is_interested(current)
    current.revision, current.began_ms = visitor.revision, visitor.began_ms
    return visit_of(current, stream_id=folded.stream_id, session=folded.session, ended=ended)


def fold_call(
    remembered: bytes | None, seen: Sequence[Seen], *, stream_id: int, session: str
) -> tuple[bytes | None, list[bytes]]:
    """What to remember of a session after a call, and the encoded visits to publish."""
    if remembered is None and not any(one.settled or one.unsettled for one in seen):
        return None, []
    folded = decode_folded(remembered) or Folded(stream_id, session)
    newest: dict[bytes, Visit] = {}
    for one in seen:
        folded, visits = fold_sightings(folded, one)
        newest |= {visit.id: visit for visit in visits}
    return encode_folded(folded), [encode_visit(visit) for visit in newest.values()]


def close_session(remembered: bytes | None) -> list[bytes]:
    """The encoded last visits of a session that is over."""
    folded = decode_folded(remembered)
    return [encode_visit(visit) for visit in close_visits(folded)] if folded else []
