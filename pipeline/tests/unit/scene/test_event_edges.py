"""Events at few frames a second, over missed sightings, and for people of whom little is sure."""

import pytest

import staging
from onlooker_pipeline.scene.request_options import SceneOptions
from onlooker_pipeline.tracking.boxes import Box
from onlooker_pipeline.vision.persons import PersonBox as Body
from staging import HEIGHT, WIDTH, Actor, Stage, StagedVision


@pytest.mark.parametrize("gap_ms", [67, 200, 333, 400, 500])
def test_focus_is_raised_once_at_any_rate(gap_ms: int) -> None:
    stage = Stage()
    stage.play(Actor(), until_ms=6_000, gap_ms=gap_ms)
    assert len(stage.raised("focus_locked")) == 1


def test_one_missed_sighting_does_not_raise_focus_again() -> None:
    stage = Stage()
    stage.play(Actor(), until_ms=3_000)
    stage.show(3_000)
    stage.play(Actor(), since_ms=3_100, until_ms=6_000)
    assert len(stage.raised("focus_locked")) == 1


def test_appearance_comes_at_last_at_sensitivity_zero() -> None:
    stage = Stage(SceneOptions(sensitivity={"appearance": 0.0}))
    stage.play(Actor(size=110, confidence=0.7), until_ms=3_000)
    assert stage.raised("appearance")


@pytest.mark.parametrize(
    ("options", "member"),
    [(SceneOptions(reads_age=False), "age_years"), (SceneOptions(reads_gender=False), "male_probability")],
)
def test_what_is_switched_off_is_not_in_the_state(options: SceneOptions, member: str) -> None:
    stage = Stage(options)
    stage.play(Actor(age_years=37, male_probability=0.03), until_ms=3_000)
    assert stage.state is not None
    (person,) = stage.state.people.values()
    assert person.profile.readings > 0
    assert getattr(person.profile, member) is None


class Unsure(StagedVision):
    """A picture whose bodies are found with a low confidence."""

    def bodies(self) -> list[Body]:
        return [Body(body.left, body.top, body.right, body.bottom, 0.45) for body in super().bodies()]


def test_a_body_of_low_confidence_appears_with_its_face(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "StagedVision", Unsure)
    stage = Stage()
    for at_ms in range(0, 5_100, 100):
        actor = Actor(x=100 + 0.1 * at_ms, has_face=at_ms == 5_000)
        stage.show(at_ms, actor, moved=[Box(0, 0, WIDTH, HEIGHT)])
    assert stage.raised("appearance") == [5_000]
