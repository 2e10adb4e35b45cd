"""Looks for pictures in bytes: whole, cut out, made smaller, encoded, deflated or as text."""

import base64
import binascii
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

Grey = NDArray[np.uint8]
PIECE_BYTES = 16
"""A run of so many pixels of a row is a trace; a copy of twice as many is always found."""
LEAST_VALUES = 10
"""Different pixels in a piece: a plain wall is like any other."""
SCALES = (1.0, 0.5, 0.25, 0.125)
SMALL_PX = ((160, 120), (112, 112), (64, 64))
"""Sizes that the pipeline makes pictures of; a thumbnail would have one of these or of the scales."""
_PICTURE = re.compile(rb"\xff\xd8\xff[\xc0-\xfe]|\x89PNG\r\n\x1a\n|RIFF....WEBP", re.DOTALL)
_DEFLATED = re.compile(rb"\x78[\x01\x5e\x9c\xda]|\x1f\x8b\x08")
_TEXT = re.compile(rb"[A-Za-z0-9+/_-]{64,}={0,2}")
DEPTH = 3


@dataclass(frozen=True)
class Trace:
    """Something of a picture, where there should be none."""

    kind: str
    """`pixels` or `encoded`."""
    at: int
    within: str
    """How it was wrapped: `deflated`, `text`, or nothing."""


class PictureMarks:
    """Pieces of the rows of known pictures, and of smaller versions of them."""

    def __init__(self, pictures: Iterable[Grey]) -> None:
        rows = [row for picture in pictures for small in _versions(picture) for row in _pieces(small)]
        pieces = np.concatenate(rows) if rows else np.zeros((0, PIECE_BYTES), np.uint8)
        ordered = np.sort(pieces, axis=1)
        varied = 1 + (np.diff(ordered, axis=1) != 0).sum(axis=1)
        kept = np.ascontiguousarray(pieces[varied >= LEAST_VALUES])
        self._first = np.unique(kept.view("<u8").reshape(-1, 2)[:, 0])
        self._known = {bytes(piece) for piece in kept}

    def __len__(self) -> int:
        return len(self._known)

    def find(self, content: bytes) -> int | None:
        """Where the first known piece begins."""
        for shift in range(8):
            words = np.frombuffer(content, "<u8", offset=shift, count=max(0, len(content) - shift) // 8)
            where = np.searchsorted(self._first, words)
            hits = np.flatnonzero(self._first[np.minimum(where, len(self._first) - 1)] == words)
            for hit in hits:
                at = shift + int(hit) * 8
                if content[at : at + PIECE_BYTES] in self._known:
                    return at
        return None


def find_traces(content: bytes, marks: PictureMarks) -> Iterator[Trace]:
    """All ways in which a picture could be in these bytes; one trace for each."""
    yield from _find(content, marks, "", DEPTH)


def _find(content: bytes, marks: PictureMarks, within: str, depth: int) -> Iterator[Trace]:
    if len(marks) and len(content) >= PIECE_BYTES and (at := marks.find(content)) is not None:
        yield Trace("pixels", at, within)
    for found in _PICTURE.finditer(content):
        if cv2.imdecode(np.frombuffer(content, np.uint8, offset=found.start()), cv2.IMREAD_GRAYSCALE) is not None:
            yield Trace("encoded", found.start(), within)
    if not depth:
        return
    for found in _DEFLATED.finditer(content):
        if plain := _inflate(content[found.start() :]):
            yield from _find(plain, marks, f"{within} deflated".strip(), depth - 1)
    for found in _TEXT.finditer(content):
        for plain in _decode(found[0]):
            yield from _find(plain, marks, f"{within} text".strip(), 0)


def _inflate(content: bytes) -> bytes:
    """Empty where it is none; the beginning is enough."""
    try:
        return zlib.decompressobj(47).decompress(content, 1 << 24)
    except zlib.error:
        return b""


def _decode(text: bytes) -> Iterator[bytes]:
    try:
        yield base64.b64decode(text + b"=" * (-len(text) % 4), altchars=b"-_" if b"-" in text or b"_" in text else None)
        if len(text) % 2 == 0:
            yield bytes.fromhex(text.decode())
    except (binascii.Error, ValueError):
        return


def _versions(picture: Grey) -> Iterator[Grey]:
    yield picture
    height, width = picture.shape
    sizes = [(round(width * scale), round(height * scale)) for scale in SCALES[1:]]
    for size in (*sizes, *SMALL_PX):
        for how in (cv2.INTER_AREA, cv2.INTER_LINEAR):
            yield np.asarray(cv2.resize(picture, size, interpolation=how), np.uint8)


def _pieces(picture: Grey) -> Iterator[Grey]:
    """By every eighth pixel, so that a run of 31 contains a whole one."""
    for shift in (0, 8):
        width = (picture.shape[1] - shift) // PIECE_BYTES * PIECE_BYTES
        if width:
            yield np.ascontiguousarray(picture[:, shift : shift + width]).reshape(-1, PIECE_BYTES)
