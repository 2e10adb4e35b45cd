"""What a stream has switched off is never computed, and frames with impossible times are refused."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

import staging
from onlooker_pipeline.catalogue.scene_analysis import EVENTS
from onlooker_pipeline.frame_time import FrameClock
from onlooker_pipeline.scene.face_attributes import ProfileReading
from onlooker_pipeline.scene.request_options import SceneOptions, check_timestamp, read_options
from onlooker_pipeline.service_call import Call, ComputeError, Sender
from onlooker_pipeline.vision.faces import Face
from staging import Actor, Stage, StagedVision

KEEN = dict.fromkeys(EVENTS, 1.0)


class NeverAsked(Exception):
    """A net was asked for what is switched off."""


class WithoutProfile(StagedVision):
    """A picture whose ages and genders must not be read."""

    def profiles(self, faces: Sequence[Face], *, age: bool, gender: bool) -> list[ProfileReading]:
        raise NeverAsked


class WithoutExpressions(StagedVision):
    """A picture whose expressions must not be read."""

    def expressions(self, faces: Sequence[Face]) -> list[dict[str, float]]:
        raise NeverAsked


def visit(options: SceneOptions) -> tuple[Stage, dict[str, object]]:
    """Somebody looks for four seconds; also the entity as it is then."""
    stage = Stage(options)
    (entity,) = stage.play(Actor(), until_ms=4_000).values()
    return stage, entity


@pytest.mark.parametrize("sight", [WithoutProfile, WithoutExpressions])
def test_fakes_fail_when_they_are_asked(monkeypatch: pytest.MonkeyPatch, sight: type[StagedVision]) -> None:
    monkeypatch.setattr(staging, "StagedVision", sight)
    with pytest.raises(NeverAsked):
        visit(SceneOptions())


def test_without_age_and_gender_no_net_is_asked_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "StagedVision", WithoutProfile)
    stage, entity = visit(SceneOptions(stored=True, reads_age=False, reads_gender=False, sensitivity=KEEN))
    assert stage.raised("age_estimated") == stage.raised("gender_estimated") == []
    assert stage.raised("emotion_detected")
    assert (entity["age"], entity["gender"]) == (0.0, "unknown")
    assert entity["age_confidence"] == entity["gender_confidence"] == 0
    (estimate,) = stage.seen[-1].estimates.values()
    assert estimate.age is estimate.gender is None


def test_without_expression_no_net_is_asked_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "StagedVision", WithoutExpressions)
    stage, entity = visit(SceneOptions(stored=True, reads_expression=False, sensitivity=KEEN))
    assert stage.raised("emotion_detected") == []
    assert stage.raised("age_estimated")
    assert stage.raised("gender_estimated")
    assert {value for name, value in entity.items() if name.startswith("emotion_")} == {0}
    sightings = [sighting for frame in stage.seen[-1].unsettled for sighting in frame.sightings]
    assert all(sighting.looking and sighting.expression is None for sighting in sightings)


@pytest.mark.parametrize(("off", "on"), [("age", "gender"), ("gender", "age")])
def test_one_of_age_and_gender_is_told_without_the_other(off: str, on: str) -> None:
    options = SceneOptions(stored=True, sensitivity=KEEN, reads_age=off != "age", reads_gender=off != "gender")
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
    assert options == SceneOptions(True, True, False, True, False, sensitivity={"appearance": 0.2})
    assert read_options({}, Sender()) == SceneOptions()


DAY_S = 86_400


def call_at(unix_s: float | None, *, clock: FrameClock | None = None, retention_days: int = 365) -> Call:
    params = {} if unix_s is None else {"timestamp": datetime.fromtimestamp(unix_s, UTC).isoformat()}
    sender = Sender(retention_days=retention_days)
    return Call(params, {}, in_session=True, arrived_at=time.time(), sender=sender, clock=clock)


@pytest.mark.parametrize("away_s", [6 * 60, -8 * DAY_S])
def test_time_that_no_visit_may_have_is_refused_only_when_stored(away_s: float) -> None:
    call = call_at(time.time() + away_s, retention_days=7)
    with pytest.raises(ComputeError) as refused:
        check_timestamp(call, stored=True)
    assert refused.value.code == "bad_timestamp"
    assert "clock" in refused.value.sentence
    check_timestamp(call, stored=False)


@pytest.mark.parametrize("away_s", [4 * 60, -6 * DAY_S])
def test_time_within_the_limits_is_taken(away_s: float) -> None:
    check_timestamp(call_at(time.time() + away_s, retention_days=7), stored=True)


@pytest.mark.parametrize("unix_s", [0.0, -DAY_S, DAY_S - 1.0])
def test_clock_that_was_never_set_is_refused_always(unix_s: float) -> None:
    with pytest.raises(ComputeError, match="1970"):
        check_timestamp(call_at(unix_s), stored=False)


def test_time_of_arrival_is_always_taken() -> None:
    check_timestamp(call_at(None, retention_days=1), stored=True)


def test_frames_stamped_alike_for_longer_than_the_retention_are_taken() -> None:
    """It is the moment that the frame is given which would be stored."""
    began_us = round((time.time() - 2 * DAY_S) * 1e6)
    clock = FrameClock(began_us, began_us, began_us, began_us + 1)
    check_timestamp(call_at(began_us / 1e6, clock=clock, retention_days=1), stored=True)
