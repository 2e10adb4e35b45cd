"""Answers drawn over pictures: legible, inside the picture, over nobody's face."""

from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker_client.preview.overlay import (
    BODY,
    FACE,
    GAZE,
    UNSEEN,
    Box,
    Caption,
    covered_px,
    describe_person,
    draw_answer,
    place_label,
    with_colours,
)

WIDTH, HEIGHT = 640, 480
TAKEN_AT = datetime(2026, 11, 1, 9, tzinfo=timezone.utc)


def person(**other: Any) -> dict[str, Any]:
    """As the server answers."""
    return {
        "face_roi": [300, 150, 60, 70],
        "face_confidence": 0.9,
        "face_eye": [[318, 175], [342, 176]],
        "gaze": [0.5, 0.2],
        "full_body_roi": [260, 120, 150, 340],
        "age": 34.4,
        "age_confidence": 0.8,
        "gender": "female",
        "gender_confidence": 0.9,
        **{f"emotion_{name}": 0.0 for name in ("neutral", "surprise", "anger", "sadness")},
        "emotion_happiness": 1.0,
        **other,
    }


def drawn(answer: dict[str, Any], *, brightness: int = 128, caption: str = "") -> Any:
    picture = with_colours(np.full((HEIGHT, WIDTH), brightness, np.uint8))
    draw_answer(picture, answer, caption)
    return picture


def count(picture: Any, colour: tuple[int, int, int]) -> int:
    return int((abs(picture.astype(int) - colour) < 25).all(axis=2).sum())


@pytest.mark.parametrize("brightness", [0, 128, 255])
def test_face_body_and_gaze_have_their_colours_on_dark_and_light(brightness: int) -> None:
    picture = drawn({"entities": {"a": person()}, "bodies": {}}, brightness=brightness)
    for colour in (FACE, BODY, GAZE):
        assert count(picture, colour) > 40


def test_a_face_that_is_not_seen_now_is_grey_and_has_no_gaze() -> None:
    picture = drawn({"entities": {"a": person(face_confidence=0)}, "bodies": {}})
    assert count(picture, UNSEEN) > 40
    assert count(picture, FACE) == count(picture, GAZE) == count(picture, BODY) == 0


def test_a_body_without_a_face_is_drawn() -> None:
    assert count(drawn({"entities": {}, "bodies": {"b": {"full_body_roi": [10, 10, 100, 300]}}}), BODY) > 200


def test_nobody_and_no_caption_leave_the_picture_as_it_is() -> None:
    assert (drawn({"entities": {}}) == 128).all()


def test_the_picture_that_was_sent_is_not_drawn_into() -> None:
    sent = np.full((HEIGHT, WIDTH, 3), 90, np.uint8)
    draw_answer(with_colours(sent), {"entities": {"a": person()}}, "9:00")
    assert (sent == 90).all()


@pytest.mark.parametrize("box", [[-30, -20, 80, 90], [600, 440, 80, 90], [0, 0, 640, 480], [630, 470, 2, 2]])
def test_faces_at_the_edge_and_beyond_can_be_drawn(box: list[int]) -> None:
    eyes = [[box[0], box[1]], [box[0] + box[2], box[1]]]
    drawn({"entities": {"a": person(face_roi=box, face_eye=eyes, full_body_roi=box)}}, caption="9:00")


@pytest.mark.parametrize(
    ("who", "lines"),
    [
        ({}, ("female 34", "happy")),
        ({"gender_confidence": 0.3}, ("female? 34", "happy")),
        ({"gender": "unknown", "gender_confidence": 0}, ("34", "happy")),
        ({"age": 0.0, "age_confidence": 0}, ("female", "happy")),
        ({"age": 0.2, "age_confidence": 0.8}, ("female 0", "happy")),
        ({"age_confidence": 0, "gender_confidence": 0}, ("female? 34", "happy")),
        ({"gender": "unknown", "age": 0.0, "age_confidence": 0, "emotion_happiness": 0.0}, ()),
        ({"emotion_neutral": 2.0}, ("female 34", "neutral")),
    ],
)
def test_a_label_says_what_is_known(who: dict[str, Any], lines: tuple[str, ...]) -> None:
    assert describe_person(person(**who)) == lines


boxes = st.tuples(st.integers(-50, 640), st.integers(-50, 480), st.integers(5, 200), st.integers(5, 200))


@given(boxes, st.lists(boxes, max_size=4))
def test_a_label_is_inside_the_picture_and_covers_no_more_than_it_must(face: Box, others: list[Box]) -> None:
    place = place_label(face, (90, 37), (WIDTH, HEIGHT), others)
    assert 0 <= place[0] <= WIDTH - 90
    assert 0 <= place[1] <= HEIGHT - 37
    beneath = (max(0, min(face[0], WIDTH - 90)), max(0, min(face[1] + face[3] + 4, HEIGHT - 37)), 90, 37)
    assert covered_px(place, [face, *others]) <= covered_px(beneath, [face, *others])


def test_labels_of_a_group_cover_no_face_and_no_other_label() -> None:
    faces = [(100 + 80 * number, 200, 60, 70) for number in range(5)]
    taken: list[Box] = list(faces)
    for face in faces:
        place = place_label(face, (90, 37), (WIDTH, HEIGHT), taken)
        assert covered_px(place, taken) == 0
        taken.append(place)


def test_the_caption_of_a_camera_has_time_rate_age_and_people() -> None:
    caption = Caption(clock=lambda: TAKEN_AT.timestamp() + 3.085)
    for number in range(31):
        taken_at = TAKEN_AT + timedelta(seconds=number / 10)
        text = caption.read({"timestamp": taken_at.isoformat(), "entities": {"a": {}}, "bodies": {"b": {}}})
    assert text.split("   ") == ["09:00:03", "10 fps", "85 ms", "2 people"]


def test_the_caption_of_a_recording_has_no_age() -> None:
    text = Caption().read({"timestamp": "2026-11-01T09:00:00+01:00", "entities": {"a": {}}})
    assert text.split("   ") == ["09:00:00", "0 fps", "1 person"]
