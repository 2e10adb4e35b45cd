"""Cameras through OpenCV: on this machine (USB, built in), and in the network (RTSP, HTTP)."""

from __future__ import annotations

import os
import re
import struct
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onlooker_client.errors import SourceError
from onlooker_client.sources.camera_answer import address_of, ask_camera, leads_elsewhere
from onlooker_client.sources.kinds import scheme_of
from onlooker_client.sources.network_options import network_options, require_obedience
from onlooker_client.sources.opencv import load_opencv

LISTED = Path("/sys/class/video4linux")
DEVICES = Path("/dev")
_QUERY_CAPABILITIES = 0x80685600
"""VIDIOC_QUERYCAP."""
_HAS_DEVICE_CAPABILITIES = 0x80000000
_CAPTURES = 0x00000001 | 0x00001000
"""One plane or several."""
_CONVERTS = 0x00004000 | 0x00008000
"""From memory to memory: no camera, but a chip that scales or encodes."""
OPENING_MS = 5_000
READING_MS = 12_000
"""From one picture to the next, and to the first, which may come only after many seconds."""
LONGEST_SKIP_S = 2.0
WAITED_S = 0.004
UNOPENED = (
    "can't be opened. Check that the camera is on, that its address opens in a video player (VLC) on this machine, and "
    "user and password in it."
)


@dataclass(frozen=True)
class LocalCamera:
    """One camera."""

    number: int
    name: str
    is_allowed: bool = True
    """Whether this user may open it; on most systems that needs the group `video`."""

    @property
    def path(self) -> str:
        return f"/dev/video{self.number}"


def list_cameras(listed: Path = LISTED, devices: Path = DEVICES) -> list[LocalCamera]:
    """By number; devices that give no pictures (metadata, encoders) are left out."""
    try:
        folders = sorted(listed.iterdir(), key=lambda folder: (len(folder.name), folder.name))
    except OSError:
        return []
    found = [_camera(folder, devices / folder.name) for folder in folders if re.fullmatch(r"video\d+", folder.name)]
    return [camera for camera in found if camera is not None]


def _camera(folder: Path, device: Path) -> LocalCamera | None:
    number = int(folder.name[len("video") :])
    try:
        name = (folder / "name").read_text(encoding="utf-8", errors="replace").strip()[:80]
    except OSError:
        name = ""
    try:
        gives_pictures = _gives_pictures(device)
    except PermissionError:
        return LocalCamera(number, name or "camera", is_allowed=False)
    return LocalCamera(number, name or "camera") if gives_pictures else None


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


class _Captured:
    """Whatever OpenCV captures."""

    def __init__(self, broken: str) -> None:
        self._broken = broken
        """What is said when no picture comes any more."""
        self._capture: Any = None

    def grab(self) -> bool:
        if not self._capture.grab():
            raise SourceError(self._broken)
        return True

    def retrieve(self) -> Any | None:
        is_whole, pixels = self._capture.retrieve()
        return pixels if is_whole else None

    def release(self) -> None:
        if self._capture is not None:
            self._capture.release()


class CameraFeed(_Captured):
    """A camera at this machine."""

    def __init__(self, device: int | str, *, width_px: int | None, height_px: int | None, fps: float) -> None:
        super().__init__(f"Camera {device} gave no picture. Is it still plugged in?")
        self._device = device
        self._width_px, self._height_px, self._fps = width_px, height_px, fps

    def open(self) -> None:
        cv2 = load_opencv()
        backend = cv2.CAP_V4L2 if sys.platform.startswith("linux") else cv2.CAP_ANY
        self._capture = cv2.VideoCapture(self._device, backend)
        if not self._capture.isOpened():
            raise SourceError(_no_camera(self._device))
        asked = {
            cv2.CAP_PROP_FOURCC: cv2.VideoWriter_fourcc(*"MJPG"),  # unpacked pictures do not fit through USB 2
            cv2.CAP_PROP_FRAME_WIDTH: self._width_px,
            cv2.CAP_PROP_FRAME_HEIGHT: self._height_px,
            cv2.CAP_PROP_FPS: self._fps,
        }
        for setting, value in asked.items():
            if value is not None:
                self._capture.set(setting, value)  # a camera that can't do it stays as it is


class NetworkFeed(_Captured):
    """A camera in the network; its address may hold a password and is never said."""

    def __init__(self, address: str, *, name: str, opening_ms: int | None = None) -> None:
        super().__init__(f"{name} ended or lost its connection.")
        self._opening_ms = OPENING_MS if opening_ms is None else opening_ms
        self._address = address
        self._name = name

    def open(self) -> None:
        cv2 = load_opencv()
        settings = [
            *(cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, self._opening_ms),
            *(cv2.CAP_PROP_READ_TIMEOUT_MSEC, READING_MS),
            *(cv2.CAP_PROP_N_THREADS, 1),  # each further one holds a picture back
        ]
        scheme = scheme_of(self._address)
        require_obedience(cv2, scheme)
        began_s = time.monotonic()
        with network_options(scheme):
            self._capture = cv2.VideoCapture(self._address, cv2.CAP_FFMPEG, settings)
        if not self._capture.isOpened():
            has_answered = time.monotonic() - began_s < self._opening_ms / 1000
            raise SourceError(f"{self._name} {self._why_not_open() if has_answered else UNOPENED}")
        self._skip_the_past()

    def _why_not_open(self) -> str:
        """FFmpeg does not say, so the camera is asked once more."""
        address = address_of(self._address)
        try:
            leading = leads_elsewhere(ask_camera(address)) if address else None
        except (OSError, ValueError):
            leading = None
        return f"{leading.what}. {leading.remedy}" if leading else UNOPENED

    def _skip_the_past(self) -> None:
        """What came while it was opened is there at once; the first picture that is waited for is new."""
        until_s = time.monotonic() + LONGEST_SKIP_S
        waited_s = 0.0
        while waited_s < WAITED_S and time.monotonic() < until_s:
            began_s, worked_s = time.monotonic(), time.thread_time()
            self.grab()
            waited_s = time.monotonic() - began_s - (time.thread_time() - worked_s)


def _no_camera(device: int | str) -> str:
    cameras = list_cameras()
    if any(device in (camera.number, camera.path) and not camera.is_allowed for camera in cameras):
        return f"You have no permission to open camera {device}. Run: sudo usermod -aG video USER, and log in again."
    if not cameras:
        return f"There is no camera {device}. Plug one in, and check that the system shows it."
    found = ", ".join(f"{camera.number} ({camera.name})" for camera in cameras)
    return f"Camera {device} can't be opened. Available: {found}. Is another program using it?"
