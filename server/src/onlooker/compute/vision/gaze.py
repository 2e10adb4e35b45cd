"""Where the eyes look: the ray through each iris meets the eyeball's sphere."""

import math

import numpy as np

from onlooker.compute.vision.head import Camera, Direction, Head, Matrix, face_of_known_size
from onlooker.compute.vision.irises import CORNERS, Irises

EYEBALL_RADIUS_CM = 1.2
EYEBALL_DEPTH_CM = 0.6
"""Of its middle, behind the middle of the eye's corners; calibrated on faces that look into the lens."""

_BEHIND = np.array([0, 0, EYEBALL_DEPTH_CM])


def read_gaze(head: Head, irises: Irises, camera: Camera) -> Direction:
    """The mean direction of both eyes."""
    known = face_of_known_size()
    both = np.zeros(3)
    for corners, iris in zip(CORNERS, (irises.left, irises.right), strict=True):
        eyeball = known[list(corners)].mean(axis=0) + _BEHIND
        both += _look(head.rotation @ eyeball + head.position_cm, camera.ray(float(iris[0]), float(iris[1])))
    return Direction.of_vector(both)


def _look(eyeball: Matrix, ray: Matrix) -> Matrix:
    """From the middle of the eyeball to the point where the ray meets it (or passes nearest)."""
    along = float(ray @ eyeball)
    inside = along**2 - float(eyeball @ eyeball) + EYEBALL_RADIUS_CM**2
    look = ray * (along - math.sqrt(max(inside, 0.0))) - eyeball
    return np.asarray(look / np.linalg.norm(look))
