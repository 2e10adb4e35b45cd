"""`scene_analysis`: who is in front of the camera, where each looks, how old, which gender and mood; makes visits."""

from datetime import UTC, datetime
from typing import Any

from onlooker.bus.messages import Skipped
from onlooker.compute.call import Call
from onlooker.compute.motion.change import Grey
from onlooker.compute.scene.entities import describe_people
from onlooker.compute.scene.events import raise_events, say_farewell
from onlooker.compute.scene.movement import find_movement, shrink, unexplained
from onlooker.compute.scene.observing import observe
from onlooker.compute.scene.options import Options, read_options
from onlooker.compute.scene.settling import add_frame, settle
from onlooker.compute.scene.sight import PictureSight
from onlooker.compute.scene.state import SceneState, pack, unpack
from onlooker.compute.scene.timing import Order, frame_time_ms, order_of
from onlooker.compute.sightings import Seen
from onlooker.compute.tracking.boxes import Box
from onlooker.compute.vision.decoding import Picture, decode_picture


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    options = read_options(call.params, call.sender)
    at_ms = frame_time_ms(call, stored=options.stored)
    scene = unpack(state)
    if scene and order_of(at_ms, after_ms=scene.at_ms) is Order.LATE:
        call.skipped.append(Skipped.OUT_OF_ORDER)
        return _result(call, scene, options, events=[]), state
    picture = decode_picture(call.attachments["image"])
    height, width = picture.shape[:2]
    events: list[dict[str, Any]] = []
    if scene and (at_ms <= scene.at_ms or (scene.width, scene.height) != (width, height)):
        events = say_farewell(scene)
        _hand_over(call, scene, settle(scene, options, everything=True))
        call.memory.clear()
        scene = None
    scene = scene or SceneState(at_ms, width, height)
    step = observe(scene, PictureSight(picture), _moved(call, scene, picture), at_ms=at_ms, options=options)
    events += raise_events(scene, step.ended, options)
    add_frame(scene, options)
    _hand_over(call, scene, settle(scene, options))
    return _result(call, scene, options, events=events), pack(scene) if call.in_session else None


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


def _result(call: Call, scene: SceneState, options: Options, *, events: list[dict[str, Any]]) -> dict[str, Any]:
    entities, bodies = describe_people(scene, options)
    return {
        "timestamp": call.params.get("timestamp") or _written(scene.at_ms),
        "input_size": [scene.height, scene.width],
        "events": events,
        "entities": entities,
        "bodies": bodies,
    }


def _written(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")
