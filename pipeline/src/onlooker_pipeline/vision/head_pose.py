"""Where a head is and where it points: MediaPipe's mesh of 468 points, fitted with a face of known size."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from onlooker_pipeline.model_runtime import model_file
from onlooker_pipeline.vision.crops import Region, colour_tensor, cut_region, in_batches, to_picture
from onlooker_pipeline.vision.faces import Face
from onlooker_pipeline.vision.networks import network
from onlooker_pipeline.vision.picture import Picture

SIZE = 192
REGION_SCALE = 1.5
"""In multiples of the face's longer side; another scale shifts the pitch."""
Matrix = NDArray[np.float64]
STEADY_LANDMARKS = [
    *(4, 6, 10, 33, 54, 67, 117, 119, 121, 127, 129, 132, 133, 136, 143, 147, 198),
    *(205, 263, 284, 297, 346, 348, 350, 356, 358, 361, 362, 365, 372, 376, 420, 425),
]
"""MediaPipe's own selection: these move little when a face speaks or smiles."""


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
        outputs = network("face_landmark").run(
            colour_tensor([cut_region(picture, r, SIZE) for r in batch], brightest=1)
        )
        flat = outputs["landmarks"].reshape(len(batch), 468, 3)
        flags = outputs["faceflag"].reshape(len(batch))
        meshes += [
            Landmarks(to_picture(points[:, :2], region, SIZE), float(1 / (1 + np.exp(-flag))))
            for points, flag, region in zip(flat, flags, batch, strict=True)
        ]
    return meshes


@dataclass(frozen=True)
class Camera:
    """A pinhole camera without distortion, centred on the picture."""

    focal_px: float
    centre_x: float
    centre_y: float

    @classmethod
    def of_picture(cls, width: int, height: int) -> "Camera":
        """About 53 degrees across, as a typical webcam has."""
        return cls(float(width), width / 2, height / 2)

    @property
    def matrix(self) -> Matrix:
        return np.array([[self.focal_px, 0, self.centre_x], [0, self.focal_px, self.centre_y], [0, 0, 1.0]])

    def ray(self, x: float, y: float) -> Matrix:
        """The direction in which the camera sees a pixel."""
        ray = np.array([(x - self.centre_x) / self.focal_px, (y - self.centre_y) / self.focal_px, 1.0])
        return np.asarray(ray / np.linalg.norm(ray))


@dataclass(frozen=True)
class Direction:
    """Yaw grows towards the right of the picture, pitch upwards; (0, 0) is opposite to the camera's direction."""

    yaw_radians: float
    pitch_radians: float

    @classmethod
    def of_vector(cls, vector: Matrix) -> "Direction":
        x, y, z = vector / np.linalg.norm(vector)
        return cls(math.atan2(x, -z), math.asin(max(-1.0, min(1.0, -y))))


@dataclass(frozen=True)
class Head:
    """A head in front of the camera: x to the right, y down, z away from it, in centimetres."""

    rotation: Matrix
    position_cm: Matrix

    @property
    def direction(self) -> Direction:
        return Direction.of_vector(self.rotation @ [0.0, 0.0, -1.0])

    @property
    def roll_radians(self) -> float:
        """Grows as the head tilts clockwise in the picture."""
        x, y, _ = self.rotation @ [1.0, 0.0, 0.0]
        return math.atan2(y, x)

    @property
    def towards_camera(self) -> Direction:
        """The direction from this head to the camera."""
        return Direction.of_vector(-self.position_cm)


@cache
def face_of_known_size() -> Matrix:
    """468 points of MediaPipe's canonical face in centimetres: x to the right, y down, z away from the camera."""
    points = np.load(model_file("canonical_face.npy")).astype(np.float64)
    return np.asarray(points * [1, -1, -1])


def locate_head(mesh: Landmarks, camera: Camera) -> Head:
    """The position and rotation at which the canonical face fits the mesh best."""
    known = face_of_known_size()[STEADY_LANDMARKS]
    seen = mesh.points[STEADY_LANDMARKS].astype(np.float64)
    _, turn, shift = cv2.solvePnP(known, seen, camera.matrix, None, flags=cv2.SOLVEPNP_EPNP)
    _, turn, shift = cv2.solvePnP(
        known, seen, camera.matrix, None, turn, shift, useExtrinsicGuess=True, flags=cv2.SOLVEPNP_ITERATIVE
    )
    return Head(np.asarray(cv2.Rodrigues(turn)[0], np.float64), np.asarray(shift, np.float64).ravel())
