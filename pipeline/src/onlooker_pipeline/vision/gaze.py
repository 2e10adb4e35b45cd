"""Where every head of a picture points and where its eyes look, with MediaPipe's iris net."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onlooker_pipeline.vision.crops import Region, colour_tensor, cut_region, in_batches, to_picture
from onlooker_pipeline.vision.faces import Face
from onlooker_pipeline.vision.head_pose import (
    Camera,
    Direction,
    Head,
    Landmarks,
    Matrix,
    face_of_known_size,
    locate_head,
    read_landmarks,
)
from onlooker_pipeline.vision.networks import network
from onlooker_pipeline.vision.picture import Picture

SIZE = 64
REGION_SCALE = 2.3
"""In multiples of the distance between the corners of the eye."""
CORNERS = ((33, 133), (362, 263))
"""Landmarks at the corners of the eye on the left of the picture, and of the one on the right."""
EYEBALL_RADIUS_CM = 1.2
EYEBALL_DEPTH_CM = 0.6
"""Of its centre behind the middle of the eye's corners; calibrated on faces that look into the lens."""
_BEHIND = np.array([0, 0, EYEBALL_DEPTH_CM])
EYES_READABLE_FROM_PX = 40
GAZE_WITHIN_RADIANS = 0.6
NOSE_TIP = 4


@dataclass(frozen=True)
class Irises:
    """Centres of the irises, in pixels of the picture."""

    left: NDArray[np.float32]
    right: NDArray[np.float32]


def read_irises(picture: Picture, meshes: Sequence[Landmarks]) -> list[Irises]:
    """Both irises of every face, in their order."""
    eyes = [(_region(mesh, corners), side == 1) for mesh in meshes for side, corners in enumerate(CORNERS)]
    middles: list[NDArray[np.float32]] = []
    for batch in in_batches(eyes):
        crops = [_turned(cut_region(picture, region, SIZE), mirrored=mirrored) for region, mirrored in batch]
        rows = network("iris_landmark").run(colour_tensor(crops, brightest=1))["iris"].reshape(len(batch), 5, 3)
        for row, (region, mirrored) in zip(rows, batch, strict=True):
            x, y = row[0, :2]
            middles.append(to_picture(np.array([SIZE - 1 - x if mirrored else x, y]), region, SIZE))
    return [Irises(left, right) for left, right in zip(middles[::2], middles[1::2], strict=True)]


def _region(mesh: Landmarks, corners: tuple[int, int]) -> Region:
    start, end = mesh.points[list(corners)]
    along, down = end - start
    x, y = (start + end) / 2
    return Region(float(x), float(y), REGION_SCALE * math.hypot(along, down), math.atan2(down, along))


def _turned(crop: Picture, *, mirrored: bool) -> Picture:
    """The net knows one eye; it gets a mirror image of the other."""
    return crop[:, ::-1] if mirrored else crop


def read_gaze(head: Head, irises: Irises, camera: Camera) -> Direction:
    """The mean direction of both eyes: the ray through each iris meets the eyeball."""
    known = face_of_known_size()
    both = np.zeros(3)
    for corners, iris in zip(CORNERS, (irises.left, irises.right), strict=True):
        eyeball = known[list(corners)].mean(axis=0) + _BEHIND
        both += _look(head.rotation @ eyeball + head.position_cm, camera.ray(float(iris[0]), float(iris[1])))
    return Direction.of_vector(both)


def _look(eyeball: Matrix, ray: Matrix) -> Matrix:
    """From the centre of the eyeball to the point where the ray meets it (or passes nearest)."""
    along = float(ray @ eyeball)
    inside = along**2 - float(eyeball @ eyeball) + EYEBALL_RADIUS_CM**2
    look = ray * (along - math.sqrt(max(inside, 0.0))) - eyeball
    return np.asarray(look / np.linalg.norm(look))


@dataclass(frozen=True)
class Directions:
    """One face's head and eyes."""

    head: Head
    gaze: Direction
    """The head's own direction if the eyes can't be read."""
    eyes_readable: bool
    eye_left: NDArray[np.float32]
    eye_right: NDArray[np.float32]
    nose: NDArray[np.float32]
    mesh_confidence: float = 1.0
    """That there is a face at all, according to the mesh; low for tiny faces."""


def read_directions(
    picture: Picture, faces: Sequence[Face], *, with_eyes: Sequence[bool] | None = None
) -> list[Directions]:
    """For every face, in their order; the eyes of all, or of those marked in `with_eyes`."""
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
    """Angle between two directions: closed eyes and sunglasses give a gaze that no eye could have."""
    return math.hypot(one.yaw_radians - other.yaw_radians, one.pitch_radians - other.pitch_radians)
