"""What a stream has switched off is not computed at all: the nets are not even asked."""

from collections.abc import Sequence

import pytest
import staging
from staging import Actor, Stage, StagedSight

from onlooker.bus.messages import Sender
from onlooker.catalogue.scene_analysis import EVENTS
from onlooker.compute.scene.options import Options, read_options
from onlooker.compute.scene.profile import ProfileReading
from onlooker.compute.vision.faces import Face

KEEN = dict.fromkeys(EVENTS, 1.0)


class NeverAsked(Exception):
    """A net was asked for what is switched off."""


class WithoutProfile(StagedSight):
    """A picture whose ages and genders must not be read."""

    def profiles(self, faces: Sequence[Face], *, age: bool, gender: bool) -> list[ProfileReading]:
        raise NeverAsked


class WithoutExpressions(StagedSight):
    """A picture whose expressions must not be read."""

    def expressions(self, faces: Sequence[Face]) -> list[dict[str, float]]:
        raise NeverAsked


def visit(options: Options) -> tuple[Stage, dict[str, object]]:
    """Somebody looks for four seconds; also the entity as it is then."""
    stage = Stage(options)
    (entity,) = stage.play(Actor(), until_ms=4_000).values()
    return stage, entity


@pytest.mark.parametrize("sight", [WithoutProfile, WithoutExpressions])
def test_fakes_fail_when_they_are_asked(monkeypatch: pytest.MonkeyPatch, sight: type[StagedSight]) -> None:
    monkeypatch.setattr(staging, "StagedSight", sight)
    with pytest.raises(NeverAsked):
        visit(Options())


def test_without_age_and_gender_no_net_is_asked_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "StagedSight", WithoutProfile)
    stage, entity = visit(Options(stored=True, reads_age=False, reads_gender=False, sensitivity=KEEN))
    assert stage.raised("age_estimated") == stage.raised("gender_estimated") == []
    assert stage.raised("emotion_detected")
    assert (entity["age"], entity["gender"]) == (0.0, "unknown")
    assert entity["age_confidence"] == entity["gender_confidence"] == 0
    (estimate,) = stage.seen[-1].estimates.values()
    assert estimate.age is estimate.gender is None


def test_without_expression_no_net_is_asked_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "StagedSight", WithoutExpressions)
    stage, entity = visit(Options(stored=True, reads_expression=False, sensitivity=KEEN))
    assert stage.raised("emotion_detected") == []
    assert stage.raised("age_estimated")
    assert stage.raised("gender_estimated")
    assert {value for name, value in entity.items() if name.startswith("emotion_")} == {0}
    sightings = [sighting for frame in stage.seen[-1].unsettled for sighting in frame.sightings]
    assert all(sighting.looking and sighting.expression is None for sighting in sightings)


@pytest.mark.parametrize(("off", "on"), [("age", "gender"), ("gender", "age")])
def test_one_of_age_and_gender_is_told_without_the_other(off: str, on: str) -> None:
    options = Options(stored=True, sensitivity=KEEN, reads_age=off != "age", reads_gender=off != "gender")
    stage, entity = visit(options)
    assert stage.raised(f"{off}_estimated") == []
    assert len(stage.raised(f"{on}_estimated")) == 1
    unknown = {"age": 0.0, "gender": "unknown"}
    assert entity[off] == unknown[off]
    assert entity[on] != unknown[on]
    (estimate,) = stage.seen[-1].estimates.values()
    assert getattr(estimate, off) is None
    assert getattr(estimate, on) is not None


def test_switches_come_from_the_stream_and_the_rest_from_the_request() -> None:
    sender = Sender(7, reads_age=False, reads_gender=True, reads_expression=False)
    request = {"store": True, "camera_position": "ceiling", "sensitivity": {"appearance": 0.2}}
    options = read_options(request, sender)
    assert options == Options(True, True, False, True, False, {"appearance": 0.2})
    assert read_options({}, Sender()) == Options()
