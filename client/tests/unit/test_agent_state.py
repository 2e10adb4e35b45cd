"""What the agent knows of its camera and its answers, and what of that reaches the log."""

import io
from typing import Any

import pytest

from onlooker_client.agent.frame_counts import Drop, Tally
from onlooker_client.agent.sending.channel import PendingFrame
from onlooker_client.agent.status.log import AgentLog
from onlooker_client.agent.status.state import CameraMonitor, StatusTracker
from onlooker_client.errors import LinkError, refusal
from onlooker_client.scene import count_people
from onlooker_client.sources.reconnection import SourceEvent, SourceState
from onlooker_client.terminal import Terminal


def flight(error: Any = None) -> PendingFrame:
    uplink: Any = None
    return PendingFrame(1, b"", uplink, 0.0, error=error)


def test_a_camera_that_comes_and_goes_does_not_fill_the_log() -> None:
    log = io.StringIO()
    camera = CameraMonitor(AgentLog(Terminal.of(log)))
    for _ in range(100):
        camera.take_size((640, 480))
        camera.change(SourceEvent(SourceState.LOST, "The camera gave no picture for 5 s."))
        camera.change(SourceEvent(SourceState.WAITING, "Nothing listens there."))
    assert camera.now.state == "lost"
    assert len(log.getvalue().splitlines()) <= 4


@pytest.mark.parametrize(
    ("answer", "people"),
    [
        ({"entities": {"a": {}}, "bodies": {"b": {}, "c": {}}}, 3),
        (
            {
                "entities": {"a": {}, "b": {}},
                "events": [{"entity_id": "a", "type": "disappearance", "key": "face_roi"}],
            },
            1,
        ),
        ({"entities": {"a": {}}, "events": [{"entity_id": "a", "type": "appearance"}, "nonsense", {}]}, 1),
        ({"entities": {"a": {}}, "events": "many"}, 1),
        ({"entities": {}}, 0),
        ({"entities": None, "bodies": None}, 0),
        ({"entities": 5, "bodies": "many"}, 0),
    ],
)
def test_people_are_counted_whatever_the_answer_is(answer: dict[str, Any], people: int) -> None:
    assert count_people(answer) == people


def test_a_server_that_refused_and_then_vanished_is_offline_and_not_refusing() -> None:
    camera = CameraMonitor(AgentLog(Terminal.of(io.StringIO())))
    camera.take_size((640, 480))
    awareness = StatusTracker(Tally(), camera)
    began = awareness.began_at
    awareness.lost(flight(refusal(403, {"code": "stream_disabled"})), Drop.STREAM_DISABLED)
    assert awareness.read(began + 30).state == "refused"
    awareness.lost(flight(LinkError("Nothing listens there.")), Drop.UNREACHABLE)
    assert awareness.read(began + 30).state == "offline"


def test_a_closed_stream_is_neither_offline_nor_refused_and_has_time_to_answer_when_it_opens() -> None:
    camera = CameraMonitor(AgentLog(Terminal.of(io.StringIO())))
    camera.take_size((640, 480))
    tracker = StatusTracker(Tally(), camera)
    began = tracker.began_at
    tracker.answered(flight(), latency_s=0.1)
    assert tracker.note_closed(True, began + 20)
    assert not tracker.note_closed(True, began + 21)
    assert tracker.read(began + 30_000).state == "closed"
    assert tracker.note_closed(False, began + 30_000)
    assert tracker.read(began + 30_002).state == "running"
    assert tracker.read(began + 30_010).state == "offline"
