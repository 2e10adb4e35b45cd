"""Pictures that nobody else has: somebody in front of a wall of noise, drawn for one run of the proof."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np

from onlooker.proof.picture_traces import Grey, PictureMarks
from onlooker_pipeline.warm_up import read_reference_picture

SIZE_PX = (640, 480)
NOISE = 9.0
"""Standard deviation in grey values: a face is still found, and no two rows are alike."""
DARKEST, CONTRAST = 38.0, 0.7
"""So that noise is nowhere cut off: a black or a white row is like any other."""
QUALITY = 80
"""Of a JPEG, as the agent sends it."""
FPS = 10
PATCH_PX = 48
"""Something that moves through a film, so that it is not taken for a frozen picture."""


@dataclass
class MarkedPictures:
    """All that was drawn, by the way that it is sent down."""

    pixels: dict[str, list[Grey]] = field(default_factory=dict)
    files: dict[str, list[bytes]] = field(default_factory=dict)

    def draw(self, way: str) -> bytes:
        """A JPEG file for one way."""
        return self._keep(way, draw_picture())

    def film(self, way: str, path: Path, *, seconds: float) -> Path:
        """A video for one way; its wall is the same in all frames."""
        wall = draw_picture()
        # OpenCV's own encoder: FFmpeg's changes its quality from frame to frame, and the wall with it.
        video = cv2.VideoWriter(str(path), cv2.CAP_OPENCV_MJPEG, cv2.VideoWriter.fourcc(*"MJPG"), FPS, SIZE_PX)
        for frame in _moving(wall, round(seconds * FPS)):
            video.write(cv2.cvtColor(frame, cv2.COLOR_GRAY2BGR))
        video.release()
        reader = cv2.VideoCapture(str(path))
        is_there, first = reader.read()
        reader.release()
        assert is_there, "the film could not be written"
        grey = np.asarray(cv2.cvtColor(first, cv2.COLOR_BGR2GRAY), np.uint8)
        self.pixels.setdefault(way, []).append(grey)  # as a device sees it; the server sees its JPEG
        self._keep(way, grey)
        return path

    def marks(self, *ways: str) -> PictureMarks:
        """Of these ways, or of all."""
        chosen = ways or tuple(self.pixels)
        return PictureMarks(
            [picture for way in chosen for picture in self.pixels[way]],
            [file for way in chosen for file in self.files[way]],
        )

    def _keep(self, way: str, picture: Grey) -> bytes:
        file = encode_jpeg(picture)
        self.files.setdefault(way, []).append(file)
        self.pixels.setdefault(way, []).append(decode_grey(file))
        return file


def draw_picture() -> Grey:
    person = cv2.resize(decode_grey(read_reference_picture()), SIZE_PX, interpolation=cv2.INTER_LINEAR)
    noise = np.random.default_rng(secrets.randbits(64)).normal(0.0, NOISE, person.shape)
    return np.clip(DARKEST + np.asarray(person, np.float64) * CONTRAST + noise, 0, 255).astype(np.uint8)


def encode_jpeg(picture: Grey) -> bytes:
    return bytes(cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])[1])


def decode_grey(file: bytes) -> Grey:
    return np.asarray(cv2.imdecode(np.frombuffer(file, np.uint8), cv2.IMREAD_GRAYSCALE), np.uint8)


def _moving(wall: Grey, frames: int) -> Iterator[Grey]:
    """A dark patch crosses the upper edge."""
    for number in range(frames):
        frame = wall.copy()
        left = number * 8 % (SIZE_PX[0] - PATCH_PX)
        frame[:PATCH_PX, left : left + PATCH_PX] = 20
        yield frame
