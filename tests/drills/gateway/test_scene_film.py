"""`scene_analysis` over longer films, and over real time: what it says about people, and how frames are counted."""

import time
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from zoneinfo import ZoneInfo

import pytest

from clients import client_of
from coverage_frames import await_refusals, coverage_of
from onlooker_pipeline.frame_time import LONGEST_FRAME_S, SHORTEST_FRAME_S
from scene_camera import CONFIDENCES, ENTITY, EVENTS, HERE, NOBODY, Camera, only_entity, types_of, walk_in
from testkit import Stack, TestStream
from testkit.pictures import portrait
from wire import wait_for

BORDER = datetime.now(UTC).replace(hour=10, minute=15, second=0, microsecond=0) - timedelta(days=1)


def end_session(camera: Camera) -> None:
    camera.client.delete(f"/services/scene_analysis/1/sessions/{camera.state['session_id']}")


def test_who_comes_and_goes_is_told_of_with_every_event(stack: Stack, stream: TestStream) -> None:
    """Each event is about a member of `entities`; nobody looks who is not seen; who disappears is shown once more."""
    with client_of(stack, stream) as client:
        camera = Camera(client)
        eager = {"sensitivity": dict.fromkeys(EVENTS, 1)}
        results = camera.see(*walk_in(portrait()), *[HERE] * 4, **eager)
        last, seen = results[-1], len(results)
        for _ in range(14):
            camera.at += timedelta(seconds=0.4)
            results += camera.see(NOBODY, **eager)
    events = [(event, result["entities"]) for result in results for event in result["events"]]
    assert {event["type"] for event, _ in events} == set(EVENTS)
    for event, entities in events:
        assert event["key"] in entities[event["entity_id"]]
    assert "focus_locked" not in types_of(results[seen:])
    (farewell,) = (result for result in results[seen:] if "disappearance" in types_of([result]))
    assert last["entities"]
    assert [event["entity_id"] for event in farewell["events"]] == list(last["entities"]) == list(farewell["entities"])
    for entity in farewell["entities"].values():
        assert set(entity) == ENTITY
        assert {entity[name] for name in CONFIDENCES} == {0}
    assert results[-1]["entities"] == {}


def test_a_timestamp_without_an_offset_is_read_in_the_streams_time_zone(stack: Stack) -> None:
    """By which it is stored, too: of a zone that is ahead of UTC, now would otherwise be hours ahead."""
    zone = ZoneInfo("Asia/Tokyo")
    stream = stack.create_stream()
    stack.execute("UPDATE streams_stream SET time_zone = 'Asia/Tokyo' WHERE id = %s", stream.id)
    began = datetime.now(UTC) - timedelta(seconds=60)
    with client_of(stack, stream) as client:
        camera = Camera(client)
        for number in range(10):
            local = (began + timedelta(seconds=number / 5)).astimezone(zone).replace(tzinfo=None).isoformat()
            result = camera.ask(HERE, timestamp=local, store=True)
            assert result["timestamp"] == local
            assert "error" not in result
        end_session(camera)
    query = "SELECT began_at FROM visits_visit WHERE stream_id = %s"
    ((began_at,),) = wait_for(lambda: stack.execute(query, stream.id), bool)
    assert abs(began_at - began) < timedelta(seconds=1)


def test_frames_with_coarse_timestamps_are_timed_by_arrival(stack: Stack, stream: TestStream) -> None:
    """The same one: it plus what has passed since its first frame arrived, and so counts the video time.

    One of whole seconds: all its frames are looked at.
    """
    frozen_stream, whole_results = stack.create_stream(), []
    with client_of(stack, frozen_stream) as client, client_of(stack, stream) as other:
        frozen, whole = Camera(client), Camera(other)
        stamp, sent, answered = frozen.at.isoformat(), [time.monotonic()], []
        while sent[-1] - sent[0] < 2.2:
            result = frozen.ask(HERE, timestamp=stamp, store=True)
            assert "late" not in result
            answered.append(time.monotonic())
            now = datetime.now(UTC).isoformat(timespec="seconds")
            whole_results.append(whole.ask(HERE, timestamp=now, store=True))
            sent.append(time.monotonic())
        del sent[-1]
        assert only_entity(result)["face_confidence"] > 0
        end_session(frozen)
    assert not [result for result in whole_results if "late" in result]
    assert types_of(whole_results).count("appearance") == 1
    assert "disappearance" not in types_of(whole_results)
    query = "SELECT began_at, upper(present) FROM visits_visit WHERE stream_id = %s AND ended"
    ((began_at, ended_at),) = wait_for(lambda: stack.execute(query, frozen_stream.id), bool)
    assert abs(began_at - frozen.at) < timedelta(seconds=0.5)
    # Each frame arrived after it was sent and before it was answered. What passed between two counts a second at most.
    shortest_s, longest_s = sent[-1] - answered[0], answered[-1] - sent[0]
    cut_s = sum(max(0, later - before - LONGEST_FRAME_S) for before, later in zip(sent, answered[1:], strict=False))
    assert shortest_s - 1 < (ended_at - began_at).total_seconds() < longest_s + 1
    used = "SELECT sum(video_s) FROM streams_usage WHERE stream_id = %s"
    used_s = wait_for(
        lambda: stack.execute(used, frozen_stream.id)[0][0] or 0, lambda used_s: used_s >= shortest_s - cut_s
    )
    assert used_s <= longest_s + SHORTEST_FRAME_S


def test_each_frame_is_covered_or_refused_by_its_reason(stack: Stack) -> None:
    """One older than the last, by 10 s at most, is answered with the last known entities, called late, and counted."""
    stream = stack.create_stream()
    with client_of(stack, stream) as client:
        camera = Camera(client, at=BORDER - timedelta(seconds=0.1))
        last = camera.see(*[HERE] * 4, store=True)[-1]
        for offset_s in (-0.1, -10):
            late = camera.see_at(NOBODY, offset_s, store=True)
            assert (late["entities"], late["events"], late["late"]) == (last["entities"], [], True)
        assert "late" not in last
        for picture, offset_s in ((NOBODY, 2 * 86_400), (b"no picture", 0.05)):
            assert "error" in camera.see_at(picture, offset_s, store=True)
        (after,) = camera.see(HERE, store=True)
        assert set(after["entities"]) == set(last["entities"])
        assert only_entity(after)["face_confidence"] > 0
    await_refusals(stack, stream, {"out_of_order": 2, "bad_timestamp": 1, "bad_image": 1})
    [(slot_at, video_s)] = coverage_of(stack, stream).items()
    assert (slot_at, video_s) == (BORDER, pytest.approx(1 / 30 + 0.4, abs=2e-4))
    query = "SELECT slot_at, models_version, frames, dark_frames, face_frames FROM streams_quality WHERE stream_id = %s"
    [quality] = wait_for(lambda: stack.execute(query, stream.id), bool, limit_s=8)
    assert quality[:4] == (BORDER, version("onlooker-models"), 5, 0)
    assert quality[4] > 0
