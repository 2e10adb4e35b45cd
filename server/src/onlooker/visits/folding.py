"""From what a session sees of people to their visits. Pure: no clock, no database."""

from collections.abc import Iterable

import msgspec

from onlooker.compute.sightings import Estimate, PersonId, Seen, SeenFrame, Sighting
from onlooker.visits.person import (
    Look,
    Person,
    copy_person,
    end_frames,
    new_person,
    pack_unsettled,
    pass_frame,
    present_ms,
    unpack_unsettled,
    visit_of,
)
from onlooker.visits.visit import Visit

SHORTEST_VISIT_MS = 1_000
PUBLISHED_EVERY_MS = 5_000


class Folded(msgspec.Struct, array_like=True, gc=False):
    """A session's people who have not left, folded so far; written with every call, so it is small."""

    stream_id: int
    session: str
    last_ms: int | None = None
    """Unix time of the last settled frame."""
    gap_ms: int = 0
    """Between that and the one before it."""
    unsettled_ms: list[int] = msgspec.field(default_factory=list)
    """Unix times of the frames after it, whose verdicts may still change."""
    people: list[Person] = msgspec.field(default_factory=list)


encode_folded = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Folded).decode


def decode_folded(value: bytes | None) -> Folded | None:
    """None where nothing was folded, or another release wrote it differently."""
    if value is None:
        return None
    try:
        return _decode(value)
    except msgspec.MsgspecError:
        return None


def fold(folded: Folded, seen: Seen) -> tuple[Folded, list[Visit]]:
    """What is folded after a call, and the visits that are to be published now."""
    frames = [*seen.settled, *seen.unsettled]
    closed: list[Visit] = []
    if frames and _begins_anew(folded, frames[0].at_ms):
        closed = close_all(folded)
        folded = Folded(folded.stream_id, folded.session)
    following = _follow(folded, seen, frames)
    if frames:
        _settle(following, seen.settled)
        _look_ahead(following, seen.unsettled)
    for person in following.people:
        person.estimate = seen.estimates.get(person.id, person.estimate)
        person.left = person.left or person.id in seen.ended
    return following, closed + _publish(following)


def close_all(folded: Folded) -> list[Visit]:
    """The last visits of a session that is over: everybody has left."""
    finished = (_finish(folded, person) for person in folded.people)
    return [visit for visit in finished if visit]


def _begins_anew(folded: Folded, first_ms: int) -> bool:
    """Whether these frames do not follow the known ones: the clock was set back, or the service forgot."""
    if folded.unsettled_ms:
        return first_ms != folded.unsettled_ms[0]
    return folded.last_ms is not None and first_ms <= folded.last_ms


def _follow(folded: Folded, seen: Seen, frames: list[SeenFrame]) -> Folded:
    """A copy that has the newcomers, too."""
    people = {person.id: copy_person(person) for person in folded.people}
    for frame in frames:
        for sighting in frame.sightings:
            if sighting.person not in people:
                estimate = seen.estimates.get(sighting.person, Estimate(0.0))
                people[sighting.person] = new_person(sighting.person, at_ms=frame.at_ms, estimate=estimate)
    return msgspec.structs.replace(folded, people=list(people.values()))


def _by_person(frame: SeenFrame) -> dict[PersonId, Sighting]:
    return {sighting.person: sighting for sighting in frame.sightings}


def _settle(folded: Folded, frames: Iterable[SeenFrame]) -> None:
    for frame in frames:
        sightings = _by_person(frame)
        for person in folded.people:
            one = sightings.get(person.id)
            look = Look(one.still, one.looking, one.expression) if one else None
            pass_frame(person, folded.last_ms, frame.at_ms, look)
        folded.gap_ms = 0 if folded.last_ms is None else frame.at_ms - folded.last_ms
        folded.last_ms = frame.at_ms


def _look_ahead(folded: Folded, frames: list[SeenFrame]) -> None:
    """Remember the unsettled frames; who was only ever in frames that were taken back is forgotten."""
    folded.unsettled_ms = [frame.at_ms for frame in frames]
    sightings = [_by_person(frame) for frame in frames]
    for person in folded.people:
        pack_unsettled(person, [one.get(person.id) for one in sightings])
    folded.people = [one for one in folded.people if one.last or any(one.unsettled) or one.revision]


def _as_it_looks_now(folded: Folded, person: Person) -> Person:
    """The person with the unsettled frames folded on top, as if the session ended here."""
    person = copy_person(person)
    last_ms, gap_ms = folded.last_ms, folded.gap_ms
    for at_ms, look in zip(folded.unsettled_ms, unpack_unsettled(person), strict=False):
        pass_frame(person, last_ms, at_ms, look)
        gap_ms = 0 if last_ms is None else at_ms - last_ms
        last_ms = at_ms
    if last_ms is not None:
        end_frames(person, last_ms, gap_ms)
    return person


def _publish(folded: Folded) -> list[Visit]:
    """The visits that are due; those who have left are forgotten with it."""
    visits: list[Visit | None] = []
    remaining: list[Person] = []
    for person in folded.people:
        if person.left and not _may_still_change(person):
            visits.append(_finish(folded, person))
            continue
        remaining.append(person)
        if _is_due(folded, person):
            visits.append(_write(folded, person))
    folded.people = remaining
    return [visit for visit in visits if visit]


def _may_still_change(person: Person) -> bool:
    """Whether later frames tell more of somebody who has left: how long the last one holds, or what it was."""
    return any(person.unsettled) or (person.here and not person.unsettled)


def _is_due(folded: Folded, person: Person) -> bool:
    if not person.revision:
        return True
    now_ms = _now_ms(folded) - person.origin_ms
    return now_ms - person.published_ms >= PUBLISHED_EVERY_MS and _seen_ms(folded, person) > person.published_ms


def _now_ms(folded: Folded) -> int:
    return folded.unsettled_ms[-1] if folded.unsettled_ms else folded.last_ms or 0


def _seen_ms(folded: Folded, person: Person) -> int:
    """When the person was last seen, since their origin."""
    unsettled = zip(folded.unsettled_ms, person.unsettled, strict=False)
    return max((at_ms - person.origin_ms for at_ms, code in unsettled if code), default=person.last_ms)


def _finish(folded: Folded, person: Person) -> Visit | None:
    return _write(folded, copy_person(person), ended=True)


def _write(folded: Folded, person: Person, *, ended: bool = False) -> Visit | None:
    """The next revision; None where the person was never there for long enough to count."""
    looks = _as_it_looks_now(folded, person)
    if not person.revision:
        if present_ms(looks) < SHORTEST_VISIT_MS:
            return None
        person.began_ms = looks.present[0]
    person.revision += 1
    person.published_ms = _now_ms(folded) - person.origin_ms
    looks.revision, looks.began_ms = person.revision, person.began_ms
    return visit_of(looks, stream_id=folded.stream_id, session=folded.session, ended=ended)
