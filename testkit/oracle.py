"""The metrics as the supplement defines them, computed visit by visit in plain Python: slow, and plainly right."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from onlooker_pipeline.visits.visit import Interval, Visit

Values = dict[str, float | int | None]
Figures = dict[str, Values]
"""The values of every metric, by its name."""

SECOND_US = 1_000_000
AGE_BANDS = {"0-14": 0, "15-24": 15, "25-34": 25, "35-44": 35, "45-54": 45, "55-64": 55, "65+": 65}
"""The first year of each."""
CATEGORIES = ("senior_female", "senior_male", "young_female", "young_male")
EMOTIONS = ("neutral", "happiness", "surprise", "anger", "sadness")


@dataclass(frozen=True)
class Thresholds:
    """The age from which a person is a senior, and the confidences above which a gender and an age are known."""

    senior_age: float
    gender_above: float
    age_above: float


@dataclass(frozen=True)
class Rounding:
    """What rounding a slot's sums, once its visits are deleted, adds to each of its visits."""

    still_us: float = 0.0
    looking_us: float = 0.0
    balance: float = 0.0


@dataclass(frozen=True)
class Judged:
    """The part of a visit that lies inside a range. Times are microseconds."""

    visit: Visit
    first_us: int
    """Its first moment there."""
    present_us: int
    still_us: int
    longest_still_us: int
    looking_us: int
    rounding: Rounding = Rounding()
    """Changes sums, not who is interested."""
    is_told: bool = True
    """False: a person, of whom nothing else is told."""

    @property
    def passed_by(self) -> bool:
        return self.present_us >= SECOND_US

    @property
    def stopped(self) -> bool:
        return self.longest_still_us >= 3 * SECOND_US

    @property
    def interested(self) -> bool:
        return self.stopped and self.looking_us > SECOND_US


def compute_figures(
    visits: Iterable[Visit], *, from_us: int, to_us: int, edges_us: Sequence[int], known: Thresholds
) -> list[Figures]:
    """The figures of every bucket: each begins at an edge, the last one ends at the last edge."""
    judged = [judge(visit, from_us, to_us) for visit in visits]
    return count_judged([one for one in judged if one], edges_us, known)


def count_judged(
    judged: Iterable[Judged],
    edges_us: Sequence[int],
    known: Thresholds,
    told: Mapping[int, Sequence[Judged]] | None = None,
) -> list[Figures]:
    """Each counts in the bucket in which its first moment lies. `told`: by bucket, people of released blocks."""
    buckets: list[list[Judged]] = [[] for _ in edges_us[1:]]
    for one in judged:
        buckets[bisect_right(edges_us, one.first_us) - 1].append(one)
    return [figures_of(bucket, known, (told or {}).get(number, ())) for number, bucket in enumerate(buckets)]


def judge(visit: Visit, from_us: int, to_us: int) -> Judged | None:
    """None if nothing of it lies inside the range."""
    present, still, looking = (clip(one, from_us, to_us) for one in (visit.present, visit.still, visit.looking))
    if not present:
        return None
    longest_us = max((end - start for start, end in still), default=0)
    return Judged(visit, present[0][0], length_of(present), length_of(still), longest_us, length_of(looking))


def clip(intervals: list[Interval], from_us: int, to_us: int) -> list[Interval]:
    """What lies inside the range, in microseconds."""
    clipped = [(max(start * 1000, from_us), min(end * 1000, to_us)) for start, end in intervals]
    return [(start, end) for start, end in clipped if start < end]


def length_of(intervals: list[Interval]) -> int:
    return sum(end - start for start, end in intervals)


def figures_of(bucket: Sequence[Judged], known: Thresholds, released: Sequence[Judged] = ()) -> Figures:
    """`released`: people who are told of in groups; they count as people where they were, not here."""
    interested = [one for one in bucket if one.interested]
    told = [*(one for one in interested if one.is_told), *released]
    people = [one.visit for one in told]
    counted = len(interested)
    return {
        "passing_by": {"value": sum(one.passed_by for one in bucket)},
        "interested": {"value": counted},
        "stop_time": {"value": mean([(one.still_us + one.rounding.still_us) / SECOND_US for one in told])},
        "attention_time": {"value": mean([(one.looking_us + one.rounding.looking_us) / SECOND_US for one in told])},
        "category": count(CATEGORIES, [category_of(person, known) for person in people]),
        "gender": share_out(("?", "female", "male"), [gender_of(person, known) for person in people], counted),
        "satisfaction": {
            "value": mean([balance_of(one.visit) + one.rounding.balance for one in told if one.visit.expression])
        },
        "age": share_out((*AGE_BANDS, "?"), [age_band_of(person, known) for person in people], counted),
        "emotion": share_out((*EMOTIONS, "?"), [emotion_of(person) for person in people], counted),
        "stopped": {"value": sum(one.stopped for one in bucket)},
    }


def share_out(names: Iterable[str], found: list[str], counted: int) -> Values:
    """Of so many people, those who are not found in a part are `?`."""
    parts = count(names, [*found])
    return parts | {"?": max(0, counted - sum(part != "?" for part in found))}


def mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def count(names: Iterable[str], found: list[str | None]) -> Values:
    return {name: found.count(name) for name in names}


def gender_of(person: Visit, known: Thresholds) -> str:
    return person.gender if person.gender and person.gender_confidence > known.gender_above else "?"


def category_of(person: Visit, known: Thresholds) -> str | None:
    gender, age = gender_of(person, known), age_of(person, known)
    if age is None or gender == "?":
        return None
    return f"{'senior' if age >= known.senior_age else 'young'}_{gender}"


def age_of(person: Visit, known: Thresholds) -> float | None:
    """None also where it is a guess."""
    return person.age if person.age_confidence > known.age_above else None


def age_band_of(person: Visit, known: Thresholds) -> str:
    age = age_of(person, known)
    return "?" if age is None else [name for name, first in AGE_BANDS.items() if age >= first][-1]


def emotion_of(person: Visit) -> str:
    """The strongest; of equals the first."""
    return EMOTIONS[person.expression.index(max(person.expression))] if person.expression else "?"


def balance_of(person: Visit) -> float:
    assert person.expression
    _, happiness, _, anger, sadness = person.expression
    return (1 + happiness - anger - sadness) / 2
