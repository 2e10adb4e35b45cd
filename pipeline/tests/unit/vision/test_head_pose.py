"""Where a head is and faces, and where its eyes look: known heads are projected, and must be found again."""

import math

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker_pipeline.vision.gaze import CORNERS, EYEBALL_DEPTH_CM, EYEBALL_RADIUS_CM, Irises, read_gaze
from onlooker_pipeline.vision.head_pose import (
    Camera,
    Direction,
    Head,
    Landmarks,
    Matrix,
    face_of_known_size,
    locate_head,
)

CAMERA = Camera.of_picture(640, 480)
angles = st.floats(-0.9, 0.9)
places = st.tuples(st.floats(-20, 20), st.floats(-12, 12), st.floats(45, 250))
far_places = st.tuples(st.floats(-300, 300), st.floats(-200, 200), st.floats(600, 2500))


def head_at(place: tuple[float, float, float], *, yaw: float, pitch: float, roll: float) -> Head:
    """Turned by yaw and pitch away from the camera's axis, then tilted."""
    forwards = np.array([math.sin(yaw) * math.cos(pitch), -math.sin(pitch), -math.cos(yaw) * math.cos(pitch)])
    level = np.array([math.cos(yaw), 0.0, math.sin(yaw)])
    down = np.cross(-forwards, level)
    sideways = math.cos(roll) * level + math.sin(roll) * down
    return Head(np.column_stack([sideways, np.cross(-forwards, sideways), -forwards]), np.array(place))


def seen_by(camera: Camera, points: Matrix) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    pixels, _ = cv2.projectPoints(points, np.zeros(3), np.zeros(3), camera.matrix, None)
    return np.asarray(pixels.reshape(-1, 2), np.float32)


@given(place=places, yaw=angles, pitch=st.floats(-0.6, 0.6), roll=st.floats(-0.6, 0.6))
def test_a_projected_head_is_found_where_it_was(
    place: tuple[float, float, float], yaw: float, pitch: float, roll: float
) -> None:
    true = head_at(place, yaw=yaw, pitch=pitch, roll=roll)
    mesh = Landmarks(seen_by(CAMERA, face_of_known_size() @ true.rotation.T + true.position_cm), 1.0)
    found = locate_head(mesh, CAMERA)
    assert found.direction.yaw_radians == pytest.approx(yaw, abs=0.02)
    assert found.direction.pitch_radians == pytest.approx(pitch, abs=0.02)
    assert found.roll_radians == pytest.approx(true.roll_radians, abs=0.02)
    assert found.position_cm == pytest.approx(np.array(place), abs=0.02 * place[2])


@given(place=far_places, yaw=st.floats(-0.5, 0.5))
def test_a_head_of_a_few_pixels_in_a_large_picture_is_found_too(place: tuple[float, float, float], yaw: float) -> None:
    camera = Camera.of_picture(1920, 1080)
    true = head_at(place, yaw=yaw, pitch=0, roll=0)
    mesh = Landmarks(seen_by(camera, face_of_known_size() @ true.rotation.T + true.position_cm), 1.0)
    found = locate_head(mesh, camera)
    assert found.direction.yaw_radians == pytest.approx(yaw, abs=0.1)
    assert found.position_cm[2] == pytest.approx(place[2], rel=0.1)


@given(place=places, yaw=st.floats(-0.5, 0.5), turn=st.floats(-0.3, 0.3), lift=st.floats(-0.25, 0.25))
def test_projected_eyes_look_where_they_looked(
    place: tuple[float, float, float], yaw: float, turn: float, lift: float
) -> None:
    head = head_at(place, yaw=yaw, pitch=0, roll=0)
    look = Direction(yaw + turn, lift)
    along = np.array(
        [
            math.sin(look.yaw_radians) * math.cos(look.pitch_radians),
            -math.sin(look.pitch_radians),
            -math.cos(look.yaw_radians) * math.cos(look.pitch_radians),
        ]
    )
    irises = []
    for corners in CORNERS:
        eyeball = face_of_known_size()[list(corners)].mean(axis=0) + [0, 0, EYEBALL_DEPTH_CM]  # noqa: RUF005
        irises.append(
            seen_by(CAMERA, (head.rotation @ eyeball + head.position_cm + EYEBALL_RADIUS_CM * along)[None])[0]
        )
    found = read_gaze(head, Irises(irises[0], irises[1]), CAMERA)
    assert found.yaw_radians == pytest.approx(look.yaw_radians, abs=0.03)
    assert found.pitch_radians == pytest.approx(look.pitch_radians, abs=0.03)


@given(place=places)
def test_a_head_that_faces_the_camera_faces_it_from_every_place(place: tuple[float, float, float]) -> None:
    head = head_at(place, yaw=0, pitch=0, roll=0)
    x, y, z = place
    assert head.towards_camera.yaw_radians == pytest.approx(math.atan2(-x, z))
    assert math.copysign(1, head.towards_camera.pitch_radians) == math.copysign(1, y) or y == pytest.approx(0)
