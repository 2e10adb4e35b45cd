"""The examples of the historic documentation and getting-started collection, as loops over a film; none of their code.

Each of them reads its answers without asking first whether a member is there, so a missing one raises.
"""

import io
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from math import cos, sin
from typing import Any

from bench.conformance.sdk_visitor import Visitor, run_checks

Result = dict[str, Any]
SENSITIVITY = {
    "appearance": 0.7,
    "disappearance": 0.7,
    "age_estimated": 0.4,
    "gender_estimated": 0.5,
    "focus_locked": 0.9,
    "emotion_detected": 0.4,
    "direction_estimated": 0.8,
}
STEP = timedelta(seconds=0.1)
GENDERS = {"male", "female", "unknown"}


def moments(*, gap_after: int | None = None, gap: timedelta = timedelta()) -> Iterator[datetime]:
    """Ten a second, from a little while ago; after so many frames the clock jumps once."""
    at = datetime.now(UTC) - timedelta(seconds=60)
    number = 0
    while True:
        yield at
        number += 1
        at += STEP if number != gap_after else gap


def film_scene(visitor: Visitor, pictures: Iterable[bytes], stamps: Iterable[str], **fields: Any) -> list[Result]:
    """One session of scene_analysis, frame by frame."""
    service = visitor.service("scene_analysis")
    service.enable_session()
    results = []
    for picture, stamp in zip(pictures, stamps, strict=False):
        result = service.process({"image": io.BytesIO(picture), "timestamp": stamp, **fields}).result
        assert "error" not in result, result
        results.append(result)
    service.disable_session()
    return results


def in_utc(**jump: Any) -> Iterator[str]:
    return (at.isoformat() for at in moments(**jump))


def draw_eyes(results: Iterable[Result]) -> int:
    """The webcam example: two eyes and a gaze of everybody."""
    drawn = 0
    for result in results:
        for entity in result["entities"].values():
            (left_x, left_y), (right_x, right_y) = entity["face_eye"]
            yaw, pitch = entity["gaze"]
            assert all(isinstance(value, int | float) for value in (left_x, left_y, right_x, right_y, yaw, pitch))
            drawn += 1
    return drawn


def follow_events(results: Iterable[Result]) -> list[str]:
    """The building-block example: looks up what each event is about, then draws everybody."""
    types = []
    for result in results:
        for event in result["events"]:
            value = result["entities"][event["entity_id"]][event["key"]]
            assert value is not None, event
            assert event["entity_type"] == "human", event
            assert 0 <= event["confidence"] <= 1, event
            types.append(event["type"])
        for entity in result["entities"].values():
            assert len(list(map(int, entity["face_roi"]))) == 4
    return types


def caption_people(results: Iterable[Result]) -> set[str]:
    """The getting-started example: age with one digit, gender as a word, angles, and pixels as integers."""
    captions = set()
    for result in results:
        for entity in result["entities"].values():
            x, y, width, height = map(int, entity["face_roi"])
            nose_x, nose_y = map(int, entity["face_nose"])
            yaw, pitch, roll = entity["head"][0], entity["head"][1], entity["head"][2]
            int(150 * (sin(pitch) * sin(roll) - cos(pitch) * sin(-yaw) * cos(roll)))
            assert min(x, y, width, height, nose_x, nose_y) >= 0
            assert entity["gender"] in GENDERS, entity["gender"]
            captions.add("(age, gender) = ({:.1f}, {})".format(entity["age"], entity["gender"]))
    return captions


def webcam(visitor: Visitor) -> None:
    assert draw_eyes(film_scene(visitor, visitor.film("passing"), in_utc(), store=True)) > 50


def webcam_tells_an_error(visitor: Visitor) -> None:
    result = visitor.service("scene_analysis").process({"image": io.BytesIO(b"no picture"), "store": False}).result
    assert isinstance(result["error"], str), result


def walk_past(visitor: Visitor) -> None:
    types = follow_events(film_scene(visitor, visitor.film("passing"), in_utc(), sensitivity=SENSITIVITY))
    assert types.count("appearance") == types.count("disappearance") == 1, types


def never_shows_a_face(visitor: Visitor) -> None:
    results = film_scene(visitor, visitor.film("faceless"), in_utc(), sensitivity=SENSITIVITY)
    assert follow_events(results) == []
    assert not any(result["entities"] for result in results)
    assert any(result["bodies"] for result in results), "nobody was seen at all"


def _leaves(visitor: Visitor, pictures: list[bytes], stamps: Iterable[str]) -> None:
    types = follow_events(film_scene(visitor, pictures, stamps, sensitivity=SENSITIVITY))
    assert types.count("appearance") == types.count("disappearance") >= 1, types


def gap_of_seven_seconds(visitor: Visitor) -> None:
    film = visitor.film("passing")
    empty = [film[0]] * 40
    _leaves(visitor, [*film[20:50], *empty], in_utc(gap_after=30, gap=timedelta(seconds=7)))


def clock_set_back(visitor: Visitor) -> None:
    film = visitor.film("passing")
    _leaves(visitor, [*film[20:50], *[film[0]] * 40], in_utc(gap_after=30, gap=timedelta(seconds=-20)))


def changed_picture_size(visitor: Visitor) -> None:
    small = visitor.film("small")
    _leaves(visitor, [*visitor.film("passing")[20:50], *[small[0]] * 40], in_utc())


def captions(visitor: Visitor) -> None:
    captions = caption_people(film_scene(visitor, visitor.film("passing"), in_utc(), sensitivity=SENSITIVITY))
    assert any("female" in one for one in captions), captions


def captions_of_tiny_faces(visitor: Visitor) -> None:
    caption_people(film_scene(visitor, visitor.film("tiny"), in_utc()))
    faces = visitor.service("age_and_gender_estimation").process({"image": tiny(visitor)}).result["faces"]
    assert faces
    for face in faces:
        assert face["gender"] in GENDERS, face
        f"{face['age']:.1f}, {face['gender']}"


def switched_off(visitor: Visitor) -> None:
    """For a stream that reads neither age nor gender nor expression."""
    results = film_scene(visitor, visitor.film("passing"), in_utc(), sensitivity=SENSITIVITY)
    follow_events(results)
    assert caption_people(results) == {"(age, gender) = (0.0, unknown)"}
    aged = visitor.service("age_and_gender_estimation").process({"image": visitor.picture()}).result["faces"]
    assert [f"{face['age']:.1f} {face['gender']}" for face in aged] == ["0.0 unknown"]
    (mood,) = visitor.service("face_expression_estimation").process({"image": visitor.picture()}).result["faces"]
    assert max((mood[name], name) for name in ("sadness", "happiness", "neutral", "surprise", "anger"))[0] == 0.0, mood


def without_an_offset(visitor: Visitor) -> None:
    stamps = (at.replace(tzinfo=None).isoformat() for at in moments())
    results = film_scene(visitor, visitor.film("passing")[:60], stamps, sensitivity=SENSITIVITY)
    assert "appearance" in follow_events(results)


def _in_real_time(visitor: Visitor, stamp: Callable[[datetime], str]) -> list[Result]:
    """Ten frames a second by the clock: here the time of their arrival matters."""

    def stamps() -> Iterator[str]:
        began = time.monotonic()
        for number in range(60):
            time.sleep(max(0.0, began + number * STEP.total_seconds() - time.monotonic()))
            yield stamp(datetime.now(UTC))

    return film_scene(visitor, visitor.film("passing")[15:75], stamps())


def all_stamped_alike(visitor: Visitor) -> None:
    stamp = datetime.now(UTC).isoformat()
    results = _in_real_time(visitor, lambda _: stamp)
    assert not any(result.get("late") for result in results)
    assert "appearance" in follow_events(results)


def whole_seconds(visitor: Visitor) -> None:
    results = _in_real_time(visitor, lambda now: now.replace(microsecond=0).isoformat())
    assert not any(result.get("late") for result in results)
    assert "appearance" in follow_events(results)


def tiny(visitor: Visitor) -> io.BytesIO:
    return io.BytesIO(visitor.film("tiny")[0])


def one_session_each(visitor: Visitor) -> None:
    """The examples of the other services, which read their results in the same way."""
    read: dict[str, Callable[[Result], Any]] = {
        "face_detection": lambda face: [int(value) for value in face["roi"]] and face["roi_confidence"] + 0.0,
        "age_and_gender_estimation": lambda face: f"{face['age']:.1f}, {face['gender']}",
        "face_expression_estimation": lambda face: max(face[n] for n in ("sadness", "happiness", "neutral", "anger")),
        "gaze_analysis": lambda face: sin(face["head_pitch"]) * sin(face["head_roll"]) * cos(face["head_yaw"]),
    }
    for name, read_face in read.items():
        service = visitor.service(name)
        service.enable_session()
        for picture in visitor.film("passing")[30:40]:
            result = service.process({"image": io.BytesIO(picture)}).result
            for number in range(result["nb_faces"]):
                read_face(result["faces"][number])
        service.disable_session()
        assert result["nb_faces"] == 1, (name, result)


def motion_with_and_without_a_session(visitor: Visitor) -> None:
    service = visitor.service("motion_detection")
    assert service.process({"image": visitor.picture()}).result["nb_targets"] == 0
    service.enable_session()
    seen = 0
    for picture in visitor.film("passing")[:20]:
        result = service.process({"image": io.BytesIO(picture)}).result
        for target in result["targets"]:
            seen += len([int(value) for value in (*target["mean_position"], *target["mean_velocity"])])
    assert seen, "nothing moved"


PROGRAMS = {
    "webcam": (webcam, webcam_tells_an_error),
    "building_blocks": (walk_past, never_shows_a_face, gap_of_seven_seconds, clock_set_back, changed_picture_size),
    "scene": (captions, captions_of_tiny_faces),
    "switched_off": (switched_off,),
    "others": (
        one_session_each,
        motion_with_and_without_a_session,
        without_an_offset,
        all_stamped_alike,
        whole_seconds,
    ),
}

if __name__ == "__main__":
    run_checks({check.__name__: check for check in PROGRAMS[sys.argv.pop(1)]})
