"""Which cameras this machine has, as Linux lists them; nothing is known on other systems."""

from __future__ import annotations

import os
import re
import struct
from dataclasses import dataclass
from pathlib import Path

LISTED = Path("/sys/class/video4linux")
DEVICES = Path("/dev")
_QUERY_CAPABILITIES = 0x80685600
"""VIDIOC_QUERYCAP."""
_HAS_DEVICE_CAPABILITIES = 0x80000000
_CAPTURES = 0x00000001 | 0x00001000
"""One plane or several."""
_CONVERTS = 0x00004000 | 0x00008000
"""From memory to memory: no camera, but a chip that scales or encodes."""


@dataclass(frozen=True)
class Camera:
    """One camera."""

    number: int
    name: str
    is_allowed: bool = True
    """Whether this user may open it; on most systems that needs the group `video`."""

    @property
    def path(self) -> str:
        return f"/dev/video{self.number}"


def list_cameras(listed: Path = LISTED, devices: Path = DEVICES) -> list[Camera]:
    """By number; devices that give no pictures (metadata, encoders) are left out."""
    try:
        folders = sorted(listed.iterdir(), key=lambda folder: (len(folder.name), folder.name))
    except OSError:
        return []
    found = [_camera(folder, devices / folder.name) for folder in folders if re.fullmatch(r"video\d+", folder.name)]
    return [camera for camera in found if camera is not None]


def _camera(folder: Path, device: Path) -> Camera | None:
    number = int(folder.name[len("video") :])
    try:
        name = (folder / "name").read_text(encoding="utf-8", errors="replace").strip()[:80]
    except OSError:
        name = ""
    try:
        gives_pictures = _gives_pictures(device)
    except PermissionError:
        return Camera(number, name or "camera", is_allowed=False)
    return Camera(number, name or "camera") if gives_pictures else None


def _gives_pictures(device: Path) -> bool:
    """Ask the driver what the device can do; one that can't be asked is left out."""
    import fcntl  # only here: Windows has none, and nothing is listed there

    try:
        handle = os.open(device, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    except PermissionError:
        raise
    except OSError:
        return False
    try:
        said = fcntl.ioctl(handle, _QUERY_CAPABILITIES, bytes(104))
    except OSError:
        return False
    finally:
        os.close(handle)
    return _captures(said)


def _captures(said: bytes) -> bool:
    """What `struct v4l2_capability` says: driver, card, bus, version, capabilities of all and of this device."""
    of_all, of_this = struct.unpack_from("=II", said, 84)
    can = of_this if of_all & _HAS_DEVICE_CAPABILITIES else of_all
    return bool(can & _CAPTURES) and not can & _CONVERTS
