"""Looks for pictures in bytes: whole, cut out, made smaller, encoded, deflated or as text."""

import base64
import binascii
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

Grey = NDArray[np.uint8]
Words = NDArray[np.uint64]
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
_HEXADECIMAL = re.compile(rb"[0-9a-f]{64,}|[0-9A-F]{64,}")
_START_OF_SCAN = b"\xff\xda"
DEPTH = 3
FILE_BYTES, INFLATED_BYTES = 1 << 24, 1 << 24
"""Of a picture's file, and of what is inflated: the beginning is enough."""
_FILTER_BITS = 25
_ODD = np.uint64(0x9E3779B97F4A7C15)
"""Spreads words over the filter (Knuth's multiplicative hash)."""
_LIKENESS_PX = (32, 24)
_LIKENESS = 0.9
"""Correlation of two small pictures from which on one is a copy of the other."""


@dataclass(frozen=True)
class Trace:
    """Something of a picture, where there should be none."""

    kind: str
    """`pixels`: those, or the bytes of its file. `encoded`: a picture's file."""
    at: int
    within: str
    """How it was wrapped: `deflated`, `text`, or nothing."""


class PictureMarks:
    """Pieces of the rows of known pictures and of smaller versions of them, and of the files that hold them."""

    def __init__(self, pictures: Iterable[Grey], files: Iterable[bytes] = ()) -> None:
        pictures = list(pictures)
        rows = [piece for picture in pictures for small in _versions(picture) for piece in _pieces(small)]
        rows += [piece for file in files for piece in _pieces(_scan(file))]
        pieces = np.concatenate(rows) if rows else np.zeros((0, PIECE_BYTES), np.uint8)
        ordered = np.sort(pieces, axis=1)
        varied = 1 + (np.diff(ordered, axis=1) != 0).sum(axis=1)
        words = np.ascontiguousarray(pieces[varied >= LEAST_VALUES]).view("<u8").reshape(-1, 2)
        order = np.lexsort((words[:, 1], words[:, 0]))
        self._first, self._second = words[order, 0], words[order, 1]
        self._filter = np.zeros(1 << _FILTER_BITS, bool)
        self._filter[_slots(self._first)] = True
        self._small = np.array([_small(picture) for picture in pictures]).reshape(len(pictures), -1)

    def __len__(self) -> int:
        return len(self._first)

    def find(self, content: bytes) -> int | None:
        """Where the first known piece begins."""
        for shift in range(8):
            words = np.frombuffer(content, "<u8", offset=shift, count=max(0, len(content) - shift) // 8)
            possible = np.flatnonzero(self._filter[_slots(words)])
            left = np.searchsorted(self._first, words[possible])
            exact = self._first[np.minimum(left, len(self._first) - 1)] == words[possible]
            for hit, begin in zip(possible[exact], left[exact], strict=True):
                at = shift + int(hit) * 8
                if self._is_known(content[at : at + PIECE_BYTES], int(begin)):
                    return at
        return None

    def _is_known(self, piece: bytes, begin: int) -> bool:
        """The second half may follow any of the equal first ones."""
        if len(piece) < PIECE_BYTES:
            return False
        first, second = np.frombuffer(piece, "<u8")
        end = int(np.searchsorted(self._first, first, "right"))
        return bool((self._second[begin:end] == second).any())

    def is_known_picture(self, picture: Grey) -> bool:
        """By its pixels, or because it looks like one of them, such as one that was encoded again."""
        if self.find(np.ascontiguousarray(picture).tobytes()) is not None:
            return True
        return bool(len(self._small) and (self._small @ _small(picture)).max() >= _LIKENESS)


def find_traces(content: bytes, marks: PictureMarks, *, only_known: bool = False) -> Iterator[Trace]:
    """All ways in which a picture could be in these bytes; one trace for each.

    With `only_known`, the file of a picture that is none of the known ones is no trace.
    """
    yield from _find(content, marks, "", DEPTH, only_known=only_known)


def _find(content: bytes, marks: PictureMarks, within: str, depth: int, *, only_known: bool) -> Iterator[Trace]:
    if len(marks) and len(content) >= PIECE_BYTES and (at := marks.find(content)) is not None:
        yield Trace("pixels", at, within)
    for found in _PICTURE.finditer(content):
        picture = _decode_picture(content[found.start() : found.start() + FILE_BYTES])
        if picture is not None and not (only_known and not marks.is_known_picture(picture)):
            yield Trace("encoded", found.start(), within)
    if not depth:
        return
    for found in _DEFLATED.finditer(content):
        if plain := _inflate(content[found.start() : found.start() + INFLATED_BYTES]):
            yield from _find(plain, marks, f"{within} deflated".strip(), depth - 1, only_known=only_known)
    for plain in _decoded(content):
        yield from _find(plain, marks, f"{within} text".strip(), 0, only_known=only_known)


def _decode_picture(file: bytes) -> Grey | None:
    try:
        picture = cv2.imdecode(np.frombuffer(file, np.uint8), cv2.IMREAD_GRAYSCALE)
    except cv2.error:
        return None
    return None if picture is None else np.asarray(picture, np.uint8)


def _inflate(content: bytes) -> bytes:
    """Empty where it is none; the beginning is enough."""
    try:
        return zlib.decompressobj(47).decompress(content, INFLATED_BYTES)
    except zlib.error:
        return b""


def _decoded(content: bytes) -> Iterator[bytes]:
    """What is there as text: in base 64, or in hexadecimal digits."""
    for found in _TEXT.finditer(content):
        text = found[0].rstrip(b"=")
        text = text[: len(text) // 4 * 4]
        with suppress(binascii.Error):
            yield base64.b64decode(text, altchars=b"-_" if b"-" in text or b"_" in text else None)
    for found in _HEXADECIMAL.finditer(content):
        yield bytes.fromhex(found[0][: len(found[0]) // 2 * 2].decode())


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
        if width > 0:
            yield np.ascontiguousarray(picture[:, shift : shift + width]).reshape(-1, PIECE_BYTES)


def _scan(file: bytes) -> Grey:
    """A JPEG's own bytes as one row: what comes before its scan is alike in all files."""
    return np.frombuffer(file[max(file.rfind(_START_OF_SCAN), 0) :][16:], np.uint8).reshape(1, -1)


def _slots(words: Words) -> Words:
    return (words * _ODD) >> np.uint64(64 - _FILTER_BITS)


def _small(picture: Grey) -> NDArray[np.float64]:
    """So that the product of two is their correlation."""
    small = np.asarray(cv2.resize(picture, _LIKENESS_PX, interpolation=cv2.INTER_AREA), np.float64).ravel()
    small -= small.mean()
    return small / max(float(np.linalg.norm(small)), 1e-9)
