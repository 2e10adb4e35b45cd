"""What a stream's owner switched off is neither read nor told, by any service: age, gender, expression."""

import time

import httpx2
import pytest

from clients import client_of
from scene_camera import ENTITY, HERE, SHARES, Camera, only_entity, types_of
from testkit import Stack
from wire import multipart, new_state

SWITCHES = {
    "reads_age": ({"age": 0, "age_confidence": 0}, "age_estimated"),
    "reads_gender": ({"gender": "unknown", "gender_confidence": 0}, "gender_estimated"),
    "reads_expression": (dict.fromkeys([*sorted(SHARES), "emotion_confidence"], 0), "emotion_detected"),
}


@pytest.mark.parametrize("switch", SWITCHES)
def test_what_a_stream_switched_off_is_not_read(stack: Stack, switch: str) -> None:
    """Its members are there, empty and with confidence 0; the others are read as ever."""
    stream = stack.create_stream()
    stack.execute(f"UPDATE streams_stream SET {switch} = false WHERE id = %s", stream.id)
    with client_of(stack, stream) as client:
        results = Camera(client).see(*[HERE] * 6)
    entity = only_entity(results[-1])
    for name, (empty, event) in SWITCHES.items():
        is_off = name == switch
        assert ({member: entity[member] for member in empty} == empty) is is_off
        assert (event in types_of(results)) is not is_off
    assert set(entity) == ENTITY


@pytest.mark.parametrize("switch", SWITCHES)
def test_what_is_switched_off_during_a_session_is_told_no_more(stack: Stack, switch: str) -> None:
    stream = stack.create_stream()
    empty, _ = SWITCHES[switch]
    with client_of(stack, stream) as client:
        camera = Camera(client)
        entity = only_entity(camera.see(*[HERE] * 4)[-1])
        assert {member: entity[member] for member in empty} != empty
        stack.execute(f"UPDATE streams_stream SET {switch} = false WHERE id = %s", stream.id)
        time.sleep(float(stack.setting("credential_cache_s")) + 0.3)
        entity = only_entity(camera.see(*[HERE] * 2)[-1])
    assert {member: entity[member] for member in empty} == empty


EXPRESSIONS = ("neutral", "happiness", "surprise", "anger", "sadness")
BUILDING_BLOCKS = {
    "reads_age": ("age_and_gender_estimation", {"age": 0, "age_confidence": 0}),
    "reads_gender": ("age_and_gender_estimation", {"gender": "unknown", "gender_confidence": 0}),
    "reads_expression": ("face_expression_estimation", dict.fromkeys(EXPRESSIONS, 0)),
}


@pytest.mark.parametrize("switch", BUILDING_BLOCKS)
def test_a_switch_holds_for_the_services_of_single_pictures(stack: Stack, switch: str) -> None:
    """Also in a session that read it before: what is switched off is told no more."""
    stream = stack.create_stream()
    service, empty = BUILDING_BLOCKS[switch]
    meta = {"image": "attachment://shot", "async": False, "state": new_state()}

    def told(client: httpx2.Client) -> dict[str, object]:
        answer = client.post(f"/services/{service}/1/jobs", files=multipart(meta, shot=HERE))
        (face,) = answer.json()["faces"]
        return {member: face[member] for member in empty}

    with client_of(stack, stream) as client:
        read = told(client)
        assert read != empty
        stack.execute(f"UPDATE streams_stream SET {switch} = false WHERE id = %s", stream.id)
        time.sleep(float(stack.setting("credential_cache_s")) + 0.3)
        assert told(client) == empty
        stack.execute(f"UPDATE streams_stream SET {switch} = true WHERE id = %s", stream.id)
        time.sleep(float(stack.setting("credential_cache_s")) + 0.3)
        assert told(client) == read
