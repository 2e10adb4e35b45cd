"""What a stream's owner switched off is neither read nor told, by any service: age, gender, expression."""

import pytest

from clients import client_of
from scene_camera import ENTITY, HERE, SHARES, Camera, only_entity, types_of
from testkit import Stack

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
