"""Labelled faces of two sets: the portraits beside the project, and UTKFace, in a folder that is named."""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2

from bench.lib.testdata import read_labels
from onlooker_pipeline.vision.faces import Face, find_faces

LABEL_TOO_HIGH_YEARS = 2
"""An official portrait was taken 0 to 4 years before the day that its label counts to."""
UTKFACE_NAME = re.compile(r"(\d+)_([01])_([0-4])_\d+\.jpg(\.chip\.jpg)?$")
"""Age, gender, ethnic group, time. A few files of the set lack one of them, and are left out."""
GENDERS = ("male", "female")
GROUPS = ("White", "Black", "Asian", "Indian", "Other")
OLDEST_STRATUM_YEARS = 80
ADULT_YEARS = 18
SELFIES_APART = 8
"""They follow one another closely."""
RIM_PX = 20
SMALLEST_SIDE_PX = 160


@dataclass(frozen=True)
class Portrait:
    """One face in one picture, and what its label says."""

    name: str
    path: Path
    age_years: float
    """Not a number where the label only has a band."""
    gender: str
    group: str | None = None
    """The ethnic group, where the set names one."""

    @property
    def stratum(self) -> tuple[int, str, str | None]:
        return int(min(self.age_years, OLDEST_STRATUM_YEARS) // 10), self.gender, self.group

    def read(self) -> Any:
        """Grey."""
        return cv2.imread(str(self.path), cv2.IMREAD_GRAYSCALE)


def read_congress(data: Path) -> list[Portrait]:
    """Official portraits: the age is known to the year, all are adults."""
    folder = data / "images/congress_pd"
    return [
        Portrait(
            row["file"],
            folder / row["file"],
            float(row["age_when_added"]) - LABEL_TOO_HIGH_YEARS,
            row["gender"],
        )
        for row in read_labels(folder)
    ]


def read_photographs(data: Path) -> list[Portrait]:
    """Adults whose gender is labelled, one in each picture: photographs of families, and some of one man's selfies."""
    families, selfies = data / "images/azure_face", data / "images/angus"
    single = [row for row in read_labels(families) if row["faces"] == "1" and row["gender"] in GENDERS]
    adults = [row for row in single if int(row["age_band"].partition("-")[0] or ADULT_YEARS) >= ADULT_YEARS]
    men = [row for row in read_labels(selfies) if row["faces"] == "1"][::SELFIES_APART]
    return [
        *(Portrait(row["file"], families / row["file"], float("nan"), row["gender"]) for row in adults),
        *(Portrait(row["file"], selfies / row["file"], float("nan"), "male") for row in men),
    ]


def read_utkface(folder: Path) -> list[Portrait]:
    """Photographs from the web, cropped and aligned, of people of all ages. For research only: never commit any."""
    found = [(path, UTKFACE_NAME.search(path.name)) for path in sorted(folder.glob("*.jpg"))]
    portraits = [
        Portrait(path.name, path, float(label[1]), GENDERS[int(label[2])], GROUPS[int(label[3])])
        for path, label in found
        if label
    ]
    if not portraits:
        raise SystemExit(f"No pictures of UTKFace in {folder}: they are named AGE_GENDER_GROUP_TIME.jpg.")
    return portraits


def sample_evenly(portraits: Sequence[Portrait], count: int, *, seed: int) -> list[Portrait]:
    """About so many, as evenly as can be over decades, genders and ethnic groups, in random order."""
    chance = random.Random(seed)
    strata: dict[tuple[int, str, str | None], list[Portrait]] = {}
    for portrait in portraits:
        strata.setdefault(portrait.stratum, []).append(portrait)
    for members in strata.values():
        chance.shuffle(members)
    chosen: list[Portrait] = []
    while len(chosen) < count and any(strata.values()):
        chosen += [strata[key].pop() for key in sorted(strata, key=str) if strata[key]]
    chance.shuffle(chosen)
    return chosen[:count]


def find_face(picture: Any) -> Face | None:
    """The largest face of a picture with one person."""
    return max(find_faces(picture), key=lambda face: face.size_px, default=None)


def at_size(picture: Any, scale: float) -> Any:
    """The picture at another scale; what is beyond its edges looks like them, as the detector needs some room."""
    method = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    small = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=method)
    missing = [max(2 * RIM_PX, SMALLEST_SIDE_PX - side) for side in small.shape]
    (top, left), (bottom, right) = ([part // 2 for part in missing], [part - part // 2 for part in missing])
    return cv2.copyMakeBorder(small, top, bottom, left, right, cv2.BORDER_REPLICATE)
