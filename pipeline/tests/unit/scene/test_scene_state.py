"""What a session remembers: small, readable by the same release only, and never anybody's face."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker_pipeline.scene.state import SceneState, decode_scene, encode_scene
from staging import Actor, Stage

FIVE = [Actor(x=x, size=50) for x in (80, 200, 320, 440, 560)]
LIMIT_BYTES = 8 * 1024


def everything_in(value: Any) -> Iterator[Any]:
    """All leaves of what msgpack or msgspec make of a value, names of members aside."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from everything_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from everything_in(inner)
    else:
        yield value


def minute(gap_ms: int) -> Stage:
    stage = Stage()
    stage.play(*FIVE, until_ms=60_000, gap_ms=gap_ms)
    return stage


@pytest.fixture(scope="module")
def busy() -> Stage:
    """After a minute with five people at ten frames a second."""
    return minute(100)


def test_state_comes_back_as_it_was(busy: Stage) -> None:
    again = decode_scene(busy.packed)
    assert again is not None
    assert again == busy.state
    assert encode_scene(again) == busy.packed


@pytest.mark.parametrize("gap_ms", [67, 200, 500])
def test_state_of_five_people_is_small(gap_ms: int) -> None:
    assert len(minute(gap_ms).packed) < LIMIT_BYTES


def test_state_does_not_grow_with_time(busy: Stage) -> None:
    early = Stage()
    early.play(*FIVE, until_ms=6_000)
    assert len(busy.packed) == pytest.approx(len(early.packed), rel=0.1)


def test_state_of_who_has_left_is_forgotten() -> None:
    stage = Stage()
    stage.play(*FIVE, until_ms=3_000)
    stage.play(since_ms=3_000, until_ms=20_000)
    assert stage.state is not None
    assert stage.state.people == {}
    assert stage.state.tracks == []
    assert len(stage.packed) < 400


@pytest.mark.parametrize(
    "other", [None, 1, {}, b"", b"\x00", [], msgspec.msgpack.encode([1, 2]), msgspec.msgpack.encode(["a", 640, 480])]
)
def test_state_of_another_release_begins_anew(other: Any) -> None:
    assert decode_scene(other) is None


def test_state_with_another_track_begins_anew(busy: Stage) -> None:
    raw = msgspec.msgpack.decode(busy.packed)
    tracks = raw[SceneState.__struct_fields__.index("tracks")]
    tracks[0] = tracks[0][:5]
    assert decode_scene(msgspec.msgpack.encode(raw)) is None


@given(junk=st.binary(max_size=200))
def test_junk_begins_anew_or_is_a_state(junk: bytes) -> None:
    assert isinstance(decode_scene(junk), SceneState | None)


def test_state_holds_numbers_and_ids_and_nothing_else(busy: Stage) -> None:
    leaves = list(everything_in(msgspec.msgpack.decode(busy.packed)))
    assert len(leaves) > 500
    assert {type(leaf) for leaf in leaves} <= {int, float, bool, str, bytes, type(None)}
    assert max(len(leaf) for leaf in leaves if isinstance(leaf, bytes)) == 16
    words = {leaf for leaf in leaves if isinstance(leaf, str)}
    assert words <= {"male", "female", "neutral", "happiness", "surprise", "anger", "sadness", "unknown"} | {
        "left",
        "right",
        "up",
        "down",
    }


def test_what_visits_get_holds_numbers_and_ids_and_nothing_else(busy: Stage) -> None:
    leaves = list(everything_in([msgspec.to_builtins(seen, builtin_types=(bytes,)) for seen in busy.seen]))
    assert {type(leaf) for leaf in leaves} <= {int, float, bool, str, bytes, type(None)}
    members = {"settled", "unsettled", "estimates", "ended"}
    assert {leaf for leaf in leaves if isinstance(leaf, str)} <= {"male", "female"} | members
    assert max(len(leaf) for leaf in leaves if isinstance(leaf, bytes)) == 16
