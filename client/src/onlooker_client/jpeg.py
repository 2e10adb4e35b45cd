"""Encodes pictures as JPEG: scaled down where too large, and grey, as the server needs no colour."""

from __future__ import annotations

from typing import Any

from onlooker_client.errors import SourceError
from onlooker_client.sources.opencv import load_opencv


class JpegEncoder:
    """Fits pictures into a size, keeps their shape, never enlarges them."""

    def __init__(self, width_px: int = 640, height_px: int = 480, quality: int = 80, grey: bool = True) -> None:
        self._opencv = load_opencv()
        self._width_px, self._height_px = width_px, height_px
        self._grey = grey
        self._settings = [int(self._opencv.IMWRITE_JPEG_QUALITY), quality]

    def encode(self, pixels: Any) -> bytes:
        """The JPEG file."""
        return self.encode_scaled(self.scaled(pixels))

    def encode_scaled(self, pixels: Any) -> bytes:
        """The same, of what `scaled` gave."""
        is_done, packed = self._opencv.imencode(".jpg", pixels, self._settings)
        if not is_done:
            raise SourceError("OpenCV could not make a JPEG of a picture.")
        return bytes(packed)

    def scaled(self, pixels: Any) -> Any:
        """What is encoded: grey and small."""
        if self._grey and pixels.ndim == 3:
            pixels = self._opencv.cvtColor(pixels, self._opencv.COLOR_BGR2GRAY)
        height_px, width_px = pixels.shape[:2]
        scale = min(self._width_px / width_px, self._height_px / height_px)
        if scale >= 1:
            return pixels
        size = (max(1, round(width_px * scale)), max(1, round(height_px * scale)))
        return self._opencv.resize(pixels, size, interpolation=self._opencv.INTER_AREA)
