"""Pictures for tests: a photograph of the documentation, and labelled ones that lie beside the project."""

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
TESTDATA = ROOT.parent / "shared" / "testdata"


def labelled(name: str) -> bytes:
    """A file below `images`; the test is skipped where the pictures are absent."""
    file = TESTDATA / "images" / name
    if not file.is_file():
        pytest.skip(f"the labelled pictures are not here: {file}")
    return file.read_bytes()


def photograph() -> Any:
    """The astronaut of the documentation, in colour: one person from the waist up, who smiles."""
    return cv2.imread(str(ROOT / "docs/pictures/astronaut.jpg"))


def portrait() -> bytes:
    """Her head and shoulders."""
    return encoded(photograph()[10:285, 100:325])


def on_a_wall(face: bytes, *, left: int, top: int, size: tuple[int, int] = (640, 480)) -> bytes:
    """A picture hung somewhere on a grey wall, as a camera sends it."""
    width, height = size
    wall = np.full((height, width), 120, np.uint8)
    picture: Any = cv2.imdecode(np.frombuffer(face, np.uint8), cv2.IMREAD_GRAYSCALE)
    wall[top : top + picture.shape[0], left : left + picture.shape[1]] = picture
    return encoded(wall)


def encoded(picture: Any, kind: str = ".jpg", *options: int) -> bytes:
    return bytes(cv2.imencode(kind, picture, options)[1])


def empty_wall() -> bytes:
    return encoded(np.full((480, 640), 120, np.uint8))
