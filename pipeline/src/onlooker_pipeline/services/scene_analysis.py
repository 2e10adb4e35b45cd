"""`scene_analysis`: who is in front of the camera, where they look, their age, gender and mood; makes visits."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from onlooker_pipeline.face_size import bin_of
from onlooker_pipeline.frame_time import FrameOrder
from onlooker_pipeline.motion.change import Grey
from onlooker_pipeline.scene.body_search import find_movement, find_unexplained, shrink_picture
from onlooker_pipeline.scene.condition import SceneMemory, judge_picture
from onlooker_pipeline.scene.entities import describe_bodies, describe_entities
from onlooker_pipeline.scene.events import RaisedEvents, end_scene, raise_events
from onlooker_pipeline.scene.frame_vision import PictureVision
from onlooker_pipeline.scene.observation import observe_frame
from onlooker_pipeline.scene.picture_fault import measure_picture, trace_picture
from onlooker_pipeline.scene.request_options import SceneOptions, check_timestamp, read_options
from onlooker_pipeline.scene.sighting_verdicts import add_pending_frame, finalise_sightings
from onlooker_pipeline.scene.state import SceneState, decode_scene, encode_scene, new_scene
from onlooker_pipeline.service_call import FACES_AT_MOST, Call, FrameQuality, SkipReason
from onlooker_pipeline.tracking.boxes import Box
from onlooker_pipeline.vision.faces import Face
from onlooker_pipeline.vision.picture import Picture, decode_picture
from onlooker_pipeline.visits.sightings import Seen

SURE_FACE = 0.7
"""Confidence from which a face shows that the camera sees."""
BODY_FRESH_MS = 1000


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    return analyse_frame(call, state, lambda: decode_picture(call.attachments["image"]))


def analyse_frame(call: Call, state: Any, decode: Callable[[], Picture]) -> tuple[dict[str, Any], Any]:
    """The frame's result and the session's next state; a late frame is not even decoded."""
    options = read_options(call.params, call.sender)
    check_timestamp(call, stored=options.stored)
    scene, at_ms = decode_scene(state), call.time.at_ms
    if scene and call.time.order is FrameOrder.LATE:
        call.skipped.append(SkipReason.OUT_OF_ORDER)
        known = RaisedEvents([], describe_entities(scene, options))
        return _result(call, scene, known) | {"late": True}, state
    picture = decode()
    height, width = picture.shape[:2]
    idled = decode_scene(call.idle_state)  # its visits are closed where the session was ended
    ended = end_scene(idled, options) if idled else RaisedEvents([], {})
    if scene and _is_over(scene, options, at_ms=at_ms, size_px=(width, height)):
        ended = end_scene(scene, options)
        _report_seen(call, scene, finalise_sightings(scene, options, everything=True))
        call.memory.clear()
        scene = None
    scene = scene or new_scene(at_ms, width, height)
    vision = PictureVision(picture, reads_faces=options.reads_faces)
    memory, before = _remember_picture(call, picture)
    step = observe_frame(scene, vision, _find_moved(scene, before, memory.previous), at_ms=at_ms, options=options)
    if call.in_session:
        sure = [face for face in vision.faces if face.confidence >= SURE_FACE]
        _judge_condition(call, scene, memory, picture, sure)
    call.memory.keep(memory, size_bytes=memory.size_bytes)
    raised = raise_events(scene, step.ended, options)
    add_pending_frame(scene, options)
    _report_seen(call, scene, finalise_sightings(scene, options))
    everything = RaisedEvents(ended.events + raised.events, ended.entities | raised.entities)
    return _result(call, scene, everything), encode_scene(scene) if call.in_session else None


def _is_over(scene: SceneState, options: SceneOptions, *, at_ms: int, size_px: tuple[int, int]) -> bool:
    """Whether a frame begins another scene: its clock was set back, its size is another, or faces may not be read now.

    Of faces that were read before they were switched off, nothing stays in the new scene.
    """
    if at_ms <= scene.at_ms or (scene.width, scene.height) != size_px:
        return True
    return not options.reads_faces and any(track.had_face for track in scene.tracks)


def _report_seen(call: Call, scene: SceneState, seen: Seen) -> None:
    """For visits, if any frame of the scene is to be stored."""
    if scene.stores:
        call.seen.append(seen)


def _remember_picture(call: Call, picture: Picture) -> tuple[SceneMemory, Grey | None]:
    """What this worker keeps of the scene, with this picture in it; and the picture before, which is in memory only."""
    now = shrink_picture(picture)
    memory: SceneMemory | None = call.memory.kept
    if memory is None:
        return SceneMemory(now), None
    before, memory.previous = memory.previous, now
    return memory, before


def _find_moved(scene: SceneState, before: Grey | None, now: Grey) -> list[Box]:
    """Movement that no tracked person explains."""
    if before is None:
        return []
    moved = find_movement(before, now, width=scene.width, height=scene.height)
    return find_unexplained(moved, [track.body_box for track in scene.tracks]) if moved else []


def _judge_condition(call: Call, scene: SceneState, memory: SceneMemory, picture: Picture, sure: list[Face]) -> None:
    """After the picture was searched for people: a camera that finds a face is not blind.

    Where no face may be looked for, a body does as well.
    """
    measured, trace = measure_picture(memory.previous), trace_picture(picture)
    call.quality.append(FrameQuality(measured.is_dim, [bin_of(face.size_px) for face in sure[:FACES_AT_MOST]]))
    shows_person = bool(sure) or (not call.sender.reads_faces and _shows_body(scene))
    fault = judge_picture(scene.condition, memory, measured, trace=trace, at_ms=scene.at_ms, shows_face=shows_person)
    if fault:
        call.blind.append(fault)


def _shows_body(scene: SceneState) -> bool:
    """Whether a body was found just now; not every picture is searched for bodies."""
    found = (track for track in scene.tracks if track.body_ms > scene.at_ms - BODY_FRESH_MS)
    return any(track.body_confidence >= SURE_FACE for track in found)


def _result(call: Call, scene: SceneState, raised: RaisedEvents) -> dict[str, Any]:
    return {
        "timestamp": call.params.get("timestamp") or _as_text(scene.at_ms),
        "input_size": [scene.height, scene.width],
        "events": raised.events,
        "entities": raised.entities,
        "bodies": describe_bodies(scene),
    }


def _as_text(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")
