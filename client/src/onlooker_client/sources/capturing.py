"""Cameras through OpenCV: at this machine (USB, built in) and in the network (RTSP, HTTP)."""

from __future__ import annotations

import sys
import time
from typing import Any

from onlooker_client.errors import SourceError
from onlooker_client.sources.cameras import list_cameras
from onlooker_client.sources.opencv import load_opencv, network_options

OPENING_MS = 5_000
READING_MS = 12_000
"""From one picture to the next, and to the first, which may come only after many seconds."""
LONGEST_SKIP_S = 2.0
WAITED_S = 0.004


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

    def __init__(self, address: str, *, name: str) -> None:
        super().__init__(f"{name} ended or broke off.")
        self._address = address
        self._name = name

    def open(self) -> None:
        cv2 = load_opencv()
        settings = [
            *(cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, OPENING_MS),
            *(cv2.CAP_PROP_READ_TIMEOUT_MSEC, READING_MS),
            *(cv2.CAP_PROP_N_THREADS, 1),  # each further one holds a picture back
        ]
        with network_options():
            self._capture = cv2.VideoCapture(self._address, cv2.CAP_FFMPEG, settings)
        if not self._capture.isOpened():
            raise SourceError(
                f"{self._name} can't be opened. Check that the camera is on, that its address opens in a video "
                "player (VLC) on this machine, and user and password in it."
            )
        self._skip_the_past()

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
        return f"This user may not open camera {device}. Do: sudo usermod -aG video USER, and log in again."
    if not cameras:
        return f"There is no camera {device}. Plug one in, and check that the system shows it."
    found = ", ".join(f"{camera.number} ({camera.name})" for camera in cameras)
    return f"Camera {device} can't be opened. There are: {found}. Does another program use it?"
