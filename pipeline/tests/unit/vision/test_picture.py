"""Strangers' bytes: a picture within bounds, or a sentence that says what to send instead."""

import struct
import zlib

import cv2
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onlooker_pipeline.service_call import ComputeError
from onlooker_pipeline.vision.picture import CHUNK_LIMIT, PIXEL_LIMIT, SCAN_LIMIT, decode_picture
from testkit.pictures import encoded

GRADIENT = np.tile(np.arange(60, dtype=np.uint8) * 4, (40, 1))
COLOUR = np.dstack([GRADIENT, GRADIENT[:, ::-1], np.full_like(GRADIENT, 9)])
PROGRESSIVE = (cv2.IMWRITE_JPEG_PROGRESSIVE, 1)


def png(width: int, height: int, pixels: bytes = b"") -> bytes:
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)), (b"IDAT", pixels), (b"IEND", b""))
    framed = (struct.pack(">I", len(b)) + k + b + struct.pack(">I", zlib.crc32(k + b)) for k, b in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(framed)


def with_chunk_length(data: bytes, length: int) -> bytes:
    """The chunk after the header promises so many bytes."""
    return data[:33] + struct.pack(">I", length) + data[37:]


def with_second_header(data: bytes) -> bytes:
    return data[:33] + data[8:33] + data[33:]


def with_orientation(jpeg: bytes, orientation: int) -> bytes:
    exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01" + struct.pack(">HH", orientation, 0) + bytes(4)
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + jpeg[2:]


@pytest.mark.parametrize("kind", [".jpg", ".png"])
def test_grey_stays_grey_and_colour_stays_colour(kind: str) -> None:
    assert decode_picture(encoded(GRADIENT, kind)).shape == (40, 60)
    assert decode_picture(encoded(COLOUR, kind)).shape == (40, 60, 3)


def test_a_png_comes_out_as_it_went_in() -> None:
    assert np.array_equal(decode_picture(encoded(COLOUR, ".png")), COLOUR)


def test_alpha_is_dropped_and_sixteen_bits_become_eight() -> None:
    assert decode_picture(encoded(np.dstack([COLOUR, GRADIENT]), ".png")).shape == (40, 60, 3)
    deep = decode_picture(encoded(GRADIENT.astype(np.uint16) * 257, ".png"))
    assert deep.dtype == np.uint8
    assert np.array_equal(deep, GRADIENT)


def test_a_picture_is_turned_upright_when_the_camera_says_how_it_was_held() -> None:
    assert decode_picture(with_orientation(encoded(GRADIENT), 6)).shape == (60, 40)


@pytest.mark.parametrize("options", [(), PROGRESSIVE, (cv2.IMWRITE_JPEG_RST_INTERVAL, 2)])
def test_what_follows_the_end_of_a_jpeg_does_not_matter(options: tuple[int, ...]) -> None:
    """Telephones hang a film on it; some cameras pad."""
    jpeg = encoded(COLOUR, ".jpg", *options)
    film = b"\0\0\0\x18ftypmp42" + b"\xff\xda\x00\x02" * (SCAN_LIMIT + 1)
    assert np.array_equal(decode_picture(jpeg + film), decode_picture(jpeg))


@pytest.mark.parametrize(
    ("width", "height"), [(65_535, 65_535), (2**31 - 1, 2**31 - 1), (20_000_001, 1), (1_000_001, 1), (1, 1_000_001)]
)
def test_a_decompression_bomb_is_refused_by_its_header(width: int, height: int) -> None:
    with pytest.raises(ComputeError) as refused:
        decode_picture(png(width, height))
    assert refused.value.code == "image_too_large"
    assert f"{width} x {height}" in refused.value.sentence
    assert "20 megapixels" in refused.value.sentence


def test_a_jpeg_that_promises_too_much_is_refused_by_its_header() -> None:
    jpeg = encoded(GRADIENT)
    start = jpeg.index(b"\xff\xc0") + 5
    bomb = jpeg[:start] + struct.pack(">HH", 60_000, 60_000) + jpeg[start + 4 :]
    with pytest.raises(ComputeError) as refused:
        decode_picture(bomb)
    assert refused.value.code == "image_too_large"


def test_twenty_megapixels_are_taken() -> None:
    assert decode_picture(png(5_000, 4_000, zlib.compress(bytes(5_001 * 4_000)))).size == PIXEL_LIMIT


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "neither JPEG nor PNG"),
        (b"GIF89a", "neither JPEG nor PNG"),
        (b"<svg/>", "neither JPEG nor PNG"),
        (b"\xff\xd8\xff", "damaged header"),
        (b"\x89PNG\r\n\x1a\n", "damaged header"),
        (png(0, 5), "damaged header"),
        (png(5, 5), "damaged and can't be decoded"),
        (encoded(GRADIENT)[:-40], "cut off"),
        (encoded(GRADIENT, ".png")[:-20], "cut off"),
        (with_chunk_length(encoded(GRADIENT, ".png"), 2**31 - 1), "cut off"),
        (with_second_header(encoded(GRADIENT, ".png")), "damaged header"),
        (encoded(GRADIENT, ".png")[:33] + (bytes(4) + b"tEXt" + bytes(4)) * CHUNK_LIMIT, "chunks"),
        (encoded(GRADIENT, ".jpg", *PROGRESSIVE)[:-2] + b"\xff\xda\x00\x02" * SCAN_LIMIT + b"\xff\xd9", "scans"),
    ],
)
def test_what_is_no_whole_picture_is_refused_with_what_to_send(data: bytes, complaint: str) -> None:
    with pytest.raises(ComputeError) as refused:
        decode_picture(data)
    assert refused.value.code == "bad_image"
    assert complaint in refused.value.sentence
    assert "Send a whole JPEG or PNG file." in refused.value.sentence


def outcome(data: bytes) -> str:
    try:
        decode_picture(data)
    except ComputeError as error:
        return error.code
    return "picture"


@given(st.binary(max_size=300), st.sampled_from([b"", b"\xff\xd8\xff\xe0", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"]))
@example(b"\xff\xda\xff\xd9", b"\xff\xd8\xff\xff")
def test_any_bytes_are_a_picture_or_an_error(rubbish: bytes, start: bytes) -> None:
    assert outcome(start + rubbish) in ("picture", "bad_image", "image_too_large")


@given(st.integers(0, 10**6), st.integers(1, 255), st.sampled_from([".jpg", ".png"]))
def test_a_changed_byte_is_a_picture_or_an_error(position: int, change: int, kind: str) -> None:
    data = bytearray(encoded(COLOUR, kind))
    data[position % len(data)] ^= change
    assert outcome(bytes(data)) in ("picture", "bad_image", "image_too_large")
