"""Faces cut out for the age and gender nets: upright, at one scale, eyes and nose always at the same places."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from onlooker.compute.vision.decoding import Picture, as_picture
from onlooker.compute.vision.faces import Face, Points
from onlooker.compute.vision.networks import Tensor
from onlooker.compute.vision.regions import Region, colour_tensor, cut

AGE_SIZE = 112
GENDER_SIZE = 32
PLACES = np.array([0.297 + 0.300j, 0.678 + 0.301j, 0.483 + 0.515j, 0.321 + 0.673j, 0.659 + 0.673j])
"""Where a face's five points belong in the unit square, x + yj.

The gender net was trained on dlib's chips, which are cut along the corners of the eyes with a padding of 0.2, and the
age net reads them well. These are the places that the detector's points had in such chips, on average over labelled
portraits: they say ages as well as the mesh's points, and a net less is asked.
"""

GENDER_MEAN = np.array([122.782, 117.001, 104.298], np.float32).reshape(3, 1, 1)
GENDER_RANGE = np.float32(256)


@dataclass(frozen=True)
class Chip:
    """One face, cut out."""

    pixels: Picture
    side_px: float
    """Its side in pixels of the picture: how much the nets really get to see."""


def cut_chips(picture: Picture, faces: Sequence[Face]) -> list[Chip]:
    """A chip for each face, in their order; grey stays grey."""
    regions = [chip_region(face.points) for face in faces]
    return [Chip(cut(picture, region, AGE_SIZE), region.side_px) for region in regions]


def chip_region(five: Points) -> Region:
    """The square that brings the five points, by turning and scaling alone, as near to their places as can be."""
    points = five[:, 0] + 1j * five[:, 1].astype(np.float64)
    from_middle = points - points.mean()
    # Complex numbers turn and scale when multiplied: this one takes the points' plane to the places'.
    turn = np.vdot(from_middle, PLACES - PLACES.mean()) / max(np.vdot(from_middle, from_middle).real, 1e-9)
    back = 1 / turn if abs(turn) > 1e-9 else 1 + 0j
    centre = points.mean() + (0.5 + 0.5j - PLACES.mean()) * back
    return Region(float(centre.real), float(centre.imag), float(abs(back)), math.atan2(back.imag, back.real))


def age_tensor(chips: Sequence[Chip]) -> Tensor:
    """[n, 112, 112, 3], red, green, blue from 0 to 255."""
    return colour_tensor([chip.pixels for chip in chips])


def gender_tensor(chips: Sequence[Chip]) -> Tensor:
    """[n, 3, 32, 32], red, green, blue planes around zero."""
    small = [as_picture(cv2.resize(c.pixels, (GENDER_SIZE,) * 2, interpolation=cv2.INTER_AREA)) for c in chips]
    planes = np.ascontiguousarray(colour_tensor(small).transpose(0, 3, 1, 2))
    return (planes - GENDER_MEAN) / GENDER_RANGE
