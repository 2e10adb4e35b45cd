"""The image's OpenCV, without FFmpeg and libavif: smaller, and the same in what it decodes and computes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import cv2
import pytest

from deploy.image.trim import OPENCV_LIBRARIES, REPLACED, replace_films

ROOT = Path(__file__).parents[3]
LIBRARIES = Path(cv2.__file__).parents[1] / OPENCV_LIBRARIES
PROGRAM = """
import sys, zlib
import cv2, numpy
for name in sys.argv[1:]:
    picture = cv2.imdecode(numpy.fromfile(name, numpy.uint8), cv2.IMREAD_ANYCOLOR)
    print(picture.shape, zlib.crc32(picture.tobytes()), zlib.crc32(cv2.resize(picture, (99, 77)).tobytes()))
points = numpy.array([[0, 0, 0], [9, 0, 1], [0, 8, 2], [7, 7, 0], [3, 5, 4], [6, 1, 7]], float)
seen = numpy.array([[50, 50], [88, 52], [48, 85], [80, 79], [66, 71], [80, 55]], float)
print(cv2.solvePnP(points, seen, numpy.diag([90.0, 90.0, 1.0]), None))
print(cv2.VideoCapture("film.mp4", cv2.CAP_FFMPEG).isOpened(), cv2.imdecode(numpy.frombuffer(%r, numpy.uint8), 1))
"""
AVIF = b"\0\0\0\x1cftypavif\0\0\0\0avifmif1miafMA1B" + bytes(64)

pytestmark = [
    pytest.mark.skipif(not shutil.which("ld") or not shutil.which("readelf"), reason="binutils are not installed"),
    pytest.mark.skipif(not LIBRARIES.is_dir(), reason="this OpenCV brings no libraries along"),
]


@pytest.fixture(scope="module")
def trimmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with OpenCV as the image has it."""
    site = tmp_path_factory.mktemp("site")
    shutil.copytree(Path(cv2.__file__).parent, site / "cv2")
    shutil.copytree(LIBRARIES, site / OPENCV_LIBRARIES)
    replace_films(site)
    return site


def compute(site: Path) -> str:
    pictures = [str(path) for path in sorted((ROOT / "docs" / "pictures").iterdir()) if path.suffix in (".jpg", ".png")]
    assert {Path(path).suffix for path in pictures} == {".jpg", ".png"}
    code = f"import sys; sys.path.insert(0, {str(site)!r})\n{PROGRAM % AVIF}"
    variables = os.environ | {"OPENCV_VIDEOIO_PRIORITY_FFMPEG": "0"}  # as in the image
    command = [sys.executable, "-c", code, *pictures]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    return done.stdout


def test_it_decodes_and_computes_as_the_whole_one_does(trimmed: Path) -> None:
    assert compute(trimmed) == compute(LIBRARIES.parent)


def test_films_are_gone_with_all_that_only_they_need(trimmed: Path) -> None:
    left = {path.name: path.stat().st_size for path in (trimmed / OPENCV_LIBRARIES).iterdir()}
    assert sum(left.values()) < sum(path.stat().st_size for path in LIBRARIES.iterdir()) - 35_000_000
    assert all(size < 50_000 for name, size in left.items() if name.startswith(REPLACED))
