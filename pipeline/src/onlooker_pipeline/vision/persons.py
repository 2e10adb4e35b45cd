"""Detection of people by their bodies."""

from dataclasses import dataclass

import numpy as np

from onlooker_pipeline.vision.networks import Tensor
from onlooker_pipeline.vision.non_maximum_suppression import Boxes, suppress_overlaps
from onlooker_pipeline.vision.person_model import CONFIDENCE_AT_LEAST, PersonNet, person_net
from onlooker_pipeline.vision.picture import Picture

HINT_FROM = 0.25
"""Boxes from here to CONFIDENCE_AT_LEAST are mostly wrong, but say where somebody large may be."""
PERSONS_AT_MOST = 100
LARGE_PX = 96
"""In pixels of the net's input. From here on the net misses people where one of its grids hands over to the next; in a
smaller picture they are elsewhere between the grids."""


@dataclass(frozen=True)
class PersonBox:
    """Where a body is, in pixels of the picture."""

    left: float
    top: float
    right: float
    bottom: float
    confidence: float


def find_persons(picture: Picture) -> list[PersonBox]:
    """The people of a picture, the most confident first."""
    net = person_net()
    boxes, confidences = net.search(picture, net.card.input, at_least=HINT_FROM)
    if net.smaller is not None:
        boxes, confidences = _with_large(picture, net, net.smaller, (boxes, confidences))
    best = suppress_overlaps(boxes, confidences, overlap=net.card.overlap, limit=PERSONS_AT_MOST)
    rows = np.column_stack([boxes, confidences])[best].tolist()
    found = [PersonBox(left, top, right, bottom, confidence) for left, top, right, bottom, confidence in rows]
    return [person for person in found if person.confidence >= CONFIDENCE_AT_LEAST]


def _with_large(
    picture: Picture, net: PersonNet, smaller: tuple[int, int], found: tuple[Boxes, Tensor]
) -> tuple[Boxes, Tensor]:
    """What was found, and what the net finds of large people in a smaller picture, if there may be any."""
    boxes, confidences = found
    large_px = LARGE_PX / min(net.card.input[0] / picture.shape[1], net.card.input[1] / picture.shape[0])
    if not (_heights(boxes) >= large_px).any():
        return found
    more, their_confidences = net.search(picture, smaller, at_least=HINT_FROM)
    large = _heights(more) >= large_px
    return np.concatenate([boxes, more[large]]), np.concatenate([confidences, their_confidences[large]])


def _heights(boxes: Boxes) -> Tensor:
    return boxes[:, 3] - boxes[:, 1]
