"""What a JPEG or PNG file says of itself, checked from its start to its end before anything is decoded."""

import re
import struct
from dataclasses import dataclass

from onlooker.compute.call import ComputeError

SCAN_LIMIT = 30
"""Each scan of a progressive JPEG is a walk over all pixels; pictures have about ten."""
CHUNK_LIMIT = 10_000
"""Of a PNG; one of 10 MB has about a thousand."""

_PNG_START = b"\x89PNG\r\n\x1a\n"
_PNG_CHUNKS = frozenset({b"IHDR", b"PLTE", b"IDAT", b"IEND", b"eXIf"})
"""Pixels, palette and how the camera was held: the rest is not even shown to the decoder."""

_JPEG_START = b"\xff\xd8\xff"
_MARKER = re.compile(rb"\xff++[^\x00\xff]")
_MARKER_AFTER_SCAN = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
_START_OF_SCAN, _END_OF_IMAGE = 0xDA, 0xD9
_SIZE_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_BARE_MARKERS = frozenset({0x01, *range(0xD0, 0xD9)})


@dataclass(frozen=True)
class CheckedFile:
    """A file that is whole, and the size of the picture in it."""

    width: int
    height: int
    data: bytes


def check_file(data: bytes) -> CheckedFile:
    """Raises `bad_image` for what is no whole JPEG or PNG."""
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
    """A decoder believes a chunk's length and takes memory for it: here it must lie within the file."""
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
    """The size is that of the first frame header; what follows the end of the image does not matter."""
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
