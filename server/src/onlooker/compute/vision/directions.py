"""Where every head of a picture faces and where its eyes look."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onlooker.compute.vision.decoding import Picture
from onlooker.compute.vision.faces import Face
from onlooker.compute.vision.gaze import read_gaze
from onlooker.compute.vision.head import Camera, Direction, Head, locate_head
from onlooker.compute.vision.irises import CORNERS, Irises, read_irises
from onlooker.compute.vision.landmarks import Landmarks, read_landmarks

EYES_READABLE_FROM_PX = 40
GAZE_WITHIN_RADIANS = 0.6
NOSE_TIP = 4


@dataclass(frozen=True)
class Directions:
    """One face's head and eyes."""

    head: Head
    gaze: Direction
    """The head's own direction where the eyes can't be read."""
    eyes_readable: bool
    eye_left: NDArray[np.float32]
    eye_right: NDArray[np.float32]
    nose: NDArray[np.float32]
    mesh_confidence: float = 1.0
    """That there is a face at all, by the mesh's own word; of tiny faces it is low."""


def read_directions(
    picture: Picture, faces: Sequence[Face], *, with_eyes: Sequence[bool] | None = None
) -> list[Directions]:
    """For every face, in their order; the eyes of all, or of those that are named."""
    height, width = picture.shape[:2]
    camera = Camera.of_picture(width, height)
    meshes = read_landmarks(picture, faces)
    wanted = [True] * len(faces) if with_eyes is None else with_eyes
    read = iter(read_irises(picture, [mesh for mesh, eyes in zip(meshes, wanted, strict=True) if eyes]))
    irises = [next(read) if eyes else None for eyes in wanted]
    return [_directions(*one, camera) for one in zip(faces, meshes, irises, strict=True)]


def _directions(face: Face, mesh: Landmarks, irises: Irises | None, camera: Camera) -> Directions:
    head = locate_head(mesh, camera)
    if irises is None:
        left, right = (mesh.points[list(corners)].mean(axis=0) for corners in CORNERS)
        return Directions(head, head.direction, False, left, right, mesh.points[NOSE_TIP], mesh.confidence)
    gaze = read_gaze(head, irises, camera)
    readable = face.size_px >= EYES_READABLE_FROM_PX and _apart(gaze, head.direction) <= GAZE_WITHIN_RADIANS
    return Directions(
        head=head,
        gaze=gaze if readable else head.direction,
        eyes_readable=readable,
        eye_left=irises.left,
        eye_right=irises.right,
        nose=mesh.points[NOSE_TIP],
        mesh_confidence=mesh.confidence,
    )


def _apart(one: Direction, other: Direction) -> float:
    """Closed eyes and sunglasses give a gaze that no eye could have."""
    return math.hypot(one.yaw_radians - other.yaw_radians, one.pitch_radians - other.pitch_radians)
