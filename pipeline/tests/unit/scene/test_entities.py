"""Entities as the historic clients read them: every member, always."""

import uuid

import pytest

from onlooker_pipeline.scene.entities import describe_bodies
from onlooker_pipeline.scene.state import encode_scene
from onlooker_pipeline.tracking.boxes import Box
from staging import HEIGHT, WIDTH, Actor, Stage

MEMBERS = {
    *("face_roi", "face_roi_confidence", "full_body_roi", "full_body_roi_confidence"),
    *("age", "age_confidence", "gender", "gender_confidence"),
    *("emotion_anger", "emotion_surprise", "emotion_sadness", "emotion_neutral", "emotion_happiness"),
    *("emotion_smiling_degree", "emotion_confidence"),
    *("face_eye", "face_mouth", "face_nose", "face_confidence"),
    *("gaze", "gaze_confidence", "head", "head_confidence", "direction"),
}
CONFIDENCES = {name for name in MEMBERS if name.endswith("confidence")}


def test_entity_has_every_member_of_the_interface() -> None:
    (entity,) = Stage().play(Actor(), until_ms=2_000).values()
    assert set(entity) == MEMBERS
    assert all(0 <= entity[name] <= 1 for name in CONFIDENCES)
    assert entity["gender"] == "female"
    assert entity["age"] == pytest.approx(Actor().age_years, abs=0.1)
    assert entity["direction"] == "unknown"


def test_places_are_pixels_of_the_picture() -> None:
    actor = Actor(x=200, y=150, size=70)
    (entity,) = Stage().play(actor, until_ms=2_000).values()
    assert entity["face_roi"] == [172, 115, 56, 70]
    assert entity["face_nose"] == [200, 157]
    assert entity["face_mouth"] == [200, 171]
    assert entity["face_eye"] == [[186, 143], [214, 143]]
    left, top, width, height = entity["full_body_roi"]
    assert 0 <= left < left + width <= WIDTH
    assert 0 <= top < top + height <= HEIGHT


def test_angles_are_radians_against_the_camera_plane() -> None:
    (entity,) = Stage().play(Actor(x=320, y=240, yaw=20, pitch=-10), until_ms=1_000).values()
    assert entity["head"] == pytest.approx([0.349, -0.175, 0], abs=0.002)
    assert entity["gaze"] == pytest.approx([0.349, -0.175], abs=0.002)


def test_who_is_not_visible_keeps_the_last_values_with_confidence_zero() -> None:
    stage = Stage()
    (before,) = stage.play(Actor(), until_ms=2_000).values()
    (after,) = stage.show(2_100).values()
    assert set(after) == MEMBERS
    assert {name: after[name] for name in CONFIDENCES} == dict.fromkeys(CONFIDENCES, 0)
    last_known = MEMBERS - CONFIDENCES
    assert {name: after[name] for name in last_known} == {name: before[name] for name in last_known}


def test_person_is_shown_once_confirmed_and_until_gone() -> None:
    stage = Stage()
    shown = [len(stage.show(at_ms, Actor())) for at_ms in range(0, 1_000, 100)]
    assert shown == [0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
    shown = [len(stage.show(at_ms)) for at_ms in range(1_000, 10_000, 100)]
    assert shown == sorted(shown, reverse=True)
    assert shown[0] == 1
    assert shown[-1] == 0


def test_id_is_one_uuid_for_the_whole_visit() -> None:
    stage = Stage()
    names = {name for at_ms in range(0, 5_000, 100) for name in stage.show(at_ms, Actor(x=150 + 0.05 * at_ms))}
    (name,) = names
    assert str(uuid.UUID(name)) == name


def test_an_entity_does_not_lead_to_its_visit() -> None:
    """Without the scene's key nobody can tell which visit an entity became."""
    stage = Stage()
    names = set(stage.play(Actor(), until_ms=3_000))
    people = {sighting.person for seen in stage.seen for frame in seen.settled for sighting in frame.sightings}
    assert len(names) == len(people) == 1
    assert not names & {str(uuid.UUID(bytes=person)) for person in people}
    assert stage.state
    assert names == {stage.state.name_of(person) for person in people}
    stage.state.names_key = bytes(16)
    assert names != {stage.state.name_of(person) for person in people}


def test_a_scene_of_an_older_release_keeps_its_names_until_nobody_is_there() -> None:
    stage = Stage()
    stage.play(Actor(), until_ms=2_000)
    assert stage.state
    stage.state.names_key = b""
    stage.packed = encode_scene(stage.state)
    people = {str(uuid.UUID(bytes=track.id)) for track in stage.state.tracks}
    assert set(stage.show(2_000, Actor())) == people
    for at_ms in range(2_100, 20_000, 100):
        stage.show(at_ms)
    assert stage.state.names_key


def test_person_whose_face_was_never_seen_is_a_body() -> None:
    stage = Stage()
    entities = {}
    for at_ms in range(0, 3_000, 100):
        actor = Actor(x=100 + 0.1 * at_ms, has_face=False)
        entities |= stage.show(at_ms, actor, moved=[Box(0, 0, WIDTH, HEIGHT)])
    assert stage.state is not None
    assert entities == {}
    (body,) = describe_bodies(stage.state).values()
    assert {"full_body_roi", "full_body_roi_confidence"} <= set(body) < MEMBERS


@pytest.mark.parametrize(("across", "down", "direction"), [(100, 0, "right"), (-100, 0, "left"), (0, 70, "down")])
def test_direction_is_where_the_person_walks(across: float, down: float, direction: str) -> None:
    stage = Stage()
    entities = {}
    for at_ms in range(0, 2_000, 100):
        entities = stage.show(at_ms, Actor(x=320 + across * at_ms / 1000, y=100 + down * at_ms / 1000, size=60))
    (entity,) = entities.values()
    assert entity["direction"] == direction


def test_shelf_that_looks_like_a_face_is_nobody() -> None:
    stage = Stage()
    assert stage.play(Actor(mesh_confidence=0.05), until_ms=10_000) == {}
    assert stage.events == []
