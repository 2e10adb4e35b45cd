"""A session of scene_analysis with real pictures and the real nets: a portrait that hangs on a wall."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from onlooker.bus.messages import Skipped
from onlooker.compute.call import Call, Memory
from onlooker.compute.services.scene_analysis import compute
from onlooker.compute.sightings import Seen
from pictures import on_a_wall, portrait

START_S = 1_780_000_000.0
SIZE = (640, 480)


@dataclass
class Session:
    """Calls one after the other, as a worker makes them."""

    state: Any = None
    memory: Memory = field(default_factory=Memory)
    seen: list[Seen] = field(default_factory=list)

    def send(self, at_s: float, *, size: tuple[int, int] = SIZE, **params: Any) -> tuple[dict[str, Any], list[Skipped]]:
        written = datetime.fromtimestamp(START_S + at_s, UTC).isoformat()
        call = Call(
            {"timestamp": written, **params},
            {"image": on_a_wall(portrait(), left=200, top=100, size=size)},
            in_session=True,
            memory=self.memory,
        )
        result, self.state = compute(call, self.state)
        self.seen += call.seen
        return result, call.skipped


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
    assert entity["age"] is not None
    assert entity["emotion_happiness"] > 0.5
    assert entity["face_confidence"] > 0.7
    left, top, width, height = entity["face_roi"]
    assert 200 < left < left + width < 425
    assert 100 < top < top + height < 375


@pytest.mark.parametrize("behind_s", [0.0, 0.3, 9.9])
def test_late_frame_changes_nothing_and_gets_what_is_known(session: Session, behind_s: float) -> None:
    known, _ = session.send(1.6)
    state, frames = session.state, len(session.seen)
    result, skipped = session.send(1.6 - behind_s)
    assert skipped == [Skipped.OUT_OF_ORDER]
    assert result["entities"] == known["entities"]
    assert result["events"] == []
    assert session.state == state
    assert len(session.seen) == frames


def test_clock_that_was_set_back_begins_anew(session: Session) -> None:
    before, _ = session.send(1.6, store=True)
    result, skipped = session.send(-60, store=True)
    assert skipped == []
    assert result["entities"] == {}
    (name,) = before["entities"]
    closing = session.seen[-2]
    assert [person.hex() for person in closing.ended] == [name.replace("-", "")]
    assert closing.unsettled == []
    assert [event["type"] for event in result["events"]] == ["disappearance"]
    assert [event["entity_id"] for event in result["events"]] == [name]


def test_picture_of_another_size_begins_anew(session: Session) -> None:
    session.send(1.6, store=True)
    result, _ = session.send(1.8, size=(800, 600), store=True)
    assert result["input_size"] == [600, 800]
    assert result["entities"] == {}
    assert len(session.seen[-2].ended) == 1


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
