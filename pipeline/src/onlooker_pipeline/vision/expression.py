"""The expression of each face: the mean of two nets that were trained on different pictures."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onlooker_pipeline.expressions import EXPRESSIONS
from onlooker_pipeline.vision.age_and_gender import chip_region
from onlooker_pipeline.vision.crops import (
    Region,
    colour_tensor,
    cut_region,
    fold_mirrored,
    in_batches,
    with_mirror_images,
)
from onlooker_pipeline.vision.face_clarity import Clarity, measure_clarity, smoothed
from onlooker_pipeline.vision.faces import Face
from onlooker_pipeline.vision.networks import Tensor, network
from onlooker_pipeline.vision.picture import Picture, as_grey

COLOUR_NET = ("neutral", "happiness", "sadness", "anger", "fear", "disgust", "surprise")
GREY_NET = ("anger", "disgust", "fear", "happiness", "sadness", "surprise", "neutral")
COLOUR_SIZE, COLOUR_SCALE = 112, 1.3
GREY_SIZE, GREY_SCALE = 64, 1.1
COLOUR_WEIGHT = 0.7
NEUTRAL_WEIGHT = 1.5
"""The nets were trained on equal numbers of each; most faces in front of a screen are neutral."""
MEAN, SPREAD, LEAST_SPREAD = 110, 45, 8
"""Brightness and contrast of every crop: in washed-out pictures the nets read sadness and anger."""
DETAILS = (25.0, 45.0, 80.0)
DOUBTS = (0.15, 0.05, 0.0)
"""What the nets claim too much for faces of these details, so that the largest share is how often it is right."""


@dataclass(frozen=True)
class MoodFace:
    """A face whose expression is read."""

    face: Face
    clarity: Clarity


def read_expressions(picture: Picture, faces: Sequence[Face]) -> list[dict[str, float]]:
    """Shares of the expressions of each face. They add up to one; the less a face shows, the more alike they are."""
    grey = as_grey(picture)
    read: list[dict[str, float]] = []
    for batch in in_batches([MoodFace(face, measure_clarity(grey, chip_region(face.points))) for face in faces]):
        asked = [_ask_colour_net(picture, batch), _ask_grey_net(grey, batch)]
        shares = np.average(asked, axis=0, weights=[COLOUR_WEIGHT, 1 - COLOUR_WEIGHT])
        shares[:, EXPRESSIONS.index("neutral")] *= NEUTRAL_WEIGHT
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-9)
        doubts = np.interp([one.clarity.detail for one in batch], DETAILS, DOUBTS).astype(np.float32)[:, None]
        shares += doubts * (np.float32(1 / len(EXPRESSIONS)) - shares)
        read += [dict(zip(EXPRESSIONS, row.tolist(), strict=True)) for row in shares]
    return read


def _ask_colour_net(picture: Picture, faces: Sequence[MoodFace]) -> Tensor:
    """The mean over each face and its mirror image."""
    crops = colour_tensor([_crop(picture, face, COLOUR_SIZE, COLOUR_SCALE) for face in faces])
    return fold_mirrored(_five(network("emotion_fa").run(with_mirror_images(crops)), COLOUR_NET))


def _ask_grey_net(grey: Picture, faces: Sequence[MoodFace]) -> Tensor:
    crops = np.stack([_crop(grey, face, GREY_SIZE, GREY_SCALE) for face in faces])[..., None]
    return _five(network("emotion_mx").run(crops.astype(np.float32) / 127.5 - 1), GREY_NET)


def _crop(picture: Picture, one: MoodFace, size: int, scale: float) -> Picture:
    """The face upright and without noise, normalised so that the middle of the crop has MEAN and SPREAD."""
    region = Region(*one.face.centre, scale * one.face.size_px, one.face.tilt_radians)
    crop = smoothed(cut_region(picture, region, size), one.clarity, region.side_px)
    rim = size // 8
    middle = as_grey(crop)[rim:-rim, rim:-rim]
    gain = SPREAD / max(float(middle.std()), LEAST_SPREAD)
    return np.asarray(np.clip((crop - middle.mean()) * gain + MEAN, 0, 255), np.uint8)


def _five(outputs: dict[str, Tensor], names: tuple[str, ...]) -> Tensor:
    (shares,) = outputs.values()
    return shares[:, [names.index(name) for name in EXPRESSIONS]]
