"""Which kind of source a text means, and a name for it in logs: passwords in addresses are never shown."""

from __future__ import annotations

import enum
import re
from pathlib import Path

from onlooker_client.errors import SourceError

SCHEMES = ("rtsp", "rtsps", "http", "https", "rtmp", "rtmps", "srt", "udp", "tcp")
EXAMPLES = (
    "A source is a camera (0, usb:1, rtsp://..., http://...), a video, a folder of pictures, or - for MJPEG on "
    "standard input."
)
_CAMERA = re.compile(r"(?:usb:)?(\d{1,4})|(/dev/.+)")
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


class SourceKind(enum.Enum):
    """What opens it."""

    CAMERA = "camera"
    NETWORK = "network camera"
    VIDEO = "video"
    FOLDER = "folder"
    PIPE = "standard input"

    @property
    def is_waited_for(self) -> bool:
        """Whether it may come, or come back, by itself."""
        return self in (SourceKind.CAMERA, SourceKind.NETWORK)


def recognise(text: str) -> SourceKind:
    """What a text means; a path need not be there."""
    text = text.strip()
    if text == "-":
        return SourceKind.PIPE
    if _CAMERA.fullmatch(text):
        return SourceKind.CAMERA
    address = _ADDRESS.match(text)
    if address:
        if address[1].lower() not in SCHEMES:
            raise SourceError(f"{address[1]}:// addresses are not supported. {EXAMPLES}")
        return SourceKind.NETWORK
    return SourceKind.FOLDER if Path(text).expanduser().is_dir() else SourceKind.VIDEO


def camera_device(text: str) -> int | str:
    """Number or path of a camera at this machine."""
    found = _CAMERA.fullmatch(text.strip())
    if not found:
        raise ValueError("no camera at this machine")
    numbered = re.fullmatch(r"/dev/video(\d+)", text.strip())
    if numbered:
        return int(numbered[1])
    return int(found[1]) if found[1] else found[2]


def scheme_of(text: str) -> str:
    """Of an address, in small letters; empty where it has none."""
    address = _ADDRESS.match(text.strip())
    return address[1].lower() if address else ""


def describe(text: str) -> str:
    """A name that may be logged: without user, password, query, or a path that has them."""
    text = text.strip()
    if text == "-":
        return "standard input"
    if _CAMERA.fullmatch(text):
        device = camera_device(text)
        return f"camera {device}"
    address = _ADDRESS.match(text)
    return f"{address[1].lower()}://{_without_secrets(text[address.end() :])}" if address else text


def _without_secrets(rest: str) -> str:
    """Some cameras have user and password in the path: /user=admin_password=secret_channel=1.sdp."""
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    after = rest[len(authority) :]
    if "@" in after:
        return "..."  # a password with a slash in it, perhaps: what comes before is not surely the host
    path = re.split(r"[?#]", after, maxsplit=1)[0]
    before, sign, _ = path.partition("=")
    return authority.rpartition("@")[2] + (f"{before.rpartition('/')[0]}/..." if sign else path)
