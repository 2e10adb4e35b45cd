"""A session of scene_analysis with real pictures and the real nets: a portrait that hangs on a wall."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from onlooker_pipeline.frame_time import FrameClock
from onlooker_pipeline.service_call import Call, SessionMemory, SkipReason
from onlooker_pipeline.services.scene_analysis import compute
from onlooker_pipeline.visits.sightings import Seen
from testkit.pictures import on_a_wall, portrait

START_S = 1_780_000_000.0
SIZE = (640, 480)


@dataclass
class Session:
    """Calls one after the other, as a worker makes them."""

    state: Any = None
    memory: SessionMemory = field(default_factory=SessionMemory)
    clock: FrameClock | None = None
    seen: list[Seen] = field(default_factory=list)

    def send(
        self, at_s: float, *, size: tuple[int, int] = SIZE, **params: Any
    ) -> tuple[dict[str, Any], list[SkipReason]]:
        written = datetime.fromtimestamp(START_S + at_s, UTC).isoformat()
        call = Call(
            {"timestamp": written, **params},
            {"image": on_a_wall(portrait(), left=200, top=100, size=size)},
            in_session=True,
            memory=self.memory,
            arrived_at=START_S + at_s,
            clock=self.clock,
        )
        result, self.state = compute(call, self.state)
        self.clock = call.time.clock
        self.seen += call.seen
        return result, call.skipped


def gone(entity: dict[str, Any]) -> dict[str, Any]:
    """The same person, of whom nothing is seen any more."""
    return {name: 0.0 if name.endswith("_confidence") else value for name, value in entity.items()}


@pytest.fixture
def session() -> Session:
    """After one and a half seconds at five frames a second."""
    session = Session()
    for number in range(8):
        session.send(number / 5)
    return session


def test_portrait_is_one_person_who_stands_and_is_read(session: Session) -> None:
    result, skipped = session.send(1.6)
    assert skipped == []
    assert result["input_size"] == [480, 640]
    assert result["bodies"] == {}
    (entity,) = result["entities"].values()
    assert entity["gender"] == "female"
    assert 25 <= entity["age"] <= 45
    assert entity["emotion_happiness"] > 0.5
    assert entity["face_confidence"] > 0.7
    left, top, width, height = entity["face_roi"]
    assert 200 < left < left + width < 425
    assert 100 < top < top + height < 375


@pytest.mark.parametrize("behind_s", [0.1, 0.3, 9.9])
def test_late_frame_changes_nothing_and_gets_what_is_known(session: Session, behind_s: float) -> None:
    known, _ = session.send(1.6)
    state, frames = session.state, len(session.seen)
    result, skipped = session.send(1.6 - behind_s)
    assert skipped == [SkipReason.OUT_OF_ORDER]
    assert result == known | {"timestamp": result["timestamp"], "events": [], "late": True}
    assert session.state == state
    assert len(session.seen) == frames


def test_clock_that_was_set_back_begins_anew(session: Session) -> None:
    before, _ = session.send(1.6, store=True)
    result, skipped = session.send(-60, store=True)
    assert skipped == []
    (name,) = before["entities"]
    assert result["entities"] == {name: gone(before["entities"][name])}
    closing = session.seen[-2]
    assert len(closing.ended) == 1
    assert closing.unsettled == []
    assert [event["type"] for event in result["events"]] == ["disappearance"]
    assert [event["entity_id"] for event in result["events"]] == [name]
    assert session.send(-59.8)[0]["entities"] == {}


def test_picture_of_another_size_begins_anew(session: Session) -> None:
    before, _ = session.send(1.6, store=True)
    result, _ = session.send(1.8, size=(800, 600), store=True)
    assert result["input_size"] == [600, 800]
    (name,) = before["entities"]
    assert result["entities"] == {name: gone(before["entities"][name])}
    assert [(event["entity_id"], event["type"]) for event in result["events"]] == [(name, "disappearance")]
    assert len(session.seen[-2].ended) == 1
    assert session.send(2.0, size=(800, 600))[0]["entities"] == {}


def test_frames_without_any_for_seven_seconds_end_a_person_who_is_shown_once_more(session: Session) -> None:
    before, _ = session.send(1.6)
    (name,) = before["entities"]
    result, _ = session.send(8.6)
    assert [(event["entity_id"], event["type"]) for event in result["events"]] == [(name, "disappearance")]
    (left,) = result["entities"].values()
    assert {left[member] for member in left if member.endswith("_confidence")} == {0}
    assert left["age"] == before["entities"][name]["age"]
    assert name not in session.send(8.8)[0]["entities"]


def test_who_was_there_when_a_session_went_idle_disappears_in_the_next_of_its_name(session: Session) -> None:
    before, _ = session.send(1.6, store=True)
    told = len(session.seen)
    (name,) = before["entities"]
    image = on_a_wall(portrait(), left=200, top=100, size=SIZE)
    call = Call({}, {"image": image}, in_session=True, arrived_at=START_S + 100, idle_state=session.state)
    result, _ = compute(call, None)
    assert result["entities"] == {name: gone(before["entities"][name])}
    assert [(event["entity_id"], event["type"]) for event in result["events"]] == [(name, "disappearance")]
    assert call.seen == []
    assert len(session.seen) == told


def test_frames_stamped_alike_are_looked_at(session: Session) -> None:
    """A documented historic example stamps all frames alike; they are timed by arrival."""
    alike = Session()
    stamp = datetime.fromtimestamp(START_S, UTC).isoformat()
    for number in range(12):
        result, skipped = alike.send(number / 5, timestamp=stamp)
        assert (skipped, result["timestamp"]) == ([], stamp)
    assert alike.clock is not None
    assert alike.clock.at_us == round(1e6 * (START_S + 2.2))
    (entity,) = result["entities"].values()
    assert entity["face_confidence"] > 0.7


def test_nothing_is_handed_to_visits_until_a_frame_is_to_be_stored(session: Session) -> None:
    assert session.seen == []
    session.send(1.6, store=True)
    session.send(1.8)
    told = [frame.at_ms for seen in session.seen for frame in (*seen.settled, *seen.unsettled)]
    assert set(told) == {round(1000 * (START_S + 1.6))}


def test_single_picture_without_a_session_keeps_no_state() -> None:
    call = Call({}, {"image": on_a_wall(portrait(), left=200, top=100)}, in_session=False, arrived_at=START_S)
    result, state = compute(call, None)
    assert state is None
    assert result["entities"] == {}
    assert datetime.fromisoformat(result["timestamp"]).timestamp() == START_S


def test_timestamp_is_given_back_as_it_was_sent() -> None:
    sent = "2026-05-01T12:00:00.250+02:00"
    result, _ = Session().send(0.0, timestamp=sent)
    assert result["timestamp"] == sent
