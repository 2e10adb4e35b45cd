"""What is read of one real face: right, and the same in colour, in grey, in a mirror and among others."""

from typing import Any

import cv2
import msgspec
import numpy as np
import pytest

from onlooker_pipeline.expressions import EXPRESSIONS
from onlooker_pipeline.service_call import Call
from onlooker_pipeline.services import (
    age_and_gender_estimation,
    face_detection,
    face_expression_estimation,
    gaze_analysis,
)
from onlooker_pipeline.vision.age_and_gender import read_ages_and_genders
from onlooker_pipeline.vision.crops import BATCH
from onlooker_pipeline.vision.expression import read_expressions
from onlooker_pipeline.vision.faces import find_faces
from onlooker_pipeline.vision.gaze import read_directions
from onlooker_pipeline.vision.head_pose import read_landmarks
from onlooker_pipeline.vision.persons import find_persons
from onlooker_pipeline.vision.picture import Picture, as_grey
from testkit.pictures import encoded, photograph


@pytest.fixture(scope="module")
def colour() -> Picture:
    picture: Picture = photograph()
    return picture


def test_the_mesh_lies_on_the_face(colour: Picture) -> None:
    (face,) = find_faces(colour)
    (mesh,) = read_landmarks(colour, [face])
    assert mesh.confidence > 0.9
    left, top = mesh.points.min(axis=0)
    right, bottom = mesh.points.max(axis=0)
    assert (left, right) == pytest.approx((face.left, face.right), abs=0.15 * face.size_px)
    assert (top, bottom) == pytest.approx((face.top, face.bottom), abs=0.15 * face.size_px)


def test_a_mirror_turns_directions_around(colour: Picture) -> None:
    mirrored = np.ascontiguousarray(colour[:, ::-1])
    (one,) = read_directions(colour, find_faces(colour))
    (other,) = read_directions(mirrored, find_faces(mirrored))
    assert one.eyes_readable
    assert one.head.direction.yaw_radians == pytest.approx(-other.head.direction.yaw_radians, abs=0.06)
    assert one.head.roll_radians == pytest.approx(-other.head.roll_radians, abs=0.04)
    assert one.gaze.yaw_radians == pytest.approx(-other.gaze.yaw_radians, abs=0.1)
    assert one.eye_left[0] == pytest.approx(colour.shape[1] - 1 - other.eye_right[0], abs=2)


def test_a_small_face_has_no_readable_eyes_and_looks_where_its_head_faces(colour: Picture) -> None:
    small = np.asarray(cv2.resize(colour, None, fx=0.3, fy=0.3, interpolation=cv2.INTER_AREA), np.uint8)
    (face,) = find_faces(small)
    (directions,) = read_directions(small, [face])
    assert not directions.eyes_readable
    assert directions.gaze == directions.head.direction


def test_a_tiny_face_in_the_background_costs_nobody_the_result(colour: Picture) -> None:
    scene = np.full((1080, 1920, 3), 120, np.uint8)
    scene[300:780, 200:680] = colour
    tiny = np.asarray(cv2.resize(colour, None, fx=0.16, fy=0.16, interpolation=cv2.INTER_AREA), np.uint8)
    scene[200 : 200 + tiny.shape[0], 1500 : 1500 + tiny.shape[1]] = tiny
    faces = find_faces(scene)
    assert len(faces) == 2
    assert len(read_directions(scene, faces)) == len(read_ages_and_genders(scene, faces)) == 2


def test_grey_is_read_like_colour(colour: Picture) -> None:
    grey = as_grey(colour)
    faces = find_faces(colour)
    (one,), (other,) = (read_ages_and_genders(picture, faces) for picture in (colour, grey))
    assert one.age_years == pytest.approx(other.age_years, abs=6)
    assert max(one.male_probability, other.male_probability) < 0.5
    (happy,), (happy_in_grey,) = (read_expressions(picture, faces) for picture in (colour, grey))
    assert happy["happiness"] == pytest.approx(happy_in_grey["happiness"], abs=0.05)


@pytest.mark.parametrize(
    "service",
    [face_detection, gaze_analysis, age_and_gender_estimation, face_expression_estimation],
    ids=lambda module: module.__name__.rpartition(".")[2],
)
def test_a_session_of_another_release_is_begun_anew(colour: Picture, service: Any) -> None:
    """A state with too many values a face, at the very place where the face is."""
    call = Call({}, {"image": encoded(colour)}, in_session=True)
    expected, state = service.compute(call, None)
    foreign = [msgspec.structs.replace(face, values=(1.0,) * 9, readings=3) for face in state]
    assert service.compute(call, foreign)[0] == expected


def test_an_expression_is_shares_of_one_and_hers_is_a_smile(colour: Picture) -> None:
    (shares,) = read_expressions(colour, find_faces(colour))
    assert tuple(shares) == EXPRESSIONS
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["happiness"] > 0.9


@pytest.mark.parametrize("count", [0, 2, BATCH, BATCH + 1])
def test_each_of_many_faces_is_read_as_if_alone(colour: Picture, count: int) -> None:
    """One picture is asked about the same face again and again: the answers are alike, in and between batches."""
    (face,) = find_faces(colour)
    faces = [face] * count
    (age,) = read_ages_and_genders(colour, [face])
    assert [r.age_years for r in read_ages_and_genders(colour, faces)] == pytest.approx(
        [age.age_years] * count, abs=0.01
    )
    (shares,) = read_expressions(colour, [face])
    assert [s["happiness"] for s in read_expressions(colour, faces)] == pytest.approx([shares["happiness"]] * count)
    (directions,) = read_directions(colour, [face])
    yaws = [d.gaze.yaw_radians for d in read_directions(colour, faces)]
    assert yaws == pytest.approx([directions.gaze.yaw_radians] * count, abs=1e-3)


def test_one_person_is_found_by_her_body(colour: Picture) -> None:
    (person,) = find_persons(colour)
    (face,) = find_faces(colour)
    assert person.left < face.left < face.right < person.right
    assert person.top < face.top
    assert person.bottom > 0.9 * colour.shape[0]
    assert find_persons(np.full((480, 640), 120, np.uint8)) == []
    assert find_persons(np.full((1, 3000), 120, np.uint8)) == []
