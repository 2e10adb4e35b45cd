"""Faces of a session from picture to picture."""

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from onlooker_pipeline.face_tracks import MISSES_AT_MOST, FaceTrack, average_values, decode_face_tracks, follow_faces
from onlooker_pipeline.vision.faces import Face


def face(x: float, y: float = 100, size: float = 40) -> Face:
    half = size / 2
    return Face(x - half, y - half, x + half, y + half, 0.9, np.zeros((5, 2), np.float32))


def run(pictures: list[list[Face]]) -> list[list[FaceTrack]]:
    """What is known of each picture's faces; the state goes over the bus between two pictures."""
    state: object = None
    known = []
    for faces in pictures:
        seen, missing = follow_faces(decode_face_tracks(state, values=0), faces)
        known.append(seen)
        state = msgspec.msgpack.decode(msgspec.msgpack.encode(seen + missing))
    return known


def test_sightings_count_up_while_the_face_is_there() -> None:
    assert [one[0].sightings for one in run([[face(100 + 5 * n)] for n in range(6)])] == [1, 2, 3, 4, 5, 6]


def test_sightings_begin_anew_after_a_miss() -> None:
    pictures = [[face(100)], [face(100)], [], [face(100)], [face(100)]]
    assert [one[0].sightings for one in run(pictures) if one] == [1, 2, 1, 2]


def test_two_faces_that_pass_each_other_keep_their_counts() -> None:
    pictures = [[face(100 + 10 * n, 100), face(200 - 10 * n, 160)] for n in range(10)]
    pictures[5].reverse()
    assert all(one.sightings == n + 1 for n, known in enumerate(run(pictures)) for one in known)


def test_a_face_elsewhere_or_of_another_size_is_another_face() -> None:
    assert run([[face(100)], [face(200)]])[1][0].sightings == 1
    assert run([[face(100, size=40)], [face(100, size=90)]])[1][0].sightings == 1


def test_a_state_of_another_release_begins_anew() -> None:
    assert decode_face_tracks({"faces": [1, 2]}, values=2) == decode_face_tracks([["much", "else"]], values=2) == []
    kept = [FaceTrack(0, 0, 10), FaceTrack(0, 0, 10, readings=7, values=(1.0, 2.0))]
    assert decode_face_tracks(kept, values=2) == kept
    assert decode_face_tracks(kept, values=5) == []


def test_a_face_is_forgotten_after_some_misses() -> None:
    back = run([[face(100)], *[[]] * MISSES_AT_MOST, [face(100)]])[-1][0]
    assert back.misses == 0
    state = decode_face_tracks(None, values=0)
    state, missing = follow_faces(state, [face(100)])
    for _ in range(MISSES_AT_MOST + 1):
        _, missing = follow_faces(state, [])
        state = missing
    assert missing == []


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30), st.integers(1, 8))
def test_readings_are_the_mean_until_the_memory_is_full_and_stay_between_the_extremes(
    readings: list[float], memory: int
) -> None:
    one = FaceTrack(0, 0, 10)
    for number, reading in enumerate(readings, start=1):
        one = average_values(one, [reading], of_last=memory)
        assert min(readings) - 1e-9 <= one.values[0] <= max(readings) + 1e-9
        if number <= memory:
            assert np.isclose(one.values[0], np.mean(readings[:number]))


@given(st.lists(st.tuples(st.floats(0, 600), st.floats(0, 400), st.floats(10, 200)), max_size=12), st.randoms())
def test_every_face_is_followed_once_whatever_the_order(places: list[tuple[float, float, float]], rng: object) -> None:
    faces = [face(*place) for place in places]
    known, _ = follow_faces([], faces)
    shuffled = list(faces)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    seen, missing = follow_faces(known, shuffled)
    assert len(seen) == len(faces)
    assert missing == []
    assert all(one.sightings == 2 for one in seen)
