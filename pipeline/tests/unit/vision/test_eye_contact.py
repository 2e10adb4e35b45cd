"""Looking at the camera or not."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker_pipeline.vision.eye_contact import LIMIT_RADIANS, EyeContact, judge_eye_contact
from onlooker_pipeline.vision.head_pose import Direction

AHEAD = Direction(0.0, 0.0)
ANGLES = st.floats(-1.2, 1.2)


def turned(yaw: float, pitch: float = 0.0) -> Direction:
    """In degrees."""
    return Direction(math.radians(yaw), math.radians(pitch))


def judge(
    head: Direction, gaze: Direction | None = None, *, camera: Direction = AHEAD, face_px: float = 80.0
) -> EyeContact:
    return judge_eye_contact(head, gaze or head, towards_camera=camera, face_px=face_px)


@pytest.mark.parametrize(
    ("head", "at_camera"),
    [
        (turned(0), True),
        (turned(14), True),
        (turned(-14), True),
        (turned(16), False),
        (turned(0, 16), False),
        (turned(0, -14), True),
        (turned(12, 12), False),
        (turned(90), False),
        (turned(180), False),
    ],
)
def test_head_within_fifteen_degrees_looks(head: Direction, at_camera: bool) -> None:
    assert judge(head).at_camera is at_camera


def test_face_at_the_edge_looks_when_it_turns_to_the_camera() -> None:
    camera = turned(-25)
    assert judge(turned(-25), camera=camera).at_camera
    assert not judge(turned(0), camera=camera).at_camera


def test_eyes_nudge_a_head_near_the_limit() -> None:
    assert not judge(turned(17), turned(17)).at_camera
    assert judge(turned(17), turned(0)).at_camera
    assert judge(turned(13), turned(13)).at_camera
    assert not judge(turned(13), turned(30)).at_camera


def test_eyes_alone_decide_nothing() -> None:
    assert not judge(turned(40), turned(0)).at_camera
    assert judge(turned(0), turned(40)).at_camera


def test_confidence_grows_with_the_distance_from_the_limit() -> None:
    confidences = [judge(turned(yaw)).confidence for yaw in (15, 20, 30, 60)]
    assert confidences[0] == pytest.approx(0.5, abs=1e-6)
    assert confidences == sorted(confidences)
    assert confidences[-1] > 0.99
    assert judge(turned(0)).confidence > 0.99


def test_small_face_is_judged_less_surely() -> None:
    near, far = judge(turned(20), face_px=80), judge(turned(20), face_px=20)
    assert near.at_camera is far.at_camera is False
    assert 0.5 < far.confidence < near.confidence


def test_gaze_is_taken_the_short_way_round() -> None:
    assert judge(turned(179), turned(-179), camera=turned(180)).at_camera


@given(yaw=ANGLES, pitch=ANGLES, camera_yaw=ANGLES, camera_pitch=ANGLES, face_px=st.floats(0, 500))
def test_verdict_is_the_same_in_a_mirror(
    yaw: float, pitch: float, camera_yaw: float, camera_pitch: float, face_px: float
) -> None:
    one = judge(Direction(yaw, pitch), camera=Direction(camera_yaw, camera_pitch), face_px=face_px)
    other = judge(Direction(-yaw, pitch), camera=Direction(-camera_yaw, camera_pitch), face_px=face_px)
    assert one == other
    assert one.at_camera is (one.angle_radians <= LIMIT_RADIANS)
    assert 0.5 <= one.confidence <= 1
