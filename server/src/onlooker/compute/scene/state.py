"""What a session of scene_analysis remembers from frame to frame."""

from typing import Any

import msgspec

from onlooker.compute.scene.person import Person
from onlooker.compute.tracking.tracks import Track


class Pending(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A frame whose verdicts are not settled yet."""

    at_ms: int
    stored: bool


class SceneState(msgspec.Struct, array_like=True, gc=False):
    """Packed into bytes between frames: a call that fails half-way leaves the last one as it was."""

    at_ms: int
    """When the last frame was taken."""
    width: int
    height: int
    searched_ms: int = 0
    """When a frame was last searched for bodies."""
    stores: bool = False
    """Whether any frame was to be stored."""
    tracks: list[Track] = []
    people: dict[bytes, Person] = {}
    pending: list[Pending] = []


pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(SceneState).decode


def unpack(state: Any) -> SceneState | None:
    """None where there is none yet, or another release wrote it: the scene begins anew."""
    if not isinstance(state, bytes):
        return None
    try:
        return _unpack(state)
    except msgspec.MsgspecError:
        return None
