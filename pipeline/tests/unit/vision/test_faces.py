"""Faces found in real pictures."""

import cv2
import numpy as np
import pytest

from onlooker_pipeline.vision import faces as faces_module
from onlooker_pipeline.vision.faces import FACES_AT_MOST, find_faces
from onlooker_pipeline.vision.non_maximum_suppression import suppress_overlaps
from onlooker_pipeline.vision.picture import decode_picture
from testkit.pictures import labelled, on_a_wall, portrait


def test_a_face_is_found_where_it_hangs() -> None:
    near = find_faces(decode_picture(on_a_wall(portrait(), left=0, top=0)))
    far = find_faces(decode_picture(on_a_wall(portrait(), left=300, top=150)))
    assert len(near) == len(far) == 1
    assert far[0].left - near[0].left == pytest.approx(300, abs=3)
    assert far[0].top - near[0].top == pytest.approx(150, abs=3)
    assert far[0].left < far[0].points[0][0] < far[0].points[1][0] < far[0].right
    assert far[0].points[:2, 1].max() < far[0].points[2][1] < far[0].points[3:, 1].min()


def test_grey_and_colour_give_the_same_faces() -> None:
    colour = decode_picture(labelled("angus/Angus-24.jpg"))
    grey = np.asarray(cv2.cvtColor(colour, cv2.COLOR_BGR2GRAY), np.uint8)
    in_colour, in_grey = find_faces(colour), find_faces(grey)
    assert len(in_colour) == len(in_grey) == 3
    for one, other in zip(sorted(f.left for f in in_colour), sorted(f.left for f in in_grey), strict=True):
        assert one == pytest.approx(other, abs=8)


def test_a_photograph_shows_small_faces_and_large_ones() -> None:
    assert len(find_faces(decode_picture(labelled("angus/large.jpg")))) >= 38
    picture = decode_picture(portrait())
    huge = np.asarray(cv2.resize(picture, None, fx=12, fy=12), np.uint8)
    (face,) = find_faces(huge)
    (same,) = find_faces(picture)
    assert face.left == pytest.approx(same.left * 12, abs=0.05 * huge.shape[1])
    assert face.size_px == pytest.approx(same.size_px * 12, rel=0.1)


@pytest.mark.parametrize("shape", [(1, 1_000_000), (1_000_000, 1), (20, 1_000_000), (4_000, 5_000)])
def test_what_the_net_is_shown_is_bounded_whatever_the_shape(shape: tuple[int, int]) -> None:
    picture = np.zeros(shape, np.uint8)
    for scale in faces_module._scales(picture):
        rows, columns = (max(round(side * scale), 1) for side in shape)
        assert -(-rows // 32) * -(-columns // 32) * 32 * 32 <= 1.1 * faces_module.PHOTOGRAPH_PIXELS


@pytest.mark.parametrize("shape", [(1, 1), (3, 700), (480, 640), (31, 33, 3), (2000, 2)])
def test_nothing_is_found_where_nothing_is(shape: tuple[int, ...]) -> None:
    assert find_faces(np.full(shape, 127, np.uint8)) == []


def test_the_better_of_two_boxes_on_one_face_is_kept() -> None:
    boxes = np.array([[0, 0, 10, 10], [1, 1, 11, 11], [50, 50, 60, 60]], np.float32)
    scores = np.array([0.7, 0.9, 0.8], np.float32)
    assert suppress_overlaps(boxes, scores, overlap=0.3, limit=FACES_AT_MOST) == [1, 2]
    assert suppress_overlaps(boxes, scores, overlap=0.9, limit=FACES_AT_MOST) == [1, 2, 0]
    assert suppress_overlaps(boxes, scores, overlap=81 / 119 + 1e-6, limit=FACES_AT_MOST) == [1, 2, 0]
    assert suppress_overlaps(boxes, scores, overlap=0.9, limit=1) == [1]
    assert suppress_overlaps(boxes[:0], scores[:0], overlap=0.3, limit=1) == []
