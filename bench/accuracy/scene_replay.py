"""Frames through the pipeline's scene, one after another, with the place of every person and the visits."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from bench.accuracy.track_scores import FollowedScene
from onlooker_pipeline.scene.body_search import find_unexplained
from onlooker_pipeline.scene.face_attributes import ProfileReading
from onlooker_pipeline.scene.observation import observe_frame
from onlooker_pipeline.scene.request_options import SceneOptions
from onlooker_pipeline.scene.sighting_verdicts import add_pending_frame, finalise_sightings
from onlooker_pipeline.scene.state import SceneState, decode_scene, encode_scene, new_scene
from onlooker_pipeline.tracking.boxes import Box
from onlooker_pipeline.vision.faces import Face
from onlooker_pipeline.vision.gaze import Directions
from onlooker_pipeline.vision.persons import PersonBox
from onlooker_pipeline.visits.fold import Folded, close_visits, fold_sightings
from onlooker_pipeline.visits.sightings import Seen
from onlooker_pipeline.visits.visit import Visit

BEGINS_MS = 1_700_000_000_000
BODIES_ONLY = SceneOptions(stored=True, reads_age=False, reads_gender=False, reads_expression=False)


@dataclass
class VisitLog:
    """The places and the visits of a scene, in their newest revisions."""

    folded: Folded = field(default_factory=lambda: Folded(stream_id=0, session=""))
    newest: dict[bytes, Visit] = field(default_factory=dict)
    at_ms: list[int] = field(default_factory=list)
    places: list[dict[bytes, Box]] = field(default_factory=list)
    searches: int = 0

    def add(self, state: SceneState, seen: Iterable[Seen]) -> None:
        for one in seen:
            self.folded, visits = fold_sightings(self.folded, one)
            self.newest |= {visit.id: visit for visit in visits}
        self.at_ms.append(state.at_ms)
        self.places.append({track.id: track.body_box for track in state.tracks})
        self.searches += state.searched_ms == state.at_ms

    def close(self) -> FollowedScene:
        self.newest |= {visit.id: visit for visit in close_visits(self.folded)}
        searched = self.searches / max(len(self.at_ms), 1)
        return FollowedScene(self.at_ms, self.places, list(self.newest.values()), searched)


@dataclass(frozen=True)
class BoxFrame:
    """A frame without a picture: what detectors found in it, or would find, and what moved."""

    seconds: float
    bodies: list[PersonBox]
    moved: list[Box]
    faces: list[Face] = field(default_factory=list)
    directions: list[Directions] = field(default_factory=list)
    """Of each face."""


class BoxVision:
    """Stands for a picture in which everything was found before; ages and expressions are not read."""

    def __init__(self, width: int, height: int, frame: BoxFrame) -> None:
        self.width, self.height = width, height
        self.faces = frame.faces
        self._frame = frame

    def bodies(self) -> list[PersonBox]:
        return self._frame.bodies

    def directions(self, faces: Sequence[Face], with_eyes: Sequence[bool]) -> list[Directions]:
        known = {id(face): one for face, one in zip(self._frame.faces, self._frame.directions, strict=True)}
        return [known[id(face)] for face in faces]

    def profiles(self, faces: Sequence[Face], *, age: bool, gender: bool) -> list[ProfileReading]:
        return []

    def expressions(self, faces: Sequence[Face]) -> list[dict[str, float]]:
        return []


def replay_boxes(frames: Sequence[BoxFrame], *, width: int, height: int, haste: float = 1.0) -> FollowedScene:
    """Boxes through the scene; with more haste than 1, bodies are searched for so much sooner than the product does."""
    log, packed, searched_ms = VisitLog(), b"", 0
    for frame in frames:
        at_ms = BEGINS_MS + round(frame.seconds * 1000)
        state = decode_scene(packed) or new_scene(at_ms, width, height)
        state.searched_ms = at_ms - round((at_ms - searched_ms) * haste)
        moved = find_unexplained(frame.moved, [track.body_box for track in state.tracks])
        observe_frame(state, BoxVision(width, height, frame), moved, at_ms=at_ms, options=BODIES_ONLY)
        searched_ms = at_ms if state.searched_ms == at_ms else searched_ms
        add_pending_frame(state, BODIES_ONLY)
        log.add(state, [finalise_sightings(state, BODIES_ONLY)])
        packed = encode_scene(state)
    return log.close()
