"""The seven events: each once, as soon as it is sure enough, and none of what a stream has switched off."""

from collections import Counter

import pytest

from onlooker_pipeline.catalogue.scene_analysis import EVENTS
from onlooker_pipeline.scene.request_options import SceneOptions
from onlooker_pipeline.tracking.boxes import Box
from staging import HEIGHT, MERRY, WIDTH, Actor, Stage

KEYS = {
    "appearance": "face_roi",
    "disappearance": "face_roi",
    "age_estimated": "age",
    "gender_estimated": "gender",
    "focus_locked": "gaze",
    "emotion_detected": "emotion_neutral",
    "direction_estimated": "direction",
}
NEVER = 10**9


def visit(options: SceneOptions | None = None) -> Stage:
    """Somebody walks in from the left for three seconds, stands and looks for eleven, turns away, and is gone."""
    stage = Stage(options or SceneOptions())
    for at_ms in range(0, 3_000, 100):
        stage.show(at_ms, Actor(x=50 + 0.1 * at_ms, yaw=40, confidence=0.99))
    stage.play(Actor(x=350, confidence=0.99), since_ms=3_000, until_ms=14_000)
    stage.play(Actor(x=350, yaw=40, confidence=0.99), since_ms=14_000, until_ms=15_000)
    for at_ms in range(15_000, 22_000, 100):
        stage.show(at_ms)
    return stage


def first_of(stage: Stage, name: str) -> int:
    return min(stage.raised(name), default=NEVER)


def test_each_of_the_seven_is_raised_once() -> None:
    stage = visit()
    assert Counter(name for _, name, _ in stage.events) == dict.fromkeys(EVENTS, 1)
    assert {name: event["key"] for _, name, event in stage.events} == KEYS


def test_all_events_of_a_visit_name_the_same_entity() -> None:
    stage = visit()
    assert len({event["entity_id"] for _, _, event in stage.events}) == 1
    assert {event["entity_type"] for _, _, event in stage.events} == {"human"}
    assert all(0.5 <= event["confidence"] <= 1 for _, _, event in stage.events)
    assert all(set(event) == {"entity_id", "entity_type", "type", "confidence", "key"} for _, _, event in stage.events)


def test_visit_begins_with_appearance_and_ends_with_disappearance() -> None:
    names = [name for _, name, _ in visit().events]
    assert names[0] == "appearance"
    assert names[-1] == "disappearance"


@pytest.mark.parametrize("name", EVENTS)
def test_more_sensitive_is_never_later(name: str) -> None:
    times = [first_of(visit(SceneOptions(sensitivity={name: value})), name) for value in (0.0, 0.5, 1.0)]
    assert times == sorted(times, reverse=True)
    assert times[1] != NEVER


@pytest.mark.parametrize("name", ["focus_locked", "disappearance"])
def test_time_is_what_sensitivity_saves(name: str) -> None:
    blunt, middle, keen = (first_of(visit(SceneOptions(sensitivity={name: value})), name) for value in (0.0, 0.5, 1.0))
    assert keen < middle < blunt < NEVER


def test_sensitivity_of_one_event_leaves_the_others_alone() -> None:
    plain, keen = visit(), visit(SceneOptions(sensitivity={"focus_locked": 1.0}))
    others = [name for name in EVENTS if name != "focus_locked"]
    assert [plain.raised(name) for name in others] == [keen.raised(name) for name in others]


def test_needed_confidence_falls_from_nine_tenths_to_one() -> None:
    needed = [SceneOptions(sensitivity={"appearance": value}).needed("appearance") for value in (0.0, 0.5, 1.0)]
    assert needed == pytest.approx([0.9, 0.5, 0.1])
    assert SceneOptions().needed("appearance") == pytest.approx(0.5)


def test_focus_is_raised_again_after_a_look_away() -> None:
    stage = Stage()
    stage.play(Actor(), until_ms=3_000)
    stage.play(Actor(yaw=40), since_ms=3_000, until_ms=5_000)
    stage.play(Actor(), since_ms=5_000, until_ms=8_000)
    first, second = stage.raised("focus_locked")
    assert first == 1_000
    assert second == 6_000


def test_emotion_is_raised_again_when_it_changes() -> None:
    stage = Stage()
    stage.play(Actor(), until_ms=3_000)
    stage.play(Actor(mood=MERRY), since_ms=3_000, until_ms=8_000)
    keys = [event["key"] for _, name, event in stage.events if name == "emotion_detected"]
    assert keys == ["emotion_neutral", "emotion_happiness"]


def test_turning_round_is_another_direction() -> None:
    stage = Stage()
    for at_ms in range(0, 3_000, 100):
        stage.show(at_ms, Actor(x=100 + 0.12 * at_ms))
    for at_ms in range(3_000, 6_000, 100):
        stage.show(at_ms, Actor(x=460 - 0.12 * (at_ms - 3_000)))
    assert len(stage.raised("direction_estimated")) == 2


def test_who_disappeared_and_comes_back_as_the_same_appears_again() -> None:
    stage = Stage(SceneOptions(sensitivity={"disappearance": 1.0}))
    stage.play(Actor(), until_ms=2_000)
    for at_ms in range(2_000, 4_000, 100):
        stage.show(at_ms)
    stage.play(Actor(), since_ms=4_000, until_ms=5_000)
    assert len(stage.raised("appearance")) == 2
    assert len(stage.raised("disappearance")) == 1
    assert len({event["entity_id"] for _, _, event in stage.events}) == 1


def test_blip_raises_nothing() -> None:
    stage = Stage(SceneOptions(sensitivity=dict.fromkeys(EVENTS, 1.0)))
    stage.show(0, Actor())
    stage.show(100, Actor())
    for at_ms in range(200, 5_000, 100):
        stage.show(at_ms)
    assert stage.events == []


KEEN = SceneOptions(sensitivity=dict.fromkeys(EVENTS, 1.0))


def test_body_alone_raises_nothing() -> None:
    stage = Stage(KEEN)
    for at_ms in range(0, 4_000, 100):
        stage.show(at_ms, Actor(x=100 + 0.1 * at_ms, has_face=False), moved=[Box(0, 0, WIDTH, HEIGHT)])
    stage.play(since_ms=4_000, until_ms=20_000)
    assert stage.events == []


def test_body_appears_when_its_face_is_first_seen() -> None:
    stage = Stage(KEEN)
    for at_ms in range(0, 4_500, 100):
        actor = Actor(x=100 + 0.1 * at_ms, has_face=at_ms >= 4_000)
        entities = stage.show(at_ms, actor, moved=[Box(0, 0, WIDTH, HEIGHT)])
        assert len(entities) == (at_ms >= 4_000)
    assert stage.events[0][:2] == (4_000, "appearance")
    assert stage.raised("appearance") == [4_000]


def test_who_disappears_is_shown_once_more_and_then_no_more() -> None:
    stage = Stage()
    stage.play(Actor(), until_ms=2_000)
    shown = {at_ms: stage.show(at_ms) for at_ms in range(2_000, 10_000, 100)}
    (gone_ms,) = stage.raised("disappearance")
    (entity,) = shown[gone_ms].values()
    assert {entity[name] for name in entity if name.endswith("confidence")} == {0}
    assert [at_ms for at_ms, entities in shown.items() if entities] == list(range(2_000, gone_ms + 1, 100))


def test_nothing_is_said_of_a_person_before_they_appear() -> None:
    """Though an age may be sure enough for its own sensitivity."""
    sensitivity = dict.fromkeys(EVENTS, 1.0) | {"appearance": 0.0}
    stage = Stage(SceneOptions(sensitivity=sensitivity))
    shown = [len(stage.show(at_ms, Actor(confidence=0.66))) for at_ms in (0, 500, 1_000, 1_500)]
    assert shown == [0, 0, 1, 1]
    assert stage.events[0][:2] == (1_000, "appearance")
    assert len(stage.raised("age_estimated")) == 1
