"""Where people really are from frame to frame: of MOTChallenge sequences and of the generator's scenes."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.lib.frames import FRAME_HEIGHT, FRAME_WIDTH
from bench.lib.motchallenge import StreetSequence, read_sequences
from bench.lib.scenes import LabelledScene
from onlooker_pipeline.tracking.boxes import Box, body_around, head_of_face

CAMERA_FPS = 10.0
"""What the agent sends unless told otherwise."""
COUNTED_FROM_PX, COUNTED_FROM_S = 50.0, 1.0
TOLERANCE_S = 1e-6


@dataclass(frozen=True)
class TrueTracks:
    """The people of one sequence, in pixels of the frames that are sent."""

    name: str
    width: int
    height: int
    seconds: list[float]
    """Of each frame that is sent."""
    boxes: list[dict[int, Box]]
    """Of each of these frames, by person."""
    pictures: list[Path] = field(default_factory=list)
    """Of each of these frames; empty where only the boxes are known."""

    @property
    def counted(self) -> frozenset[int]:
        """People of at least 50 pixels between two moments that are at least a second apart."""
        seen: dict[int, list[float]] = defaultdict(list)
        for seconds, boxes in zip(self.seconds, self.boxes, strict=True):
            for person, box in boxes.items():
                if box.height >= COUNTED_FROM_PX:
                    seen[person].append(seconds)
        return frozenset(p for p, times in seen.items() if times[-1] - times[0] >= COUNTED_FROM_S - TOLERANCE_S)

    def of(self, people: frozenset[int]) -> list[dict[int, Box]]:
        """The boxes of some people alone, as far as they lie in the picture."""
        return [
            {person: box.within(self.width, self.height) for person, box in boxes.items() if person in people}
            for boxes in self.boxes
        ]


def read_street_tracks(folder: Path) -> list[TrueTracks]:
    """Every sequence in MOTChallenge layout in a folder."""
    return [_filmed(sequence) for sequence in read_sequences(folder)]


def _filmed(sequence: StreetSequence) -> TrueTracks:
    """As a camera would send it: ten frames a second; people whom the labels leave out of scores are left out."""
    sent = choose_frames(sequence.frames, sequence.fps)
    people = [sequence.people.get(number + 1, []) for number in sent]
    return TrueTracks(
        name=sequence.name,
        width=sequence.width,
        height=sequence.height,
        seconds=[number / sequence.fps for number in sent],
        boxes=[{person.id: person.box for person in those if person.counts} for those in people],
        pictures=[sequence.picture(number + 1) for number in sent],
    )


def choose_frames(frames: int, fps: float) -> list[int]:
    """The frames that a camera at ten frames a second would send of a faster film."""
    sent: list[int] = []
    for number in range(frames):
        if number / fps >= len(sent) / CAMERA_FPS - TOLERANCE_S or fps <= CAMERA_FPS:
            sent.append(number)
    return sent


def read_drawn_tracks(scenes: Sequence[LabelledScene]) -> list[TrueTracks]:
    """Standing bodies around the faces that the generator drew, while these can be seen."""
    return [_drawn(scene) for scene in scenes if scene.truth.boxes]


def _drawn(scene: LabelledScene) -> TrueTracks:
    truth = scene.truth
    assert truth.boxes is not None
    return TrueTracks(
        name=truth.name,
        width=FRAME_WIDTH,
        height=FRAME_HEIGHT,
        seconds=[number / truth.fps for number in range(len(truth.boxes))],
        boxes=[
            {
                person: body_around(head_of_face(Box(left, top, left + width, top + height)))
                for person, (left, top, width, height) in faces.items()
            }
            for faces in truth.boxes
        ],
    )
