"""During a session, no service returns what the owner has switched off; the rest goes on."""

from typing import Any

import httpx2

from clients import client_of
from scene_camera import HERE, SHARES, Camera, only_entity
from testkit import Stack
from wire import multipart, new_state, wait_for

EXPRESSIONS = ("neutral", "happiness", "surprise", "anger", "sadness")
SWITCHES: dict[str, tuple[dict[str, object], str, dict[str, object]]] = {
    "reads_age": ({"age": 0, "age_confidence": 0}, "age_and_gender_estimation", {"age": 0, "age_confidence": 0}),
    "reads_gender": (
        {"gender": "unknown", "gender_confidence": 0},
        "age_and_gender_estimation",
        {"gender": "unknown", "gender_confidence": 0},
    ),
    "reads_expression": (
        dict.fromkeys([*sorted(SHARES), "emotion_confidence"], 0),
        "face_expression_estimation",
        dict.fromkeys(EXPRESSIONS, 0),
    ),
}
"""By switch: what an entity is without it, and the faces of a service of single pictures."""


def faces_of(client: httpx2.Client, service: str, state: dict[str, str]) -> dict[str, Any]:
    meta = {"image": "attachment://shot", "async": False, "state": state}
    answer = client.post(f"/services/{service}/1/jobs", files=multipart(meta, shot=HERE))
    (face,) = answer.json()["faces"]
    return dict(face)


def test_what_is_switched_off_during_a_session_is_told_no_more(stack: Stack) -> None:
    stream, state, off = stack.create_stream(), new_state(), set[str]()
    with client_of(stack, stream) as client:
        camera = Camera(client)
        camera.see(*[HERE] * 4)

        def check(result: dict[str, Any]) -> None:
            """Each service tells exactly what is not switched off."""
            for switch, (of_entity, service, of_face) in SWITCHES.items():
                face = faces_of(client, service, state)
                entity = only_entity(result)
                assert ({name: entity[name] for name in of_entity} == of_entity) is (switch in off)
                assert ({name: face[name] for name in of_face} == of_face) is (switch in off)

        check(camera.see(HERE)[-1])
        for switch, (of_entity, _, _) in SWITCHES.items():
            stack.execute(f"UPDATE streams_stream SET {switch} = false WHERE id = %s", stream.id)
            off.add(switch)
            wait_for(
                lambda: only_entity(camera.see(HERE)[-1]),
                lambda entity, empty=of_entity: {name: entity[name] for name in empty} == empty,  # type: ignore[misc]
            )
            check(camera.see(HERE)[-1])
        stack.execute("UPDATE streams_stream SET reads_age = true WHERE id = %s", stream.id)
        service, empty = SWITCHES["reads_age"][1:]
        wait_for(lambda: faces_of(client, service, state), lambda face: face["age"] != empty["age"])
