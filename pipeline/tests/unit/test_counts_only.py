"""A stream that only counts: people are found by their bodies, and no net that reads faces is asked, ever."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from onlooker_pipeline.catalogue import scene_analysis as description
from onlooker_pipeline.scene_session import SceneSession, find_visits
from onlooker_pipeline.service_call import FACES_OFF, Call, ComputeError, Sender
from onlooker_pipeline.services import (
    age_and_gender_estimation,
    face_detection,
    face_expression_estimation,
    gaze_analysis,
    scene_analysis,
)
from onlooker_pipeline.vision import networks
from onlooker_pipeline.warm_up import warm_up
from testkit.pictures import empty_wall, on_a_wall, portrait

STARTED_AT = datetime(2026, 5, 4, 9, tzinfo=UTC)
PORTRAIT = portrait()
FRAMES = [
    (
        on_a_wall(PORTRAIT, left=min(40 + 12 * number, 220), top=100) if 2 <= number < 40 else empty_wall(),
        STARTED_AT + timedelta(seconds=number / 5),
    )
    for number in range(60)
]
"""Somebody comes in from the left, stands still for some seconds, looks at the camera, and is gone."""
FACE_MODELS = set(description.SERVICE.models) - set(description.BODY_MODELS)


class CountedNetwork:
    """A net that counts how often it is asked."""

    def __init__(self, name: str, calls: Counter[str]) -> None:
        self._name, self._calls, self._net = name, calls, networks.network(name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._net, name)

    def run(self, *arguments: Any, **named: Any) -> Any:
        self._calls[self._name] += 1
        return self._net.run(*arguments, **named)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Calls of each model."""
    counted: Counter[str] = Counter()
    known = {name: CountedNetwork(name, counted) for name in description.SERVICE.models}
    monkeypatch.setattr(networks, "_loaded", known)
    return counted


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Models that were loaded."""
    names: list[str] = []
    load = networks.load_networks

    def note(asked: Iterable[str], **options: Any) -> None:
        asked = list(asked)
        names.extend(asked)
        load(asked, **options)

    monkeypatch.setattr(networks, "_loaded", {})
    monkeypatch.setattr(networks, "load_networks", note)
    return names


def test_with_faces_every_net_is_asked(calls: Counter[str]) -> None:
    find_visits(FRAMES)
    assert {name for name in description.SERVICE.models if not calls[name]} == set()


def test_counts_only_asks_the_person_net_and_no_other(calls: Counter[str]) -> None:
    (visit, *_) = find_visits(FRAMES, SceneSession(reads_faces=False))
    assert {name: calls[name] for name in FACE_MODELS} == dict.fromkeys(FACE_MODELS, 0)
    assert calls["person_detect"] > 0
    assert visit.looking == []
    assert (visit.age, visit.gender, visit.expression) == (None, None, None)
    assert max(end - begin for begin, end in visit.still) >= 3000


def test_counts_only_does_not_even_load_another_net(loaded: list[str]) -> None:
    find_visits(FRAMES[:12], SceneSession(reads_faces=False))
    warm_up(description.SERVICE, scene_analysis.compute, Sender(reads_faces=False))
    assert set(loaded) == {"person_detect"}


def test_people_are_bodies_and_nothing_is_raised() -> None:
    session = SceneSession(reads_faces=False)
    results = [session.add_frame(image, taken_at).result for image, taken_at in FRAMES[:38]]
    assert all(result["entities"] == {} and result["events"] == [] for result in results)
    assert len(results[-1]["bodies"]) == 1


def test_faces_that_were_read_before_are_gone_with_the_switch() -> None:
    state: Any = None
    answers = []
    for number, (image, taken_at) in enumerate(FRAMES[:36]):
        sender = Sender(retention_days=36_500, reads_faces=number < 24)
        call = Call(
            {"timestamp": taken_at.isoformat()},
            {"image": image},
            in_session=True,
            arrived_at=taken_at.timestamp(),
            sender=sender,
        )
        result, state = scene_analysis.compute(call, state)
        answers.append(result)
    assert len(answers[23]["entities"]) == 1
    assert [event["type"] for event in answers[24]["events"]] == ["disappearance"]
    assert all(answer["entities"] == {} for answer in answers[25:])


@pytest.mark.parametrize(
    "service", [face_detection, gaze_analysis, age_and_gender_estimation, face_expression_estimation]
)
def test_services_about_faces_answer_with_an_error(service: Any, calls: Counter[str]) -> None:
    with pytest.raises(ComputeError) as refused:
        service.compute(Call({}, {"image": FRAMES[10][0]}, in_session=False, sender=Sender(reads_faces=False)), None)
    assert refused.value.code == FACES_OFF
    assert not calls
