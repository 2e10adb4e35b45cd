"""Looking, for a camera on the ceiling: who looks below it may look at the screen."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker_pipeline.scene.request_options import SceneOptions
from onlooker_pipeline.vision.eye_contact import CEILING_DROP_RADIANS, EyeContact, judge_eye_contact
from onlooker_pipeline.vision.head_pose import Direction
from staging import Actor, Stage

CEILING = SceneOptions(stored=True, from_ceiling=True)


def judge(yaw: float, pitch: float, *, camera_pitch: float = 0.0, from_ceiling: bool = True) -> EyeContact:
    """In degrees."""
    head = Direction(math.radians(yaw), math.radians(pitch))
    camera = Direction(0.0, math.radians(camera_pitch))
    return judge_eye_contact(head, head, towards_camera=camera, face_px=80, from_ceiling=from_ceiling)


@pytest.mark.parametrize(
    ("yaw", "pitch", "facing", "ceiling"),
    [
        (0, 0, True, True),
        (0, -30, False, True),
        (0, -60, False, True),
        (0, -80, False, False),
        (0, 20, False, False),
        (30, 0, False, False),
        (40, -30, False, False),
        (180, 0, False, False),
    ],
)
def test_ceiling_forgives_looking_down_and_nothing_else(yaw: float, pitch: float, facing: bool, ceiling: bool) -> None:
    assert judge(yaw, pitch, from_ceiling=False).at_camera is facing
    assert judge(yaw, pitch).at_camera is ceiling


def test_level_look_under_a_camera_high_above_is_at_the_screen() -> None:
    assert judge(0, 0, camera_pitch=50).at_camera
    assert not judge(0, 0, camera_pitch=50, from_ceiling=False).at_camera


@given(yaw=st.floats(-180, 180), pitch=st.floats(-85, 85), camera_pitch=st.floats(-20, 70))
def test_who_looks_at_a_facing_camera_looks_at_one_on_the_ceiling_too(
    yaw: float, pitch: float, camera_pitch: float
) -> None:
    if judge(yaw, pitch, camera_pitch=camera_pitch, from_ceiling=False).at_camera:
        assert judge(yaw, pitch, camera_pitch=camera_pitch).at_camera


@given(below=st.floats(0, math.degrees(CEILING_DROP_RADIANS)), camera_pitch=st.floats(0, 25))
def test_straight_below_is_as_good_as_straight_at_it(below: float, camera_pitch: float) -> None:
    verdict = judge(0, camera_pitch - below, camera_pitch=camera_pitch)
    assert verdict.angle_radians == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(("options", "looking"), [(SceneOptions(stored=True), False), (CEILING, True)])
def test_camera_position_of_the_request_decides(options: SceneOptions, looking: bool) -> None:
    stage = Stage(options)
    stage.play(Actor(pitch=-30), until_ms=3_000)
    assert {s.looking for frame in stage.seen[-1].settled for s in frame.sightings} == {looking}
    assert bool(stage.raised("focus_locked")) is looking
