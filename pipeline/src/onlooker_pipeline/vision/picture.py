"""From an untrusted JPEG or PNG file to pixels; the file is checked from start to end before it is decoded."""

import re
import struct
from dataclasses import dataclass
from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from onlooker_pipeline.service_call import ComputeError

Picture: TypeAlias = NDArray[np.uint8]
"""Rows of grey values, or of blue, green, red, as in OpenCV."""

PIXEL_LIMIT = 20_000_000
SIDE_LIMIT = 1_000_000
"""The limit of libpng."""

SCAN_LIMIT = 30
"""Each scan of a progressive JPEG passes over all pixels; real files have about ten."""
CHUNK_LIMIT = 10_000
"""Of a PNG; one of 10 MB has about a thousand."""
_PNG_START = b"\x89PNG\r\n\x1a\n"
_PNG_CHUNKS = frozenset({b"IHDR", b"PLTE", b"IDAT", b"IEND", b"eXIf"})
"""Pixels, palette and orientation: the decoder gets nothing else."""
_JPEG_START = b"\xff\xd8\xff"
_MARKER = re.compile(rb"\xff++[^\x00\xff]")
_MARKER_AFTER_SCAN = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
_START_OF_SCAN, _END_OF_IMAGE = 0xDA, 0xD9
_SIZE_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_BARE_MARKERS = frozenset({0x01, *range(0xD0, 0xD9)})

# OpenCV's threads would compete with the worker's; its log would repeat what untrusted files contain.
cv2.setNumThreads(1)
cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)


def decode_picture(data: bytes) -> Picture:
    """The picture in a JPEG or PNG file, rotated as its metadata says; grey stays grey."""
    checked = check_file(data)
    width, height = checked.width, checked.height
    if width * height > PIXEL_LIMIT or max(width, height) > SIDE_LIMIT:
        raise ComputeError(
            "image_too_large",
            f"The image has {width} x {height} pixels. At most {PIXEL_LIMIT // 10**6} megapixels are taken, and no "
            f"side longer than {SIDE_LIMIT:,} pixels: send a smaller one.",
        )
    try:
        decoded: Any = cv2.imdecode(np.frombuffer(checked.data, np.uint8), cv2.IMREAD_ANYCOLOR)
    except cv2.error:
        decoded = None
    if decoded is None:
        raise bad_image("is damaged and can't be decoded")
    return as_picture(decoded)


def check_picture(pixels: Any) -> Picture:
    """An array that is a picture already: grey, or blue, green, red; raises ValueError for any other."""
    is_grey_or_colour = getattr(pixels, "ndim", 0) == 2 or (getattr(pixels, "ndim", 0) == 3 and pixels.shape[2] == 3)
    if not is_grey_or_colour or pixels.dtype != np.uint8 or not pixels.size:
        raise ValueError("A picture is an array of uint8: rows of grey values, or of blue, green, red.")
    return as_picture(pixels)


def resized(picture: Picture, scale: float) -> Picture:
    """The picture at another scale; scaled down by averaging."""
    method = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    size = max(round(picture.shape[1] * scale), 1), max(round(picture.shape[0] * scale), 1)
    return as_picture(cv2.resize(picture, size, interpolation=method))


def as_grey(picture: Picture) -> Picture:
    return picture if picture.ndim == 2 else as_picture(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY))


def as_picture(pixels: Any) -> Picture:
    """Narrows the type: OpenCV's stubs do not say that pixels in are pixels out."""
    picture: Picture = pixels
    return picture


@dataclass(frozen=True)
class CheckedFile:
    """A complete file and the size of its picture."""

    width: int
    height: int
    data: bytes


def check_file(data: bytes) -> CheckedFile:
    """Raises `bad_image` for anything but a complete JPEG or PNG file."""
    if data.startswith(_PNG_START):
        checked = _check_png(data)
    elif data.startswith(_JPEG_START):
        checked = _check_jpeg(data)
    else:
        raise bad_image("is neither JPEG nor PNG")
    if checked.width == 0 or checked.height == 0:
        raise bad_image("has a damaged header")
    return checked


def bad_image(complaint: str) -> ComputeError:
    return ComputeError("bad_image", f"The image {complaint}. Send a whole JPEG or PNG file.")


def _check_png(data: bytes) -> CheckedFile:
    """Every chunk must lie within the file: a decoder would allocate whatever length it claims."""
    if data[12:16] != b"IHDR" or len(data) < 33:
        raise bad_image("has a damaged header")
    width, height = struct.unpack_from(">II", data, 16)
    kept = [_PNG_START]
    position = len(_PNG_START)
    for _ in range(CHUNK_LIMIT):
        if position + 12 > len(data):
            raise bad_image("is cut off before its end")
        length, kind = struct.unpack_from(">I4s", data, position)
        end = position + 12 + length
        if end > len(data):
            raise bad_image("is cut off before its end")
        if kind == b"IHDR" and len(kept) > 1:
            raise bad_image("has a damaged header")
        if kind in _PNG_CHUNKS:
            kept.append(data[position:end])
        if kind == b"IEND":
            return CheckedFile(width, height, b"".join(kept))
        position = end
    raise bad_image(f"has more than {CHUNK_LIMIT:,} chunks")


def _check_jpeg(data: bytes) -> CheckedFile:
    """The size comes from the first frame header; what follows the end of the image is ignored."""
    size: tuple[int, int] | None = None
    scans = 0
    position = 2
    while found := _MARKER_AFTER_SCAN.search(data, position) if scans else _MARKER.match(data, position):
        marker, position = found[0][-1], found.end()
        if marker in _BARE_MARKERS:
            continue
        if marker == _END_OF_IMAGE or position + 7 > len(data):
            break
        if marker in _SIZE_MARKERS and size is None:
            height, width = struct.unpack_from(">HH", data, position + 3)
            size = width, height
        if marker == _START_OF_SCAN:
            scans += 1
        if scans > SCAN_LIMIT:
            raise bad_image(f"has more than {SCAN_LIMIT} scans")
        position += max(2, struct.unpack_from(">H", data, position)[0])
    if size is None:
        raise bad_image("has a damaged header")
    if found is None or found[0][-1] != _END_OF_IMAGE:
        raise bad_image("is cut off before its end")
    return CheckedFile(*size, data)
