"""Which visit is which person: by place where the faces' places are known, else by time."""

import statistics
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeVar

from bench.accuracy.scenes import overlap
from bench.scenes.found import Followed, Place, Visit
from bench.scenes.intervals import likeness, shared, total
from bench.scenes.truth import Person, Roi, Truth

FACE_OVERLAP = 0.2
BY_BODY = 0.15
"""What a body counts against a face that overlaps: less than any."""
SAME_AS_BEFORE = 1.0
"""As the CLEAR MOT measures have it: a person keeps the id for as long as its place still fits."""
LEAST_SHARE = 0.1
"""Of a person's time that a visit must share to be theirs at all."""
SPLIT_S = 1.0

Left = TypeVar("Left", bound=Hashable)
Right = TypeVar("Right", bound=Hashable)


@dataclass
class Matches:
    """Visits by person, and how often a person was taken for another one."""

    visits: dict[int, Visit] = field(default_factory=dict)
    switches: int = 0
    splits: int = 0


def match_visits(truth: Truth, visits: Sequence[Visit], followed: Sequence[Followed] | None) -> Matches:
    if truth.boxes is None or followed is None:
        return _match_by_time(truth.persons, visits, followed or ())
    return _match_by_place(truth.boxes, visits, followed)


def _match_by_place(boxes: list[dict[int, Roi]], visits: Sequence[Visit], followed: Sequence[Followed]) -> Matches:
    ids = _follow_ids(boxes, followed)
    by_id = {visit.id: visit for visit in visits}
    frames = {
        (person, id_): float(count) for person, seen in ids.items() for id_, count in Counter(seen).items() if id_
    }
    mine = {(person, id_): n for (person, id_), n in frames.items() if id_ in by_id}
    theirs = pick_pairs({pair: n for pair, n in mine.items() if n >= LEAST_SHARE * len(ids[pair[0]])})
    matches = Matches({person: by_id[id_] for person, id_ in theirs.items()})
    for seen in ids.values():
        known = [id_ for id_ in seen if id_]
        matches.switches += sum(one != other for one, other in pairwise(known))
    # A visit belongs to the person whom it was seen on most.
    owners = {id_: max((n, person) for (person, other), n in mine.items() if other == id_)[1] for _, id_ in mine}
    for id_, person in owners.items():
        is_extra = theirs.get(person) not in (None, id_)
        matches.splits += is_extra and total(by_id[id_].present) >= SPLIT_S
    return matches


def _follow_ids(boxes: list[dict[int, Roi]], followed: Sequence[Followed]) -> dict[int, list[str | None]]:
    """For each person the id that was said to be in their place, frame by frame as long as they can be seen."""
    ids: dict[int, list[str | None]] = {}
    latest: dict[int, str] = {}
    for answer in followed:
        faces = boxes[answer.frame] if answer.frame < len(boxes) else {}
        near = {
            (person, id_): nearness + SAME_AS_BEFORE * (latest.get(person) == id_)
            for person, face in faces.items()
            for id_, place in answer.places.items()
            if (nearness := measure_nearness(face, place)) > 0
        }
        here = pick_pairs(near)
        latest |= here
        for person in faces:
            ids.setdefault(person, []).append(here.get(person))
    return ids


def measure_nearness(face: Roi, place: Place) -> float:
    """How well a place is that of a face, in [0, 1]; only places where somebody is seen now count."""
    if not place.is_seen:
        return 0.0
    if place.face and (on_face := overlap(face, place.face)) >= FACE_OVERLAP:
        return on_face
    if place.body is None:
        return 0.0
    left, top, width, height = place.body
    aside = abs(face[0] + face[2] / 2 - left - width / 2) / max(width / 2, 1e-9)
    # The middle of a face is in the upper part of its body, or just above where only a torso was found.
    below_top = (face[1] + face[3] / 2 - top) / max(height, 1e-9)
    is_inside = aside < 1 and -0.15 < below_top < 0.5
    return BY_BODY * (1 - aside) if is_inside else 0.0


def _match_by_time(persons: Sequence[Person], visits: Sequence[Visit], followed: Sequence[Followed]) -> Matches:
    alike: dict[tuple[int, str], float] = {}
    sides = _compare_sides(persons, visits, followed)
    for person in persons:
        for visit in visits:
            present = likeness(person.present, visit.present)
            doing = likeness(person.still, visit.still) + likeness(person.looking, visit.looking)
            if present >= LEAST_SHARE:
                alike[person.id, visit.id] = present + doing / 2 + sides.get((person.id, visit.id), 0.0)
    by_id = {visit.id: visit for visit in visits}
    theirs = pick_pairs(alike)
    extra = [visit for visit in visits if visit.id not in theirs.values() and visit.is_passing]
    splits = sum(
        any(total(shared(person.present, visit.present)) >= total(visit.present) / 2 for person in persons)
        for visit in extra
    )
    return Matches({person: by_id[id_] for person, id_ in theirs.items()}, splits=splits)


def _compare_sides(
    persons: Sequence[Person], visits: Sequence[Visit], followed: Sequence[Followed]
) -> dict[tuple[int, str], float]:
    """People who are there at the same time are labelled from left to right: 1 for the same rank, less for others."""
    if not all(likeness(persons[0].present, person.present) > 0.5 for person in persons):
        return {}
    middles: dict[str, list[float]] = {}
    for answer in followed:
        for id_, place in answer.places.items():
            if roi := place.face or place.body:
                middles.setdefault(id_, []).append(roi[0] + roi[2] / 2)
    seen = [visit.id for visit in visits if visit.is_passing and visit.id in middles]
    ranks = sorted(seen, key=lambda id_: statistics.fmean(middles[id_]))
    return {
        (person.id, id_): 1 - abs(i / len(persons) - j / len(ranks))
        for i, person in enumerate(persons)
        for j, id_ in enumerate(ranks)
    }


def pick_pairs(weights: Mapping[tuple[Left, Right], float]) -> dict[Left, Right]:
    """One to one, the heaviest pairs first."""
    picked: dict[Left, Right] = {}
    taken: set[Right] = set()
    for (one, other), _ in sorted(weights.items(), key=lambda item: -item[1]):
        if one not in picked and other not in taken:
            picked[one] = other
            taken.add(other)
    return picked
