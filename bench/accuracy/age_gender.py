"""Age and gender, by `age_and_gender_estimation`; `just age-fit` measures ages of people who had no part in the fit."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from bench.accuracy.age_correction import CLEAR, JudgedReading, judge
from bench.accuracy.age_fit import read_set
from bench.accuracy.age_scores import bias_by_decade, summarise
from bench.accuracy.diagrams import draw_scatter
from bench.accuracy.services import faces_of
from bench.lib.figures import Figure
from bench.lib.frames import as_frame, as_sent
from bench.lib.portraits import read_congress
from bench.lib.product import say
from bench.lib.testdata import read_labels
from onlooker_pipeline.vision.age_and_gender import CORRECTION

SERVICE = "age_and_gender_estimation"
CHILD_UP_TO_YEARS = 13
CHILD_CONFIDENCE_AT_MOST = 0.5
YOUNG_ADULT_UP_TO_YEARS = 40
PROTOTYPE_YEARS_OFF = {"children": 3.0, "young_adults": 0.22}
"""How far the prototype, with another net and no correction, read these faces outside their bands."""
OLDEST_DRAWN_YEARS = 100.0
SENIOR_YEARS = 50


@dataclass(frozen=True)
class Subject:
    """One face of a photograph: what a reviewer wrote, and what the service says."""

    file: str
    gender: str | None
    band: tuple[float, float] | None
    face: dict[str, Any]

    @property
    def is_child(self) -> bool:
        return self.band is not None and self.band[1] <= CHILD_UP_TO_YEARS

    def years_off(self, age: float) -> float:
        """Distance of an age to the band."""
        low, high = self.band or (0.0, np.inf)
        return max(low - age, age - high, 0.0)


def measure(data: Path, pictures: Path | None = None) -> list[Figure]:
    subjects = list(_subjects(data / "images/azure_face"))
    say(f"  {len(subjects)} faces in photographs")
    return [*_gender(data, subjects), *_children(subjects), *_bands(subjects), *_ages(data, pictures)]


def _gender(data: Path, subjects: list[Subject]) -> list[Figure]:
    folder = data / "images/congress_pd"
    of_gender: dict[str, list[bool]] = {"female": [], "male": []}
    for row in read_labels(folder):
        faces = faces_of(SERVICE, as_frame(cv2.imread(str(folder / row["file"]))))
        of_gender[row["gender"]].append(bool(faces) and faces[0]["gender"] == row["gender"])
    portraits = [right for each in of_gender.values() for right in each]
    say(f"  {len(portraits)} portraits")
    adults = [s.face["gender"] == s.gender for s in subjects if s.gender and s.band and not s.is_child]
    return [
        _share("gender_right", portraits + adults, at_least=0.98),
        _share("gender_right_in_portraits", portraits),
        *(_share(f"gender_right_in_portraits_{gender}", right) for gender, right in of_gender.items()),
        _share("gender_right_in_photographs", adults),
    ]


def _share(name: str, right: list[bool], *, at_least: float | None = None) -> Figure:
    share = float(np.mean(right)) if right else float("nan")
    return Figure(name, share, at_least=at_least, note=f"{sum(right)} of {len(right)} faces")


def _children(subjects: list[Subject]) -> list[Figure]:
    surest = max((s.face["gender_confidence"] for s in subjects if s.is_child), default=float("nan"))
    note = f"the surest of {sum(s.is_child for s in subjects)} children"
    return [Figure("child_gender_confidence", surest, at_most=CHILD_CONFIDENCE_AT_MOST, note=note)]


def _bands(subjects: list[Subject]) -> list[Figure]:
    """What makes older people right must not make the young worse than the prototype had them."""
    figures = []
    for name, low, high in (
        ("children", 0, CHILD_UP_TO_YEARS),
        ("young_adults", CHILD_UP_TO_YEARS, YOUNG_ADULT_UP_TO_YEARS),
    ):
        group = [s for s in subjects if s.band and low < s.band[1] <= high]
        if group:
            off = float(np.mean([s.years_off(s.face["age"]) for s in group]))
            note = f"{len(group)} faces, mean distance to the labelled band"
            figures.append(Figure(f"age_years_off_band_{name}", off, at_most=PROTOTYPE_YEARS_OFF[name], note=note))
    return figures


def _ages(data: Path, pictures: Path | None) -> list[Figure]:
    """By the correction that the pipeline has; the portraits had half a part in its fit."""
    judged = judge(list(read_set("portraits", read_congress(data), conditions=CLEAR)), CORRECTION)
    if pictures:
        points = [(j.labelled.label_years, j.age) for j in judged if j.labelled.condition == CLEAR[0]]
        draw_scatter(pictures / "age.svg", "Age in years", points, limit=OLDEST_DRAWN_YEARS)
    told = summarise(judged)
    senior = [(j.age >= SENIOR_YEARS) == (j.labelled.label_years >= SENIOR_YEARS) for j in judged]
    note = f"{len(judged)} readings of portraits, which had a part in the fit"
    return [
        Figure("age_mean_absolute_error", told["mean_absolute_error"], at_most=9.0, note=note),
        Figure("age_bias", told["bias"], at_most=4.0, at_least=-4.0, note=note),
        Figure("senior_right", float(np.mean(senior)), at_least=0.75, note=note),
        *_by_decade(judged),
        _class_photograph(data / "images/angus/large.jpg"),
    ]


def _class_photograph(path: Path) -> Figure:
    """Small grey faces of young people, as a camera in a shop sees them."""
    faces = faces_of(SERVICE, as_sent(cv2.imread(str(path))))
    note = f"years, the median of {len(faces)} people of 18 to 25, in a photograph of a class at full size"
    return Figure("age_median_of_a_class", float(np.median([face["age"] for face in faces])), note=note)


def _by_decade(judged: list[JudgedReading]) -> list[Figure]:
    """By group, because the mean hides how much they differ."""
    figures = []
    for decade, bias in bias_by_decade(judged).items():
        members = [abs(j.error) for j in judged if decade <= j.labelled.label_years < decade + 10]
        note = f"{len(members)} readings, bias {bias:+.1f}"
        name = f"age_mean_absolute_error_{decade}_to_{decade + 9}"
        figures.append(Figure(name, float(np.mean(members)), note=note))
    return figures


def _subjects(folder: Path) -> Iterator[Subject]:
    """Photographs of several people list them from left to right; one band for all is every one's."""
    for row in read_labels(folder):
        frame = as_frame(cv2.imread(str(folder / row["file"])))
        faces = faces_of(SERVICE, frame)
        genders = [_gender_word(word) for word in row["gender"].replace("+", ",").split(",")]
        bands = [_band(word) for word in row["age_band"].split("/")]
        bands = bands * len(faces) if len(bands) == 1 else bands
        if len(faces) == len(genders) == len(bands):
            for gender, band, face in zip(genders, bands, faces, strict=True):
                yield Subject(row["file"], gender, band, face)


def _gender_word(word: str) -> str | None:
    names = set(word.split())
    if names & {"female", "woman"}:
        return "female"
    return "male" if names & {"male", "man"} else None


def _band(words: str) -> tuple[float, float] | None:
    """A band holds its last year whole."""
    low, _, high = words.strip().partition("-")
    return (float(low), float(high) + 1) if high else None
