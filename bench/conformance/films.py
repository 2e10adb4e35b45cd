"""What the programs send: pictures of somebody who passes, of somebody whose face is never seen, and a sound."""

import runpy
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from bench.lib.product import ROOT
from bench.lib.testdata import BESIDE_THE_PROJECT

QUALITY = 80
SMALL = (320, 240)
SMALLEST_FACES = BESIDE_THE_PROJECT / "images" / "angus" / "large.jpg"
SMALLEST_SCALE = 0.3
"""At which its faces are about 10 pixels wide; smaller ones the detector does not find."""
ASTRONAUT_FACE_PX = 30
_FACE_OF_PHOTOGRAPH = (slice(40, 230), slice(150, 300))


def prepare_films(folder: Path) -> None:
    """Write folders of grey JPEG pictures, ten a second, as the historic examples make them."""
    stop_by = runpy.run_path(str(ROOT / "docs" / "make_passing.py"))["stop_by"]
    passing = list(stop_by(_encoded(_photograph())))
    _write(folder / "passing", passing)
    _write(folder / "small", (cv2.resize(picture, SMALL, interpolation=cv2.INTER_AREA) for picture in passing))
    _write(folder / "faceless", stop_by(_encoded(_without_face())))
    _write(folder / "tiny", [_with_tiny_faces()] * 6)
    make_sound = runpy.run_path(str(ROOT / "docs" / "make_sound.py"))["make_sound"]
    (folder / "sound.wav").write_bytes(make_sound(yaw_degrees=30.0, baseline_m=0.2))


def _photograph() -> Any:
    return cv2.imread(str(ROOT / "docs" / "pictures" / "astronaut.jpg"))


def _without_face() -> Any:
    """Somebody of whom only hair, shoulders and clothes can be made out."""
    photograph = _photograph()
    photograph[_FACE_OF_PHOTOGRAPH] = cv2.GaussianBlur(photograph[_FACE_OF_PHOTOGRAPH], (61, 61), 40)
    return photograph


def _encoded(picture: Any) -> bytes:
    return bytes(cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 95])[1])


def _with_tiny_faces() -> Any:
    """People far away; where the labelled pictures are not beside the project, the astronaut, not quite as far."""
    if SMALLEST_FACES.is_file():
        crowd = cv2.imread(str(SMALLEST_FACES))
        assert crowd is not None
        return cv2.resize(crowd, None, fx=SMALLEST_SCALE, fy=SMALLEST_SCALE, interpolation=cv2.INTER_AREA)
    scale = ASTRONAUT_FACE_PX / 110
    small = cv2.resize(_photograph(), None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    wall = np.full((SMALL[1], SMALL[0], 3), 200, np.uint8)
    wall[100 : 100 + small.shape[0], 100 : 100 + small.shape[1]] = small
    return wall


def _write(folder: Path, pictures: Iterable[Any]) -> None:
    folder.mkdir()
    for number, picture in enumerate(pictures):
        grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
        written = cv2.imwrite(str(folder / f"{number:04d}.jpg"), grey, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
        assert written, folder
