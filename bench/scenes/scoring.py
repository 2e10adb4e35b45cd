"""Visits against the ground truth of one scene."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from bench.scenes.found import Followed, Visit
from bench.scenes.intervals import covers, total, without
from bench.scenes.matching import Matches, match_visits
from bench.scenes.truth import Person, Truth

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


def _score_person(person: Person, visit: Visit) -> PersonScore:
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


def _count_looking(person: Person, visit: Visit) -> Looking:
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


def _wrong_verdicts(persons: dict[int, Person], matches: Matches) -> list[int]:
    return [
        k
        for k, visit in sorted(matches.visits.items())
        if persons[k].interested is not None and persons[k].interested != visit.is_interested
    ]
