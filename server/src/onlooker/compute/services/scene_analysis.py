"""`scene_analysis`: who is in front of the camera, where each looks, how old, which gender and mood; makes visits."""

from datetime import UTC, datetime
from typing import Any

from onlooker.bus.messages import Skipped
from onlooker.compute.call import Call
from onlooker.compute.frame_time import Order
from onlooker.compute.motion.change import Grey
from onlooker.compute.scene.entities import describe_bodies, describe_entities
from onlooker.compute.scene.events import Raised, end_scene, raise_events
from onlooker.compute.scene.movement import find_movement, shrink, unexplained
from onlooker.compute.scene.observing import observe
from onlooker.compute.scene.options import read_options
from onlooker.compute.scene.settling import add_frame, settle
from onlooker.compute.scene.sight import PictureSight
from onlooker.compute.scene.state import SceneState, pack, unpack
from onlooker.compute.scene.timing import check_time
from onlooker.compute.sightings import Seen
from onlooker.compute.tracking.boxes import Box
from onlooker.compute.vision.decoding import Picture, decode_picture


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    options = read_options(call.params, call.sender)
    check_time(call, stored=options.stored)
    scene, at_ms = unpack(state), call.time.at_ms
    if scene and call.time.order is Order.LATE:
        call.skipped.append(Skipped.OUT_OF_ORDER)
        known = Raised([], describe_entities(scene, options))
        return _result(call, scene, known) | {"late": True}, state
    picture = decode_picture(call.attachments["image"])
    height, width = picture.shape[:2]
    over = unpack(call.idle_state)  # its visits are closed where the session was ended
    farewell = end_scene(over, options) if over else Raised([], {})
    if scene and (at_ms <= scene.at_ms or (scene.width, scene.height) != (width, height)):
        farewell = end_scene(scene, options)
        _hand_over(call, scene, settle(scene, options, everything=True))
        call.memory.clear()
        scene = None
    scene = scene or SceneState(at_ms, width, height)
    step = observe(scene, PictureSight(picture), _moved(call, scene, picture), at_ms=at_ms, options=options)
    raised = raise_events(scene, step.ended, options)
    add_frame(scene, options)
    _hand_over(call, scene, settle(scene, options))
    told = Raised(farewell.events + raised.events, farewell.entities | raised.entities)
    return _result(call, scene, told), pack(scene) if call.in_session else None


def _hand_over(call: Call, scene: SceneState, seen: Seen) -> None:
    """To whoever makes visits, if any frame of the scene was to be stored."""
    if scene.stores:
        call.seen.append(seen)


def _moved(call: Call, scene: SceneState, picture: Picture) -> list[Box]:
    """Where something moved that nobody who is followed explains; the last picture is in this worker's memory only."""
    now = shrink(picture)
    before: Grey | None = call.memory.kept
    call.memory.keep(now, size_bytes=now.nbytes)
    if before is None:
        return []
    moved = find_movement(before, now, width=scene.width, height=scene.height)
    return unexplained(moved, [track.body_box for track in scene.tracks]) if moved else []


def _result(call: Call, scene: SceneState, told: Raised) -> dict[str, Any]:
    return {
        "timestamp": call.params.get("timestamp") or _written(scene.at_ms),
        "input_size": [scene.height, scene.width],
        "events": told.events,
        "entities": told.entities,
        "bodies": describe_bodies(scene),
    }


def _written(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")
