"""A tiny world for tests of the tracker: people on straight lines, and what a face detector would find of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from onlooker_pipeline.tracking.boxes import DEFAULT_BODY, Box, HeadPlace, body_around
from onlooker_pipeline.tracking.tracker import Detections, follow_people
from onlooker_pipeline.tracking.tracks import BodyFound, FaceFound, Track

WIDTH, HEIGHT = 640, 480
START_MS = 1_800_000_000_000
SURE, UNSURE = 0.9, 0.5


@dataclass(frozen=True)
class Walker:
    """Walks from a place, as long as they are there; pixels, and pixels a second."""

    x: float
    y: float
    size: float = 50.0
    across: float = 0.0
    begins_s: float = 0.0
    ends_s: float = math.inf
    hidden: tuple[tuple[float, float], ...] = ()
    """Times in which nothing of them is seen."""

    def head(self, at_s: float) -> HeadPlace:
        return HeadPlace(self.x + self.across * (at_s - self.begins_s), self.y, self.size)

    def is_seen(self, at_s: float) -> bool:
        there = self.begins_s <= at_s < self.ends_s and 0 <= self.head(at_s).x <= WIDTH
        return there and not any(start <= at_s < end for start, end in self.hidden)


def face_at(head: HeadPlace, confidence: float = SURE) -> FaceFound:
    """Higher than wide, as faces are."""
    x, y, size = head
    return FaceFound(Box(x - 0.4 * size, y - size / 2, x + 0.4 * size, y + size / 2), confidence)


def body_at(head: HeadPlace, confidence: float = 0.7) -> BodyFound:
    return BodyFound(body_around(head, DEFAULT_BODY).within(WIDTH, HEIGHT), confidence)


@dataclass
class World:
    """Runs the tracker, and remembers who was given which track."""

    tracks: list[Track] = field(default_factory=list)
    ended: list[Track] = field(default_factory=list)
    ids: dict[int, list[bytes]] = field(default_factory=dict)
    """Of each walker: the track at every sighting."""
    confirmed: set[bytes] = field(default_factory=set)
    """Everyone who ever was."""

    def show(
        self,
        at_ms: int,
        faces: Sequence[FaceFound] = (),
        *,
        bodies: Sequence[BodyFound] | None = None,
        moved: Sequence[Box] = (),
    ) -> list[bytes | None]:
        """One frame; the track that each face was given to."""
        step = follow_people(self.tracks, Detections(WIDTH, HEIGHT, faces, bodies, moved), START_MS + at_ms)
        self.tracks = step.tracks
        self.ended += step.ended
        self.confirmed |= {track.id for track in step.tracks if track.confirmed}
        given = {face: id for id, face in step.face_of.items()}
        return [given.get(index) for index in range(len(faces))]

    def walk(
        self,
        walkers: Sequence[Walker],
        moments_ms: Sequence[int],
        *,
        missed: frozenset[tuple[int, int]] = frozenset(),
        unsure: frozenset[tuple[int, int]] = frozenset(),
    ) -> None:
        """Frames at these moments; a (frame, walker) may be missed or found with little confidence."""
        for frame, at_ms in enumerate(moments_ms):
            seen = [
                (who, face_at(walker.head(at_ms / 1000), UNSURE if (frame, who) in unsure else SURE))
                for who, walker in enumerate(walkers)
                if walker.is_seen(at_ms / 1000) and (frame, who) not in missed
            ]
            given = self.show(at_ms, [face for _, face in seen])
            for (who, _), id in zip(seen, given, strict=True):
                if id is not None:
                    self.ids.setdefault(who, []).append(id)

    def confirmed_of(self, who: int) -> set[bytes]:
        """The people for whom a walker was taken."""
        return self.confirmed & set(self.ids.get(who, []))


def every(ms: float, *, until_ms: float, since_ms: float = 0) -> list[int]:
    """Moments at a steady rate."""
    count = int((until_ms - since_ms) / ms)
    return [round(since_ms + number * ms) for number in range(count + 1)]
