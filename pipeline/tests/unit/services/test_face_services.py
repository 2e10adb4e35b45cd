"""Age, gender and expression of single faces: what a stream switched off, and faces that are hardly there."""

from collections.abc import Iterable
from typing import Any

import cv2
import numpy as np
import pytest

from onlooker_pipeline.expressions import EXPRESSIONS
from onlooker_pipeline.service_call import Call, Sender
from onlooker_pipeline.services import age_and_gender_estimation, face_expression_estimation, gaze_analysis
from onlooker_pipeline.vision import networks
from onlooker_pipeline.vision.faces import Face
from testkit.pictures import encoded, on_a_wall, photograph, portrait

NO_AGE = {"age": 0.0, "age_confidence": 0.0}
NO_GENDER = {"gender": "unknown", "gender_confidence": 0.0}
NO_EXPRESSION = dict.fromkeys(EXPRESSIONS, 0.0)
SERVICES = [age_and_gender_estimation, face_expression_estimation, gaze_analysis]
EVERYTHING = Sender()
SHOT = on_a_wall(portrait(), left=200, top=100)


class NeverAsked(Exception):
    """A net was asked for what is switched off."""


@pytest.fixture
def only_networks(monkeypatch: pytest.MonkeyPatch) -> Any:
    """From here on these networks alone can be asked."""

    def allow(*names: str) -> None:
        allowed = {name: networks.network(name) for name in names}

        def refuse(asked: Iterable[str], **_: Any) -> None:
            raise NeverAsked(*asked)

        monkeypatch.setattr(networks, "_loaded", allowed)
        monkeypatch.setattr(networks, "load_networks", refuse)

    return allow


def faces_of(service: Any, sender: Sender, state: Any = None, shot: bytes = SHOT) -> tuple[list[dict[str, Any]], Any]:
    result, state = service.compute(Call({}, {"image": shot}, in_session=True, sender=sender), state)
    return result["faces"], state


def within(face: dict[str, Any], members: dict[str, Any]) -> bool:
    return {name: face[name] for name in members} == members


@pytest.mark.parametrize("service", [age_and_gender_estimation, face_expression_estimation])
def test_a_net_that_must_not_be_asked_is_noticed(service: Any, only_networks: Any) -> None:
    only_networks("face_detect")
    with pytest.raises(NeverAsked):
        faces_of(service, EVERYTHING)


@pytest.mark.parametrize(
    ("sender", "nets", "off", "on"),
    [
        (Sender(reads_age=False), ["gender"], NO_AGE, NO_GENDER),
        (Sender(reads_gender=False), ["age"], NO_GENDER, NO_AGE),
        (Sender(reads_age=False, reads_gender=False), [], NO_AGE | NO_GENDER, None),
    ],
    ids=["age", "gender", "both"],
)
def test_age_and_gender_that_are_off_are_unknown_and_their_nets_not_asked(
    sender: Sender, nets: list[str], off: dict[str, Any], on: dict[str, Any] | None, only_networks: Any
) -> None:
    only_networks("face_detect", *nets)
    (face,), state = faces_of(age_and_gender_estimation, sender)
    (again,), _ = faces_of(age_and_gender_estimation, sender, state)
    assert within(face, off)
    assert face == again
    assert on is None or not within(face, on)


def test_expression_that_is_off_is_unknown_and_its_nets_not_asked(only_networks: Any) -> None:
    only_networks("face_detect")
    (face,), state = faces_of(face_expression_estimation, Sender(reads_expression=False))
    assert within(face, NO_EXPRESSION)
    assert not state


@pytest.mark.parametrize("then", [(False, False), (False, True), (True, False)], ids=["nothing", "gender", "age"])
@pytest.mark.parametrize("first", [(False, False), (False, True), (True, False), (True, True)])
def test_what_was_read_before_a_switch_was_flipped_is_not_told(
    first: tuple[bool, bool], then: tuple[bool, bool]
) -> None:
    """Nor taken for something else: an age is no probability."""
    before, after = (Sender(reads_age=age, reads_gender=gender) for age, gender in (first, then))
    _, state = faces_of(age_and_gender_estimation, before)
    (face,), state = faces_of(age_and_gender_estimation, after, state)
    assert face == faces_of(age_and_gender_estimation, after)[0][0]
    assert all(len(known.values) == 2 * then[0] + then[1] for known in state)
    (back,), _ = faces_of(age_and_gender_estimation, EVERYTHING, state)
    assert back == faces_of(age_and_gender_estimation, EVERYTHING)[0][0]


def test_expression_read_before_it_was_switched_off_is_not_told_nor_kept() -> None:
    (smile,), state = faces_of(face_expression_estimation, EVERYTHING)
    assert smile["happiness"] > 0.9
    (face,), state = faces_of(face_expression_estimation, Sender(reads_expression=False), state)
    assert within(face, NO_EXPRESSION)
    assert not state


def small_face(side_px: int) -> bytes:
    """The photograph, so small that its face is about so many pixels high, on a grey wall."""
    scale = side_px / 108
    small = cv2.resize(photograph(), None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    wall = np.full((480, 640, 3), 120, np.uint8)
    wall[9 : 9 + small.shape[0], 9 : 9 + small.shape[1]] = small
    return encoded(wall, ".png")


def check_kinds(members: dict[str, Any]) -> None:
    for name, value in members.items():
        if name == "gender":
            assert value in ("male", "female")
        else:
            assert np.isfinite(np.array(value, float)).all()


@pytest.mark.parametrize("side_px", [14, 16, 24])
@pytest.mark.parametrize("service", SERVICES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_of_a_tiny_face_numbers_are_numbers_and_words_are_words(service: Any, side_px: int) -> None:
    (face,), _ = faces_of(service, EVERYTHING, shot=small_face(side_px))
    assert face["roi"][3] <= side_px + 2
    check_kinds(face)


@pytest.mark.parametrize("service", SERVICES, ids=lambda module: module.__name__.rpartition(".")[2])
@pytest.mark.parametrize("side_px", [0.5, 3, 10])
@pytest.mark.parametrize("flat", [False, True], ids=["face", "all points at one place"])
def test_of_a_face_at_the_limit_of_the_detector_too(
    service: Any, side_px: float, flat: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Smaller than the detector finds one in this photograph; another may have it."""
    places = np.array([(-0.2, -0.1), (0.2, -0.1), (0, 0.1), (-0.15, 0.3), (0.15, 0.3)], np.float32)
    half, points = side_px / 2, 40 + (0 if flat else side_px) * places
    face = Face(40 - half, 40 - half, 40 + half, 40 + half, 0.7, np.asarray(points, np.float32))
    monkeypatch.setattr(service, "find_faces", lambda _: [face])
    (told,), _ = faces_of(service, EVERYTHING)
    check_kinds(told)
