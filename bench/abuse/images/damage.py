"""Pictures that nobody should send: damaged, cut off, mistyped, far too large, or no picture at all."""

import random
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import cv2
import numpy as np

Damage = Callable[[random.Random, bytes], bytes]


def sound_pictures(rng: random.Random) -> list[bytes]:
    """Whole files of every kind that the decoder takes, and of kinds that it does not."""
    noise = np.random.default_rng(rng.randrange(2**32))
    colour = _scene(noise, 96, 128)
    grey = cv2.cvtColor(colour, cv2.COLOR_BGR2GRAY)
    progressive = [cv2.IMWRITE_JPEG_PROGRESSIVE, 1, cv2.IMWRITE_JPEG_QUALITY, 60]
    restarts = [cv2.IMWRITE_JPEG_RST_INTERVAL, 2]
    alpha = np.dstack([colour, grey])
    deep = grey.astype(np.uint16) * 257
    made = [
        *(_encoded(".jpg", picture) for picture in (colour, grey)),
        *(_encoded(".jpg", picture, progressive) for picture in (colour, grey)),
        _encoded(".jpg", colour, restarts),
        *(_encoded(".png", picture) for picture in (colour, grey, alpha, deep)),
        _encoded(".png", grey, [cv2.IMWRITE_PNG_BILEVEL, 1]),
    ]
    return [*made, _turned(made[0], rng.randrange(1, 9))]


def foreign_files(rng: random.Random) -> list[bytes]:
    """Well-formed, but no JPEG and no PNG; or nothing at all."""
    colour = _scene(np.random.default_rng(rng.randrange(2**32)), 48, 64)
    return [
        *(_encoded(kind, colour) for kind in (".bmp", ".webp", ".tiff", ".ppm")),
        b"",
        b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff;",
        b"<svg xmlns='http://www.w3.org/2000/svg'><image href='file:///etc/passwd'/></svg>",
        b"%PDF-1.7\n",
        b"RIFF\x24\x00\x00\x00WAVEfmt ",
        b"\xff\xd8\xff",
        b"\x89PNG\r\n\x1a\n",
        "picture.jpg".encode("utf-16"),
    ]


def huge_pictures(rng: random.Random) -> list[bytes]:
    """Headers that promise more pixels than anybody has memory for, and files that keep the promise."""
    side = rng.choice([5_000, 30_000, 65_500, 2**31 - 1])
    small_side = min(side, 65_500)
    jpeg = _encoded(".jpg", _scene(np.random.default_rng(1), 32, 32))
    return [
        _png(side, side, b""),
        _png(1, side, zlib.compress(bytes(2 * min(side, 10**6)))),
        _png(5_000, 4_001, zlib.compress(bytes(10**6))),
        _with_jpeg_size(jpeg, small_side, small_side),
        _with_jpeg_size(jpeg, 1, small_side),
        jpeg[:-2] + b"\xff\xda\x00\x02" * rng.choice([50, 5_000]) + b"\xff\xd9",
    ]


def largest_allowed(rng: random.Random) -> bytes:
    """A file of a few kilobytes that becomes 20 megapixels, and is taken."""
    width, height = rng.choice([(5_000, 4_000), (20_000, 1_000), (1_000_000, 20), (1_000_000, 1), (1, 1_000_000)])
    return _png(width, height, zlib.compress(bytes((width + 1) * height)))


def damaged(rng: random.Random) -> Iterator[bytes]:
    """Without end: each sound file hurt in one way, then in several."""
    while True:
        pictures = sound_pictures(rng)
        yield from foreign_files(rng)
        yield from huge_pictures(rng)
        yield rng.randbytes(rng.randrange(4_000))
        for picture in pictures:
            yield picture
            for damage in DAMAGES:
                yield damage(rng, picture)
            yield rng.choice(DAMAGES)(rng, rng.choice(DAMAGES)(rng, picture))


def _cut_off(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _cut_off_but_closed(rng: random.Random, data: bytes) -> bytes:
    return _cut_off(rng, data) + b"\xff\xd9"


def _flip_bits(rng: random.Random, data: bytes) -> bytes:
    hurt = bytearray(data)
    for _ in range(rng.choice([1, 3, 30]) if hurt else 0):
        hurt[rng.randrange(len(hurt))] ^= 1 << rng.randrange(8)
    return bytes(hurt)


def _hurt_header(rng: random.Random, data: bytes) -> bytes:
    hurt = bytearray(data)
    for _ in range(3 if hurt else 0):
        hurt[rng.randrange(min(len(hurt), 700))] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
    return bytes(hurt)


def _lose_a_piece(rng: random.Random, data: bytes) -> bytes:
    start = rng.randrange(len(data) + 1)
    return data[:start] + data[start + rng.randrange(200) :]


def _repeat_a_piece(rng: random.Random, data: bytes) -> bytes:
    start = rng.randrange(len(data) + 1)
    return data[:start] + data[start : start + rng.randrange(500)] * rng.choice([2, 20]) + data[start:]


def _insert_rubbish(rng: random.Random, data: bytes) -> bytes:
    start = rng.randrange(len(data) + 1)
    marker = bytes([0xFF, rng.randrange(256)]) + struct.pack(">H", rng.choice([0, 1, 2, 300, 65_535]))
    return data[:start] + marker + rng.randbytes(rng.randrange(40)) + data[start:]


def _swap_start(rng: random.Random, data: bytes) -> bytes:
    return rng.choice([b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"BM", b"RIFF"]) + data[8:]


DAMAGES: tuple[Damage, ...] = (
    _cut_off,
    _cut_off_but_closed,
    _flip_bits,
    _hurt_header,
    _lose_a_piece,
    _repeat_a_piece,
    _insert_rubbish,
    _swap_start,
)


def _scene(noise: np.random.Generator, height: int, width: int) -> Any:
    rough = noise.integers(0, 256, (6, 8, 3), dtype=np.uint8)
    return cv2.resize(rough, (width, height), interpolation=cv2.INTER_CUBIC)


def _encoded(kind: str, picture: Any, options: list[int] | None = None) -> bytes:
    return bytes(cv2.imencode(kind, picture, options or [])[1])


def _png(width: int, height: int, pixels: bytes) -> bytes:
    """A grey PNG with right checksums, whatever its size says."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )


def _with_jpeg_size(jpeg: bytes, width: int, height: int) -> bytes:
    start = jpeg.index(b"\xff\xc0") + 5
    return jpeg[:start] + struct.pack(">HH", height, width) + jpeg[start + 4 :]


def _turned(jpeg: bytes, orientation: int) -> bytes:
    """With an EXIF block that says how the camera was held."""
    exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01" + struct.pack(">HH", orientation, 0) + bytes(4)
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + jpeg[2:]
