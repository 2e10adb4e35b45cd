"""The local feed judges looks from angles; the pipeline's own rule is the oracle."""

import math

from hypothesis import assume, given
from hypothesis import strategies as st
from onlooker.metrics.definitions import AGE_BANDS
from onlooker_pipeline.vision.eye_contact import LIMIT_RADIANS, judge_eye_contact
from onlooker_pipeline.vision.head_pose import Direction

from onlooker_client.device import audience
from onlooker_client.device.audience import looks_at_camera

WIDTH, HEIGHT = 640, 480
ANGLES = st.floats(-1.4, 1.4)


@given(head=st.tuples(ANGLES, ANGLES), gaze=st.tuples(ANGLES, ANGLES), x=st.integers(0, 600), y=st.integers(0, 440))
def test_looks_are_judged_as_the_pipeline_judges_them(
    head: "tuple[float, float]", gaze: "tuple[float, float]", x: int, y: int
) -> None:
    member = {"face_roi": [x, y, 40, 40], "head": [*head, 0.0], "head_confidence": 0.7}
    member |= {"gaze": list(gaze), "gaze_confidence": 0.7}
    towards = Direction(math.atan((WIDTH / 2 - x - 20) / WIDTH), math.atan((y + 20 - HEIGHT / 2) / WIDTH))
    for from_ceiling in (False, True):
        judged = judge_eye_contact(
            Direction(*head), Direction(*gaze), towards_camera=towards, face_px=40, from_ceiling=from_ceiling
        )
        assume(abs(judged.angle_radians - LIMIT_RADIANS) > 1e-9)
        assert looks_at_camera(member, [HEIGHT, WIDTH], from_ceiling=from_ceiling) == judged.at_camera


def test_bands_are_those_of_the_metrics() -> None:
    assert audience.AGE_BANDS == AGE_BANDS
