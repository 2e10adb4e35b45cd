"""Sequences in the layout of the MOTChallenge: `seqinfo.ini`, pictures in `img1`, and `gt/gt.txt`."""

import configparser
import csv
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import cv2

from bench.lib.frames import FRAME_HEIGHT, FRAME_WIDTH, as_shot
from onlooker_pipeline.tracking.boxes import Box


@dataclass(frozen=True)
class TruePerson:
    """Somebody in one frame; the box in pixels of the frame as a camera sends it, and over its edges."""

    id: int
    box: Box
    counts: bool
    """False for what the labels leave out of scores: sitting or hidden people, reflections."""


@dataclass(frozen=True)
class StreetSequence:
    """A filmed street with its truth."""

    folder: Path
    name: str
    fps: float
    frames: int
    width: int
    """Of a frame as it is sent."""
    height: int
    scale: float
    """From the original picture to a frame."""

    @cached_property
    def people(self) -> dict[int, list[TruePerson]]:
        """By frame, counted from 1."""
        found: dict[int, list[TruePerson]] = {}
        with (self.folder / "gt" / "gt.txt").open(newline="", encoding="utf-8") as file:
            for row in csv.reader(file):
                frame, person = int(row[0]), int(row[1])
                left, top, width, height = (float(value) * self.scale for value in row[2:6])
                box = Box(left, top, left + width, top + height)
                found.setdefault(frame, []).append(TruePerson(person, box, counts=float(row[6]) != 0))
        return found

    def in_frame(self, number: int) -> list[TruePerson]:
        """With the part of each that lies in the frame."""
        return [
            replace(person, box=person.box.within(self.width, self.height)) for person in self.people.get(number, [])
        ]

    def picture(self, number: int) -> Path:
        return self.folder / "img1" / f"{number:06}.jpg"

    def jpegs(self, *, every: int = 1) -> Iterator[tuple[int, bytes]]:
        """Numbers and frames as a camera sends them: fitted into 640 x 480, grey, JPEG."""
        for number in range(1, self.frames + 1, every):
            yield number, as_shot(read_picture(self.picture(number)))[0]


def read_picture(path: Path) -> cv2.typing.MatLike:
    picture = cv2.imread(str(path))
    if picture is None:
        raise SystemExit(f"{path} can't be read, though seqinfo.ini counts it: the sequence needs its pictures.")
    return picture


def read_sequences(folder: Path) -> list[StreetSequence]:
    """The folder itself if it is a sequence, or else those in it; ends the program where there is none."""
    files = [folder / "seqinfo.ini"] if (folder / "seqinfo.ini").is_file() else sorted(folder.glob("*/seqinfo.ini"))
    if not files:
        sys.exit(f"No sequences in {folder}: a folder with seqinfo.ini, img1 and gt/gt.txt is one.")
    return [_read_sequence(file) for file in files]


def _read_sequence(file: Path) -> StreetSequence:
    parser = configparser.ConfigParser()
    parser.read(file, encoding="utf-8")
    info = parser["Sequence"]
    width, height = int(info["imWidth"]), int(info["imHeight"])
    scale = min(FRAME_WIDTH / width, FRAME_HEIGHT / height, 1.0)
    return StreetSequence(
        folder=file.parent,
        name=info.get("name", file.parent.name),
        fps=float(info["frameRate"]),
        frames=int(info["seqLength"]),
        width=round(width * scale),
        height=round(height * scale),
        scale=scale,
    )
