"""Asking the nets for the age and gender of every face."""

from collections.abc import Sequence
from dataclasses import dataclass

from onlooker.compute.vision.batches import in_batches
from onlooker.compute.vision.chips import age_tensor, cut_chips, gender_tensor
from onlooker.compute.vision.decoding import Picture
from onlooker.compute.vision.faces import Face
from onlooker.compute.vision.gender import male_probabilities
from onlooker.compute.vision.mirrors import fold_mirrored, with_mirror_images
from onlooker.compute.vision.networks import network


@dataclass(frozen=True)
class Reading:
    """What the nets say of one face in one picture; `estimate_age` and `estimate_gender` make sense of it."""

    age_years: float
    male_probability: float
    side_px: float
    """Of its chip in the picture: how much the nets got to see."""


def read_ages(picture: Picture, faces: Sequence[Face]) -> list[tuple[float, float]]:
    """The age net's age and the side of its chip for every face; what the net says of gender is not looked at."""
    ages: list[tuple[float, float]] = []
    for batch in in_batches(cut_chips(picture, faces)):
        said = fold_mirrored(network("age").run(with_mirror_images(age_tensor(batch)))["age"])[:, 0]
        ages += [(float(age), chip.side_px) for age, chip in zip(said, batch, strict=True)]
    return ages


def read_genders(picture: Picture, faces: Sequence[Face]) -> list[tuple[float, float]]:
    """How likely each face is a man's by the gender net alone, and the side of its chip; the age net is not asked."""
    genders: list[tuple[float, float]] = []
    for batch in in_batches(cut_chips(picture, faces)):
        (said,) = network("gender").run(gender_tensor(batch)).values()
        genders += [(float(male), chip.side_px) for (_, male), chip in zip(said, batch, strict=True)]
    return genders


def read_ages_and_genders(picture: Picture, faces: Sequence[Face]) -> list[Reading]:
    """For every face, in their order."""
    readings: list[Reading] = []
    for batch in in_batches(cut_chips(picture, faces)):
        said = network("age").run(with_mirror_images(age_tensor(batch)))
        ages = fold_mirrored(said["age"])[:, 0]
        (genders,) = network("gender").run(gender_tensor(batch)).values()
        males = male_probabilities(fold_mirrored(said["gender"]), genders)
        readings += [
            Reading(float(age), float(male), chip.side_px) for age, male, chip in zip(ages, males, batch, strict=True)
        ]
    return readings
