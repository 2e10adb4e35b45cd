"""Supplement, `scene_analysis`: what a request takes, what its result holds, row by row, over HTTPS and real nets."""

import asyncio
import math
import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import cv2
import httpx2
import msgspec
import pytest

from clients import client_of
from onlooker.bus.messages import Reply, Task
from onlooker.gateway.context import open_engine
from onlooker.settings import read_settings
from onlooker_pipeline.catalogue import read_catalogue
from onlooker_pipeline.service_call import Sender
from scene_camera import (
    CONFIDENCES,
    EMOTIONS,
    ENTITY,
    EVENTS,
    HERE,
    LEFT,
    NOBODY,
    POINTS,
    ROIS,
    SHARES,
    TOP,
    Camera,
    Result,
    only_entity,
    types_of,
    walk_in,
)
from testkit import Stack
from testkit.pictures import encoded, on_a_wall, photograph, portrait
from wire import assert_problem, multipart

RESULT = {"timestamp", "input_size", "events", "entities", "bodies"}


@pytest.fixture
def camera(client: httpx2.Client) -> Camera:
    return Camera(client)


def is_pixel(value: Any) -> bool:
    return isinstance(value, int) and 0 <= value <= 640


def is_fraction(value: Any) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 1


def test_row_result_holds_timestamp_events_entities(camera: Camera) -> None:
    """Result: `timestamp`, `events`, `entities`; our extensions are `input_size` and `bodies`."""
    (result,) = camera.see(NOBODY)
    assert set(result) == RESULT
    assert result["timestamp"] == camera.at.isoformat()
    assert (result["events"], result["entities"], result["bodies"]) == ([], {}, {})
    assert result["input_size"] == [480, 640]


def test_row_every_entity_has_every_member(camera: Camera) -> None:
    """Everyone in `entities` has all members, from the first frame on, each of its kind."""
    shown = [entity for result in camera.see(*[HERE] * 8) for entity in result["entities"].values()]
    assert len(shown) >= 5
    for entity in shown:
        assert set(entity) == ENTITY
        assert all(len(entity[name]) == 4 and all(map(is_pixel, entity[name])) for name in ROIS)
        assert all(is_fraction(entity[name]) for name in CONFIDENCES | SHARES)
        points = [*(entity[name] for name in POINTS), *entity["face_eye"]]
        assert len(entity["face_eye"]) == 2
        assert all(len(point) == 2 and all(map(is_pixel, point)) for point in points)
        assert (len(entity["gaze"]), len(entity["head"])) == (2, 3)
        assert all(isinstance(angle, float) and abs(angle) <= math.pi for angle in entity["gaze"] + entity["head"])
        assert entity["direction"] in ("unknown", "up", "right", "left", "down")
    assert {str(uuid.UUID(id)) for id in camera.see(HERE)[0]["entities"]}


def test_row_what_an_entity_says_is_right(camera: Camera) -> None:
    """Coordinates are pixels of the sent image, a roi is x, y, width and height, angles are radians."""
    entity = only_entity(camera.see(*[HERE] * 6)[-1])
    x, y, width, height = entity["face_roi"]
    assert (x, y) > (LEFT, TOP)
    left_eye, right_eye = entity["face_eye"]
    assert x < left_eye[0] < entity["face_nose"][0] < right_eye[0] < x + width
    assert y < left_eye[1] < entity["face_nose"][1] < entity["face_mouth"][1] < y + height
    assert all(abs(angle) < math.radians(25) for angle in entity["gaze"] + entity["head"])
    assert 25 <= entity["age"] <= 45
    assert entity["gender"] == "female"
    assert sum(entity[f"emotion_{name}"] for name in EMOTIONS) == pytest.approx(1, abs=0.01)
    assert entity["emotion_happiness"] == entity["emotion_smiling_degree"] > 0.5
    assert all(entity[name] > 0.5 for name in CONFIDENCES - {"full_body_roi_confidence"})
    body_x, body_y, body_width, body_height = entity["full_body_roi"]
    assert body_x <= x < x + width <= body_x + body_width
    assert body_y <= y < y + height <= body_y + body_height


def test_row_a_face_that_is_not_visible_now_keeps_its_values_with_confidence_0(camera: Camera) -> None:
    """A person whose face is not visible now carries the last known values with confidence 0."""
    before = camera.see(*[HERE] * 6)[-1]
    (after,) = camera.see(NOBODY)
    assert set(after["entities"]) == set(before["entities"])
    known, now = only_entity(before), only_entity(after)
    values = ENTITY - CONFIDENCES - {"full_body_roi", "direction"}
    assert {name: now[name] for name in values} == {name: known[name] for name in values}
    assert all(now[name] == 0 for name in CONFIDENCES)


def test_row_a_person_whose_face_was_never_seen_is_in_bodies_only(camera: Camera) -> None:
    """A person whose face was never seen is not in `entities` (it is in our extension `bodies`)."""
    faceless = cv2.resize(photograph(), None, fx=0.75, fy=0.75)
    cv2.ellipse(faceless, (166, 98), (58, 80), 0, 0, 360, (60, 70, 80), cv2.FILLED)
    results = camera.see(*walk_in(encoded(faceless), frames=20, step_px=12))
    assert all(result["entities"] == {} for result in results)
    (body,) = results[-1]["bodies"].values()
    assert set(body) == {"full_body_roi", "full_body_roi_confidence", "direction"}
    assert all(map(is_pixel, body["full_body_roi"]))
    assert is_fraction(body["full_body_roi_confidence"])


def test_row_events_have_five_members_and_seven_types(camera: Camera) -> None:
    """An event: `entity_id, entity_type` ("human"), `type` (the seven names), `confidence, key`."""
    eager = {"sensitivity": dict.fromkeys(EVENTS, 1)}
    results = camera.see(*walk_in(portrait()), *[HERE] * 6, *[NOBODY] * 6, **eager)
    assert set(types_of(results)) == set(EVENTS)
    (id,) = {id for result in results for id in result["entities"]}
    for event in (event for result in results for event in result["events"]):
        assert set(event) == {"entity_id", "entity_type", "type", "confidence", "key"}
        assert (event["entity_id"], event["entity_type"]) == (id, "human")
        assert is_fraction(event["confidence"])
        assert event["key"] in ENTITY


def test_an_event_is_raised_once(camera: Camera) -> None:
    raised = types_of(camera.see(*[HERE] * 14))
    assert sorted(raised) == ["age_estimated", "appearance", "emotion_detected", "focus_locked", "gender_estimated"]


def test_row_sensitivity_decides_how_soon_an_event_is_raised(client: httpx2.Client) -> None:
    """`sensitivity` (object of the seven, each in [0, 1])."""

    def frames_until_focus(sensitivity: float) -> int:
        results = Camera(client).see(*[HERE] * 14, sensitivity={"focus_locked": sensitivity})
        return next((number for number, one in enumerate(results) if "focus_locked" in types_of([one])), 99)

    assert frames_until_focus(1) < frames_until_focus(0.5) < frames_until_focus(0)


@pytest.mark.parametrize("position", ["facing", "ceiling"])
def test_row_camera_position(camera: Camera, position: str) -> None:
    """`camera_position` ("facing" default, or "ceiling")."""
    assert only_entity(camera.see(*[HERE] * 3, camera_position=position)[-1])["face_confidence"] > 0


@pytest.mark.parametrize(
    "wrong",
    [
        *({"camera_position": position} for position in ("wall", "", 3)),
        *({"sensitivity": value} for value in (0.5, [], "high", {"appearance": 1.1}, {"appearance": "1"})),
        *({"timestamp": text} for text in ("2026-01-01", "00:00", "noon", 0, "")),
        *({"store": value} for value in ("yes", 1)),
    ],
)
def test_row_wrong_fields_are_400(camera: Camera, wrong: Result) -> None:
    assert_problem(camera.post(NOBODY, **wrong), 400, "bad_request")


def test_row_stored_frames_from_the_future_end_with_bad_timestamp(camera: Camera) -> None:
    """With `store` true, a timestamp more than 5 minutes ahead of the server ends the job with `bad_timestamp`."""
    camera.at = datetime.now(UTC)
    result = camera.see_at(NOBODY, 330, store=True)
    assert set(result) == {"error", "error_code"}
    assert result["error_code"] == "bad_timestamp"
    assert "error" not in camera.see_at(NOBODY, 270, store=True)
    assert "error" not in camera.see_at(NOBODY, 3600, store=False)
    assert "error" not in camera.see_at(NOBODY, 7200)


def test_row_stored_frames_older_than_the_retention_end_with_bad_timestamp(stack: Stack) -> None:
    """With `store` true, a timestamp older than the stream's retention ends the job with `bad_timestamp`."""
    stream = stack.create_stream()
    stack.execute("UPDATE streams_stream SET retention_days = 2 WHERE id = %s", stream.id)
    with client_of(stack, stream) as client:
        camera = Camera(client, at=datetime.now(UTC))
        result = camera.see_at(NOBODY, -2 * 86_400 - 60, store=True)
        assert result["error_code"] == "bad_timestamp"
        assert "2 days" in result["error"]
        assert "error" not in camera.see_at(NOBODY, -2 * 86_400 - 60)
        assert "error" not in camera.see_at(NOBODY, -2 * 86_400 + 60, store=True)


def test_a_frame_that_fails_leaves_the_scene_as_it_was(camera: Camera) -> None:
    before = camera.see(*[HERE] * 4)[-1]
    assert camera.see_at(b"no picture at all", 0.1)["error_code"] == "bad_image"
    assert camera.see_at(NOBODY, 3600, store=True)["error_code"] == "bad_timestamp"
    assert set(camera.see(HERE)[0]["entities"]) == set(before["entities"])


def test_row_a_clock_that_was_set_back_restarts_the_session(camera: Camera) -> None:
    """Older than that, the clock was set back and the session restarts: the same person is somebody new."""
    last = camera.see(*[HERE] * 4)[-1]
    back = camera.see_at(HERE, -10.1)
    check_gone(back, last)
    camera.at -= timedelta(seconds=10.1)
    assert camera.see(HERE)[0]["entities"] == {}
    again = camera.see(*[HERE] * 3)[-1]
    assert len(again["entities"]) == 1
    assert not set(again["entities"]) & set(last["entities"])


def check_gone(result: Result, last: Result) -> None:
    """Who was in the last answer disappears with this one, which shows them once more."""
    assert last["entities"]
    gone = [(event["entity_id"], event["type"]) for event in result["events"]]
    assert gone == [(id, "disappearance") for id in last["entities"]]
    assert set(result["entities"]) == set(last["entities"])
    for entity in result["entities"].values():
        assert set(entity) == ENTITY
        assert {entity[name] for name in CONFIDENCES} == {0}


def test_row_who_disappears_is_still_in_entities_when_no_frame_came_for_seconds(camera: Camera) -> None:
    last = camera.see(*[HERE] * 4)[-1]
    check_gone(camera.see_at(HERE, 7.1), last)


def test_row_who_disappears_is_still_in_entities_when_the_pictures_size_changes(camera: Camera) -> None:
    last = camera.see(*[HERE] * 4)[-1]
    check_gone(camera.see(on_a_wall(portrait(), left=LEFT, top=TOP, size=(800, 600)))[0], last)
    assert camera.see(on_a_wall(portrait(), left=LEFT, top=TOP, size=(800, 600)))[0]["entities"] == {}


def test_row_without_a_timestamp_the_time_of_arrival_counts(camera: Camera) -> None:
    results = []
    for _ in range(4):
        earliest = datetime.now(UTC) - timedelta(milliseconds=1)
        results.append(camera.ask(HERE, store=True))
        assert earliest <= datetime.fromisoformat(results[-1]["timestamp"]) <= datetime.now(UTC)
        time.sleep(0.1)
    assert only_entity(results[-1])["face_confidence"] > 0


def test_without_a_session_nobody_is_followed(camera: Camera) -> None:
    """A person is told from a mistake by being seen again; a single picture has no again."""
    meta = {"image": "attachment://shot", "async": False}
    answers = [
        camera.client.post("/services/scene_analysis/1/jobs", files=multipart(meta, shot=HERE)).json() for _ in range(4)
    ]
    assert all(answer["entities"] == {} and answer["events"] == [] for answer in answers)


def _replies(stack: Stack, job_ids: list[str]) -> list[Reply]:
    """What a worker answers to frames with these job ids, a tenth of a second apart."""
    role = {"ONLOOKER_NATS_USER": "gateway", "ONLOOKER_NATS_PASSWORD": stack.password("gateway")}
    environment = {k: v for k, v in stack.environment.items() if k.startswith("ONLOOKER_")} | role
    service = read_catalogue("")["scene_analysis"][1]
    stream, began = stack.create_stream(), datetime.now(UTC) - timedelta(seconds=60)
    session = f"{stream.id}.scene_analysis-1.{uuid.uuid4().hex}"

    def task(number: int, id: str) -> Task:
        params, now = {"timestamp": (began + timedelta(seconds=number / 10)).isoformat(), "store": True}, time.time()
        names = (id, "scene_analysis", 1, params, {"image": HERE}, session)
        return Task(*names, now + 20, "repeat", now, now, Sender(stream.id))

    async def send() -> list[Reply]:
        async with open_engine(read_settings(environment), name="gateway") as (engine, workers):
            while not workers.count(service):
                await asyncio.sleep(0.05)
            return [await engine.run(service, task(number, id)) for number, id in enumerate(job_ids)]

    return asyncio.run(send())


def test_row_a_job_that_is_sent_again_changes_nothing(stack: Stack) -> None:
    """A job that is sent again is answered with what is known: no second frame, no second video time."""
    ids = [uuid.uuid4().hex for _ in range(4)]
    replies = _replies(stack, [*ids[:3], ids[2], ids[2], ids[3]])
    third, again, once_more, fourth = replies[2:]
    assert third.result == again.result == once_more.result
    assert again.video_s == once_more.video_s == 0 < third.video_s
    first, last = (msgspec.json.decode(reply.result)["entities"] for reply in (third, fourth))
    assert set(first) == set(last)
    assert len(first) == 1


def test_row_store_needs_a_session(client: httpx2.Client) -> None:
    """Nobody can be followed without one, so nothing would be kept."""
    meta = {"image": "attachment://shot", "async": False, "store": True}
    answer = client.post("/services/scene_analysis/1/jobs", files=multipart(meta, shot=b"no picture"))
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")
    assert "session_id" in answer.json()["detail"]
