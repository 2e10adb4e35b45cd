"""Which visit is which person: by place where the faces' places are known, else by time."""

import statistics
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeVar

from bench.lib.scenes import LabelledPerson, Roi, Truth, covers, likeness, shared, total, without
from bench.lib.testdata import overlap
from bench.lib.visits import Followed, SeenPlace, Visit

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


def measure_nearness(face: Roi, place: SeenPlace) -> float:
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


def _match_by_time(persons: Sequence[LabelledPerson], visits: Sequence[Visit], followed: Sequence[Followed]) -> Matches:
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
    persons: Sequence[LabelledPerson], visits: Sequence[Visit], followed: Sequence[Followed]
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


STEP_S = 0.1


@dataclass(frozen=True)
class PersonScore:
    """One matched person: found less true seconds, None where the reviewer was not sure of any."""

    person: int
    visit: str
    present_error_s: float
    stop_error_s: float | None
    attention_error_s: float | None


@dataclass
class Looking:
    """Tenths of a second of matched people."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else float("nan")

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed) if self.right + self.missed else float("nan")

    def __add__(self, other: "Looking") -> "Looking":
        return Looking(self.right + other.right, self.wrong + other.wrong, self.missed + other.missed)


@dataclass(frozen=True)
class ClipScore:
    """How right the visits of one scene are."""

    name: str
    people: int
    """Who was there and counts as passing by."""
    passing: int
    passing_true: int | None
    interested: int
    """Without those whose interest the reviewer left open."""
    interested_true: int | None
    persons: list[PersonScore]
    looking: Looking
    switches: int
    splits: int
    missed: list[int]
    """Persons who should have a visit and have none."""
    false: list[str]
    """Visits that pass by and are nobody's; none where no person is labelled."""
    wrong_verdicts: list[int] = field(default_factory=list)
    """Matched persons whose interest was judged wrongly."""
    looking_of_nobody_s: float = 0.0
    """Looks found in a scene in which nobody looks."""


def score_clip(truth: Truth, visits: Sequence[Visit], followed: Sequence[Followed] | None = None) -> ClipScore:
    """Compare; without `followed`, or where no faces' places are known, people are matched by time alone."""
    matches = match_visits(truth, visits, followed)
    persons = {person.id: person for person in truth.persons}
    looking = sum((_count_looking(persons[k], visit) for k, visit in matches.visits.items()), Looking())
    mine = {visit.id for visit in matches.visits.values()}
    uncertain = {visit.id for k, visit in matches.visits.items() if persons[k].interested is None}
    return ClipScore(
        name=truth.name,
        people=sum(person.passing for person in truth.persons),
        passing=sum(visit.is_passing for visit in visits),
        passing_true=truth.passing,
        interested=sum(visit.is_interested for visit in visits if visit.id not in uncertain),
        interested_true=truth.interested,
        persons=[_score_person(persons[k], visit) for k, visit in sorted(matches.visits.items())],
        looking=looking,
        switches=matches.switches,
        splits=matches.splits,
        missed=[person.id for person in truth.persons if person.passing and person.id not in matches.visits],
        false=[visit.id for visit in visits if truth.persons and visit.is_passing and visit.id not in mine],
        wrong_verdicts=_wrong_verdicts(persons, matches),
        looking_of_nobody_s=sum(total(visit.looking) for visit in visits) if truth.nobody_looks else 0.0,
    )


def _score_person(person: LabelledPerson, visit: Visit) -> PersonScore:
    present = total(visit.present) - total(person.present)
    stop = attention = None
    if without(person.present, person.still_uncertain):
        stop = total(without(visit.still, person.still_uncertain)) - total(
            without(person.still, person.still_uncertain)
        )
    if without(person.present, person.looking_uncertain):
        attention = total(without(visit.looking, person.looking_uncertain)) - total(
            without(person.looking, person.looking_uncertain)
        )
    return PersonScore(person.id, visit.id, present, stop, attention)


def _count_looking(person: LabelledPerson, visit: Visit) -> Looking:
    counted = Looking()
    end = max((pair[1] for pair in (*person.present, *visit.present)), default=0.0)
    for number in range(round(end / STEP_S) + 1):
        seconds = (number + 0.5) * STEP_S
        if covers(person.looking_uncertain, seconds):
            continue
        looks, found = covers(person.looking, seconds), covers(visit.looking, seconds)
        counted.right += looks and found
        counted.wrong += found and not looks
        counted.missed += looks and not found
    return counted


def _wrong_verdicts(persons: dict[int, LabelledPerson], matches: Matches) -> list[int]:
    return [
        k
        for k, visit in sorted(matches.visits.items())
        if persons[k].interested is not None and persons[k].interested != visit.is_interested
    ]
