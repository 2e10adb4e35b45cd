"""From the bytes a stranger sent to pixels; what the header promises is checked before anything is decoded."""

import re
import struct
from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from onlooker.compute.call import ComputeError

Picture: TypeAlias = NDArray[np.uint8]
"""Rows of grey values, or of blue, green, red; as OpenCV has it."""

PIXEL_LIMIT = 20_000_000
SIDE_LIMIT = 1_000_000
"""What libpng takes."""
SCAN_LIMIT = 30
"""Each scan of a progressive JPEG is a walk over all pixels; pictures have about ten."""

_PNG_START = b"\x89PNG\r\n\x1a\n"
_JPEG_START = b"\xff\xd8\xff"
_MARKER = re.compile(rb"\xff+[^\x00\xff]")
_START_OF_SCAN, _END_OF_IMAGE = 0xDA, 0xD9
_SIZE_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_BARE_MARKERS = frozenset({0x01, *range(0xD0, 0xD9)})

# OpenCV's threads would compete with the worker's; its log would repeat what strangers send.
cv2.setNumThreads(1)
cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)


def decode_picture(data: bytes) -> Picture:
    """The picture in a JPEG or PNG file, turned upright if the file says how; grey stays grey."""
    width, height = _size_in_header(data)
    if width * height > PIXEL_LIMIT or max(width, height) > SIDE_LIMIT:
        raise ComputeError(
            "image_too_large",
            f"The image has {width} x {height} pixels. At most {PIXEL_LIMIT // 10**6} megapixels are taken, and no "
            f"side longer than {SIDE_LIMIT:,} pixels: send a smaller one.",
        )
    try:
        decoded: Any = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_ANYCOLOR)
    except cv2.error:
        decoded = None
    if decoded is None:
        raise _bad("is damaged and can't be decoded")
    return as_picture(decoded)


def resized(picture: Picture, scale: float) -> Picture:
    """The picture larger or smaller; made smaller, each pixel is the mean of those it stands for."""
    method = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    size = max(round(picture.shape[1] * scale), 1), max(round(picture.shape[0] * scale), 1)
    return as_picture(cv2.resize(picture, size, interpolation=method))


def as_grey(picture: Picture) -> Picture:
    return picture if picture.ndim == 2 else as_picture(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY))


def as_picture(pixels: Any) -> Picture:
    """OpenCV's stubs do not say that pixels in are pixels out."""
    picture: Picture = pixels
    return picture


def _size_in_header(data: bytes) -> tuple[int, int]:
    if data.startswith(_PNG_START):
        size = _png_size(data)
    elif data.startswith(_JPEG_START):
        size = _jpeg_size(data)
    else:
        raise _bad("is neither JPEG nor PNG")
    if size is None or 0 in size:
        raise _bad("has a damaged header")
    return size


def _png_size(data: bytes) -> tuple[int, int] | None:
    if len(data) < 24 or data[12:16] != b"IHDR":
        return None
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Of the first frame header. All segments and scans are walked, so that the file is known to be whole."""
    size: tuple[int, int] | None = None
    scans = 0
    position = 2
    while found := _MARKER.search(data, position) if scans else _MARKER.match(data, position):
        marker, position = found[0][-1], found.end()
        if marker == _END_OF_IMAGE:
            return size
        if marker in _BARE_MARKERS:
            continue
        if position + 7 > len(data):
            break
        if marker in _SIZE_MARKERS and size is None:
            height, width = struct.unpack_from(">HH", data, position + 3)
            size = width, height
        if marker == _START_OF_SCAN:
            scans += 1
            if scans > SCAN_LIMIT:
                raise _bad(f"has more than {SCAN_LIMIT} scans")
        position += max(2, struct.unpack_from(">H", data, position)[0])
    if scans:
        raise _bad("is cut off before its end")
    return None


def _bad(complaint: str) -> ComputeError:
    return ComputeError("bad_image", f"The image {complaint}. Send a whole JPEG or PNG file.")
