"""Pictures made to harm, through a real worker: what a stranger writes stays out of the log."""

import struct
import zlib

import httpx2

from testkit import Stack
from testkit.pictures import photograph
from wire import multipart

FORGED = b'\n{"level":"error","event":"FORGED by a stranger"}\n'


def png_with_profile(name: bytes) -> bytes:
    """A whole PNG with a colour profile that libpng complains about by name."""
    profile = struct.pack(">I", 400) + bytes(range(256)) + bytes(140)
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)),
        (b"iCCP", name[:79] + b"\0\0" + zlib.compress(profile)),
        (b"gAMA", b"broken"),
        (b"IDAT", zlib.compress(bytes(8 * 25))),
        (b"IEND", b""),
    )
    framed = (
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(framed)


def ask(client: httpx2.Client, service: str, image: bytes) -> httpx2.Response:
    meta = {"async": False, "image": "attachment://image"}
    return client.post(f"/services/{service}/1/jobs", files=multipart(meta, image=image))


def test_no_line_of_the_log_is_a_strangers(stack: Stack, client: httpx2.Client) -> None:
    begins_at = stack.output.stat().st_size
    for picture in (png_with_profile(FORGED), png_with_profile(b"name")[:-30], _hurt_jpeg()):
        assert ask(client, "face_detection", picture).status_code == 201
    written = stack.output.read_bytes()[begins_at:]
    assert b"FORGED" not in written
    assert b"libpng" not in written
    assert [line for line in written.splitlines() if line and not line.startswith(b'{"time"')] == []


def _hurt_jpeg() -> bytes:
    import cv2

    jpeg = bytearray(bytes(cv2.imencode(".jpg", photograph(), [cv2.IMWRITE_JPEG_PROGRESSIVE, 1])[1]))
    jpeg[len(jpeg) // 2 : len(jpeg) // 2 + 40] = bytes(40)
    return bytes(jpeg)
