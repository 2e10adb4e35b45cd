"""468 points of each face, with MediaPipe's face mesh."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onlooker.compute.vision.batches import in_batches
from onlooker.compute.vision.decoding import Picture
from onlooker.compute.vision.faces import Face
from onlooker.compute.vision.networks import network
from onlooker.compute.vision.regions import Region, colour_tensor, cut, to_picture

SIZE = 192
REGION_SCALE = 1.5
"""Of the face's longer side; another scale shifts the pitch."""


@dataclass(frozen=True)
class Landmarks:
    """The mesh of one face, in pixels of the picture."""

    points: NDArray[np.float32]
    confidence: float
    """That there is a face at all."""


def read_landmarks(picture: Picture, faces: Sequence[Face]) -> list[Landmarks]:
    """The mesh of every face, in their order."""
    regions = [Region(*face.centre, REGION_SCALE * face.size_px, face.tilt_radians) for face in faces]
    meshes: list[Landmarks] = []
    for batch in in_batches(regions):
        outputs = network("face_landmark").run(colour_tensor([cut(picture, r, SIZE) for r in batch], brightest=1))
        flat = outputs["landmarks"].reshape(len(batch), 468, 3)
        flags = outputs["faceflag"].reshape(len(batch))
        meshes += [
            Landmarks(to_picture(points[:, :2], region, SIZE), float(1 / (1 + np.exp(-flag))))
            for points, flag, region in zip(flat, flags, batch, strict=True)
        ]
    return meshes
