"""A camera for Chromium: a filmed man whom we move across the picture, so that it is known where his face is."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from onlooker_pipeline.vision.faces import find_faces

Picture = NDArray[np.uint8]
Roi = tuple[float, float, float, float]

WIDTH_PX, HEIGHT_PX = 640, 480
REPEATED = 3
"""The clip has 10 pictures a second, Chromium's camera plays 30."""
BITS, BIT_PX = 8, 24
JPEG_QUALITY = 95


@dataclass(frozen=True)
class FakeCamera:
    """A film, and where the face is in each of its pictures."""

    path: Path
    faces: list[Roi]

    @property
    def arguments(self) -> tuple[str, ...]:
        """With them Chromium plays the film wherever a page opens the camera, over and over."""
        return (
            "--use-fake-device-for-media-stream",
            "--use-fake-ui-for-media-stream",
            f"--use-file-for-fake-video-capture={self.path}",
        )

    def face_in(self, jpeg: bytes) -> Roi | None:
        """Where the face is in a picture that was taken; None where its number can't be read."""
        picture = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_GRAYSCALE)
        if picture is None or picture.shape != (HEIGHT_PX, WIDTH_PX):
            return None
        number = _read_number(np.asarray(picture, np.uint8))
        return self.faces[number] if number < len(self.faces) else None


def make_camera(clip: Path, path: Path) -> FakeCamera:
    """Write the film. It goes to and fro, so that nobody jumps where it starts again."""
    pictures = list(_read(clip))
    there_and_back = [*range(len(pictures)), *range(len(pictures) - 2, 0, -1)]
    faces = []
    with path.open("wb") as film:
        for number, index in enumerate(there_and_back):
            picture = pictures[index]
            left = (WIDTH_PX - picture.shape[1]) / 2 * (1 + math.sin(2 * math.pi * number / len(there_and_back)))
            shown = _place(picture, round(left))
            faces.append(_find_face(picture, round(left)))
            _write_number(shown, number)
            film.write(_encode(shown) * REPEATED)
    return FakeCamera(path, faces)


def _read(clip: Path) -> Iterator[Picture]:
    film = cv2.VideoCapture(str(clip))
    while True:
        there, picture = film.read()
        if not there:
            return
        yield np.asarray(picture, np.uint8)


def _place(picture: Picture, left: int) -> Picture:
    shown = np.full((HEIGHT_PX, WIDTH_PX, 3), 40, np.uint8)
    height, width = picture.shape[:2]
    shown[:height, left : left + width] = picture
    return shown


def _find_face(picture: Picture, left: int) -> Roi:
    """In the clip's own picture, before it was moved."""
    face = find_faces(picture)[0]
    return face.left + left, face.top, face.right - face.left, face.bottom - face.top


def _squares() -> Iterator[tuple[int, slice, slice]]:
    for bit in range(BITS):
        left = 20 + bit * BIT_PX
        yield bit, slice(HEIGHT_PX - 40, HEIGHT_PX - 40 + BIT_PX), slice(left, left + BIT_PX)


def _write_number(shown: Picture, number: int) -> None:
    for bit, rows, columns in _squares():
        shown[rows, columns] = 255 if number >> bit & 1 else 0


def _read_number(grey: Picture) -> int:
    return sum(int(grey[rows, columns].mean() > 127) << bit for bit, rows, columns in _squares())


def _encode(shown: Picture) -> bytes:
    return cv2.imencode(".jpg", shown, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])[1].tobytes()
