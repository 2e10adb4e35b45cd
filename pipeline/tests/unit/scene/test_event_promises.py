"""What historic programs take for granted of every answer: `entities[event["entity_id"]][event["key"]]` is there."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_entities import CONFIDENCES, MEMBERS

from onlooker_pipeline.catalogue.scene_analysis import EVENTS
from onlooker_pipeline.frame_time import FrameClock
from onlooker_pipeline.service_call import Call, Sender
from onlooker_pipeline.services import scene_analysis
from onlooker_pipeline.tracking.boxes import Box
from staging import Actor, Asked, StagedVision

START_S = 1_780_000_000
SIZES = [(640, 480), (800, 600)]
WORDS = {"gender": {"male", "female", "unknown"}, "direction": {"unknown", "up", "right", "left", "down"}}
LANES = 3
Result = dict[str, Any]


class Shown(NamedTuple):
    """Who of the three is in a stretch of frames, and how the stretch begins."""

    frames: int
    gap_ms: int
    faces: tuple[bool, ...]
    bodies: tuple[bool, ...]
    jump_ms: int = 0
    """Beside the gap, before the first frame: a pause, a late frame, or a clock that was set."""
    size: int = 0
    goes_idle: bool = False
    confidence: float = 0.9
    """Of each face."""


flags = st.tuples(*[st.booleans()] * LANES)
stretches = st.builds(
    Shown,
    frames=st.integers(1, 12),
    gap_ms=st.sampled_from([0, 67, 100, 333, 500]),
    faces=flags,
    bodies=flags,
    jump_ms=st.sampled_from([0, 0, 0, 0, 3_000, 7_000, -5_000, -60_000]),
    size=st.sampled_from([0, 0, 0, 1]),
    goes_idle=st.sampled_from([False, False, False, True]),
    confidence=st.sampled_from([0.66, 0.9]),
)
senders = st.builds(Sender, reads_age=st.booleans(), reads_gender=st.booleans(), reads_expression=st.booleans())
sensitivities = st.dictionaries(st.sampled_from(EVENTS), st.sampled_from([0.0, 0.5, 1.0]))


class Sessions:
    """Frames through the service as a worker hands them over; people stand in for the pixels and the nets."""

    def __init__(self, patch: pytest.MonkeyPatch, sender: Sender, sensitivity: dict[str, float]) -> None:
        self._sender, self._params = sender, {"sensitivity": sensitivity}
        self._state: bytes | None = None
        self._idle_state: bytes | None = None
        self._clock: FrameClock | None = None
        self._stamp_ms = self._arrived_ms = 0
        self._people: Sequence[Actor] = ()
        self._size = SIZES[0]
        self.results: list[Result] = []
        patch.setattr(scene_analysis, "decode_picture", lambda _: np.zeros(self._size[::-1], np.uint8))
        patch.setattr(scene_analysis, "PictureVision", self._look)
        patch.setattr(scene_analysis, "_find_moved", lambda *_: [Box(0, 0, *self._size)])

    def _look(self, _: Any, *, reads_faces: bool) -> StagedVision:
        assert reads_faces
        sight = StagedVision(self._people, Asked(), self._stamp_ms)
        sight.width, sight.height = self._size  # type: ignore[misc]
        return sight

    def show(self, shown: Shown) -> None:
        if shown.goes_idle:
            self._state, self._idle_state, self._clock = None, self._state, None
        self._stamp_ms += shown.jump_ms
        self._arrived_ms += max(shown.jump_ms, 0)
        self._size = SIZES[shown.size]
        for _ in range(shown.frames):
            self._stamp_ms += shown.gap_ms
            self._arrived_ms += max(shown.gap_ms, 50)
            self._send([_walker(lane, self._arrived_ms, shown) for lane in range(LANES)])

    def _send(self, people: Sequence[Actor]) -> None:
        self._people = [person for person in people if person.has_face or person.has_body]
        stamp = datetime.fromtimestamp(START_S + self._stamp_ms / 1000, UTC).isoformat()
        call = Call(
            self._params | {"timestamp": stamp},
            {"image": b""},
            in_session=True,
            arrived_at=START_S + self._arrived_ms / 1000,
            sender=self._sender,
            clock=self._clock,
            idle_state=self._idle_state,
        )
        result, self._state = scene_analysis.compute(call, self._state)
        self._clock, self._idle_state = call.time.clock, None
        self.results.append(result)


def _walker(lane: int, at_ms: int, shown: Shown) -> Actor:
    x = 60 + 200 * lane + 0.08 * abs(at_ms % 3_000 - 1_500)
    has = {"has_face": shown.faces[lane], "has_body": shown.bodies[lane]}
    return Actor(x=x, y=150, size=60, confidence=shown.confidence, **has)


def check(results: Sequence[Result]) -> set[str]:
    """Every answer keeps the promises; returns who is still there at the end."""
    here: set[str] = set()
    for result in results:
        entities, leaving = result["entities"], set()
        for event in result["events"]:
            id, kind = event["entity_id"], event["type"]
            assert event["key"] in entities[id]
            assert (id in here) is (kind != "appearance"), f"{kind} of {id}; here: {here}"
            if kind == "appearance":
                here.add(id)
            if kind == "disappearance":
                here.remove(id)
                leaving.add(id)
        assert set(entities) == here | leaving
        assert not set(entities) & set(result["bodies"])
        assert {entities[id][name] for id in leaving for name in CONFIDENCES} <= {0}
        for entity in entities.values():
            check_kinds(entity)
    return here


def check_kinds(entity: dict[str, Any]) -> None:
    """Numbers are numbers and words are words, whatever is known."""
    assert set(entity) == MEMBERS
    for name, value in entity.items():
        if name in WORDS:
            assert value in WORDS[name]
        else:
            assert all(type(number) in (int, float) for number in np.array(value, object).flat)


@settings(max_examples=150, deadline=None)
@given(shown=st.lists(stretches, min_size=1, max_size=8), sender=senders, sensitivity=sensitivities)
def test_every_event_is_about_an_entity_of_its_answer(
    shown: list[Shown], sender: Sender, sensitivity: dict[str, float]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        sessions = Sessions(patch, sender, sensitivity)
        for stretch in shown:
            sessions.show(stretch)
        nobody = (False,) * LANES
        sessions.show(Shown(1, 100, nobody, nobody, jump_ms=-3_600_000))
    assert check(sessions.results) == set()


@pytest.mark.parametrize(
    "ends",
    [
        Shown(60, 100, (False,) * LANES, (False,) * LANES),
        Shown(1, 100, (True,) * LANES, (True,) * LANES, jump_ms=7_000),
        Shown(1, 100, (True,) * LANES, (True,) * LANES, jump_ms=-60_000),
        Shown(1, 100, (True,) * LANES, (True,) * LANES, size=1),
        Shown(1, 100, (True,) * LANES, (True,) * LANES, goes_idle=True),
    ],
    ids=["silence", "gap", "clock", "size", "idle"],
)
def test_whatever_ends_a_scene_everyone_disappears_from_it(ends: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stage shows people at all, so the promises above are not empty; with a walker who never shows a face."""
    sessions = Sessions(monkeypatch, Sender(), {})
    sessions.show(Shown(30, 100, (True, True, False), (True, True, True)))
    assert len(check(sessions.results)) == 2
    assert len(sessions.results[-1]["bodies"]) == 1
    sessions.show(ends)
    gone = [event for result in sessions.results for event in result["events"] if event["type"] == "disappearance"]
    assert len(gone) == 2
    assert check(sessions.results) == set()
