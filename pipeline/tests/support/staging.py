"""A stage for tests of the scene: actors instead of pixels, and a `FrameVision` that answers as good nets would."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onlooker_pipeline.scene.events import raise_events
from onlooker_pipeline.scene.face_attributes import ProfileReading
from onlooker_pipeline.scene.observation import observe_frame
from onlooker_pipeline.scene.request_options import SceneOptions
from onlooker_pipeline.scene.sighting_verdicts import add_pending_frame, finalise_sightings
from onlooker_pipeline.scene.state import SceneState, decode_scene, encode_scene, new_scene
from onlooker_pipeline.tracking.boxes import Box, HeadPlace, body_around
from onlooker_pipeline.vision.faces import Face
from onlooker_pipeline.vision.gaze import Directions
from onlooker_pipeline.vision.head_pose import Camera, Direction, Head
from onlooker_pipeline.vision.persons import PersonBox as Body
from onlooker_pipeline.visits.sightings import Seen

WIDTH, HEIGHT = 640, 480
START_MS = 1_800_000_000_000
CALM = {"neutral": 0.8, "happiness": 0.2, "surprise": 0.0, "anger": 0.0, "sadness": 0.0}
MERRY = {"neutral": 0.1, "happiness": 0.9, "surprise": 0.0, "anger": 0.0, "sadness": 0.0}


@dataclass
class Actor:
    """Somebody in a frame, as they really are; angles are degrees away from the camera."""

    x: float = 320
    y: float = 150
    size: float = 70
    yaw: float = 0
    pitch: float = 0
    age_years: float = 30
    male_probability: float = 0.02
    mood: dict[str, float] = field(default_factory=lambda: CALM)
    has_face: bool = True
    has_body: bool = True
    confidence: float = 0.9
    mesh_confidence: float = 0.98

    @property
    def face(self) -> Face:
        half = self.size / 2
        eyes_mouth = [(-0.2, -0.1), (0.2, -0.1), (0, 0.1), (-0.15, 0.3), (0.15, 0.3)]
        points = np.array([(self.x + a * self.size, self.y + b * self.size) for a, b in eyes_mouth], np.float32)
        return Face(self.x - 0.8 * half, self.y - half, self.x + 0.8 * half, self.y + half, self.confidence, points)

    @property
    def body(self) -> Body:
        box = body_around(HeadPlace(self.x, self.y, self.size)).within(WIDTH, HEIGHT)
        return Body(*box, 0.7)


class Asked:
    """What the nets were asked over a whole scene."""

    def __init__(self) -> None:
        self.times: Counter[str] = Counter()
        self.faces: dict[str, list[tuple[int, list[float]]]] = {}
        """By net: the moment and the x of each face in one question."""

    def note(self, net: str, at_ms: int, faces: Sequence[Face] = ()) -> None:
        self.times[net] += 1
        self.faces.setdefault(net, []).append((at_ms, [round(face.centre[0], 3) for face in faces]))


class StagedVision:
    """Stands for a picture of the actors and for nets that read them rightly."""

    width, height = WIDTH, HEIGHT

    def __init__(self, actors: Sequence[Actor], asked: Asked, at_ms: int) -> None:
        self._actors, self._asked, self._at_ms = actors, asked, at_ms
        self.faces = [actor.face for actor in actors if actor.has_face]

    def _of(self, faces: Sequence[Face]) -> list[Actor]:
        faced = [actor for actor in self._actors if actor.has_face]
        return [faced[next(i for i, own in enumerate(self.faces) if own is face)] for face in faces]

    def bodies(self) -> list[Body]:
        self._asked.note("bodies", self._at_ms)
        return [actor.body for actor in self._actors if actor.has_body]

    def directions(self, faces: Sequence[Face], with_eyes: Sequence[bool]) -> list[Directions]:
        self._asked.note("directions", self._at_ms, faces)
        eyes = [face for face, wanted in zip(faces, with_eyes, strict=True) if wanted]
        if eyes:
            self._asked.note("eyes", self._at_ms, eyes)
        return [_directions(actor) for actor in self._of(faces)]

    def profiles(self, faces: Sequence[Face], *, age: bool, gender: bool) -> list[ProfileReading]:
        self._asked.note("profiles", self._at_ms, faces)
        return [
            ProfileReading(actor.age_years if age else None, 8.0, actor.male_probability if gender else None)
            for actor in self._of(faces)
        ]

    def expressions(self, faces: Sequence[Face]) -> list[dict[str, float]]:
        self._asked.note("expressions", self._at_ms, faces)
        return [dict(actor.mood) for actor in self._of(faces)]


def _directions(actor: Actor) -> Directions:
    face = actor.face
    position = Camera.of_picture(WIDTH, HEIGHT).ray(actor.x, actor.y) * 100
    camera = Direction.of_vector(-position)
    yaw, pitch = camera.yaw_radians + math.radians(actor.yaw), camera.pitch_radians + math.radians(actor.pitch)
    head = Head(_rotation(yaw, pitch), position)
    left, right, nose = face.points[:3]
    return Directions(head, head.direction, True, left, right, nose, actor.mesh_confidence)


def _rotation(yaw: float, pitch: float) -> np.ndarray:
    """Of a head that faces there: pitched about the x axis first, then turned about the upright one."""
    pitched = np.array([[1, 0, 0], [0, math.cos(pitch), math.sin(pitch)], [0, -math.sin(pitch), math.cos(pitch)]])
    turned = np.array([[math.cos(yaw), 0, -math.sin(yaw)], [0, 1, 0], [math.sin(yaw), 0, math.cos(yaw)]])
    return np.asarray(turned @ pitched)


@dataclass
class Stage:
    """One session of scene_analysis without its pixels: the same steps in the same order, packed between frames."""

    options: SceneOptions = field(default_factory=lambda: SceneOptions(stored=True))
    asked: Asked = field(default_factory=Asked)
    state: SceneState | None = None
    packed: bytes = b""
    events: list[tuple[int, str, dict[str, Any]]] = field(default_factory=list)
    """Moment, type, and all of it."""
    seen: list[Seen] = field(default_factory=list)

    def show(self, at_ms: int, *actors: Actor, moved: Sequence[Box] = ()) -> dict[str, Any]:
        """One frame, some milliseconds after the start; returns the entities."""
        scene = decode_scene(self.packed) or new_scene(START_MS + at_ms, WIDTH, HEIGHT)
        sight = StagedVision(actors, self.asked, at_ms)
        step = observe_frame(scene, sight, moved, at_ms=START_MS + at_ms, options=self.options)
        raised = raise_events(scene, step.ended, self.options)
        self.events += [(at_ms, event["type"], event) for event in raised.events]
        add_pending_frame(scene, self.options)
        self.seen.append(finalise_sightings(scene, self.options))
        self.state, self.packed = scene, encode_scene(scene)
        return raised.entities

    def raised(self, name: str) -> list[int]:
        """When an event was."""
        return [at_ms for at_ms, type_, _ in self.events if type_ == name]

    def play(self, *actors: Actor, until_ms: int, since_ms: int = 0, gap_ms: int = 100) -> dict[str, Any]:
        """Actors who do not move, at a steady rate; the last entities."""
        entities: dict[str, Any] = {}
        for at_ms in range(since_ms, until_ms, gap_ms):
            entities = self.show(at_ms, *actors)
        return entities
