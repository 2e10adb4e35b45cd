"""Pictures become small grey JPEGs that keep their shape."""

import subprocess
import sys
from typing import Any

import cv2
import numpy as np
import pytest

from onlooker_client.jpeg import JpegEncoder


def drawn(width_px: int, height_px: int) -> Any:
    across = np.linspace(0, 255, width_px)[None, :].repeat(height_px, 0)
    return np.dstack([across, across / 2, 255 - across]).astype(np.uint8)


def decode(jpeg: bytes) -> Any:
    return cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_UNCHANGED)


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ((640, 480), (640, 480)),
        ((1920, 1080), (640, 360)),
        ((1280, 960), (640, 480)),
        ((1080, 1920), (270, 480)),
        ((320, 240), (320, 240)),
        ((5000, 3), (640, 1)),
    ],
)
def test_a_picture_fits_inside_keeps_its_shape_and_is_never_enlarged(
    given: tuple[int, int], sent: tuple[int, int]
) -> None:
    pixels = decode(JpegEncoder().encode(drawn(*given)))
    assert pixels.shape == (sent[1], sent[0])


def test_colours_are_kept_where_they_are_asked_for() -> None:
    assert decode(JpegEncoder(grey=False).encode(drawn(64, 48))).shape == (48, 64, 3)


def test_grey_is_what_opencv_makes_of_the_colours() -> None:
    pixels = drawn(64, 48)
    assert np.array_equal(JpegEncoder().scaled(pixels), cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY))


def test_a_grey_picture_passes_as_it_is() -> None:
    grey = drawn(64, 48)[:, :, 0].copy()
    assert JpegEncoder().scaled(grey) is grey
    assert decode(JpegEncoder(grey=False).encode(grey)).shape == (48, 64)


def test_what_was_scaled_is_what_is_encoded() -> None:
    encoder, pixels = JpegEncoder(), drawn(1280, 720)
    assert encoder.encode_scaled(encoder.scaled(pixels)) == encoder.encode(pixels)


def test_a_better_quality_takes_more_bytes() -> None:
    noise = np.random.default_rng(8).integers(0, 255, (480, 640), dtype=np.uint8)
    assert len(JpegEncoder(quality=95).encode(noise)) > len(JpegEncoder(quality=80).encode(noise))


def test_without_opencv_the_remedy_is_said() -> None:
    program = "import sys; sys.modules['cv2'] = None; from onlooker_client.jpeg import JpegEncoder; JpegEncoder()"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=30)
    assert 'pip install "onlooker-client[camera]"' in ended.stderr


def test_the_sources_are_imported_without_opencv_and_numpy() -> None:
    program = (
        "import sys; import onlooker_client.sources.reconnection, onlooker_client.sources.video, "
        "onlooker_client.sources.condition, onlooker_client.jpeg; "
        "sys.exit(not sys.modules.keys().isdisjoint({'cv2', 'numpy'}))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=30).returncode == 0
