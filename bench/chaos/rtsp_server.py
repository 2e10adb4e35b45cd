"""A real RTSP server to test network cameras with: starts it, kills it, starts it again.

mediamtx is neither on PyPI nor on npm, and ffmpeg speaks RTSP as a client only; so it is GStreamer's, from Debian.
"""

import functools
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PYTHON = "/usr/bin/python3"
CAMERA = Path(__file__).resolve().parent / "rtsp_camera.py"
BITS, SQUARE = 32, 20
READY_S = 15.0
PACKAGES = "python3-gi gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-good gstreamer1.0-plugins-ugly"
_NEEDS = """
import gi
gi.require_version("Gst", "1.0"); gi.require_version("GstRtspServer", "1.0")
from gi.repository import Gst, GstRtspServer
Gst.init(None)
raise SystemExit(not all(Gst.ElementFactory.find(name) for name in ("appsrc", "x264enc", "rtph264pay")))
"""


@functools.cache
def missing() -> str | None:
    """What to do where the server can't run here; None where it can."""
    try:
        asked = subprocess.run([PYTHON, "-c", _NEEDS], check=False, capture_output=True, timeout=60)
    except OSError:
        return f"{PYTHON} is not there, and GStreamer's bindings are for the system's Python."
    return None if asked.returncode == 0 else f"GStreamer's RTSP server is missing: apt install {PACKAGES}"


class RtspServer:
    """One process; its address stays the same when it is started again."""

    def __init__(self, port: int, *, fps: int, keyframe_every: int) -> None:
        self.port = port
        self.address = f"rtsp://viewer:watch-me@127.0.0.1:{port}/camera"
        """With a password, which must never be seen in a log; the server asks for none."""
        self._arguments = [str(port), str(fps), str(keyframe_every)]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Until it takes connections."""
        self._process = subprocess.Popen([PYTHON, str(CAMERA), *self._arguments], stderr=subprocess.DEVNULL)
        give_up_at = time.monotonic() + READY_S
        while not self._takes_connections():
            if time.monotonic() > give_up_at or self._process.poll() is not None:
                raise RuntimeError("the RTSP server did not start")
            time.sleep(0.02)

    def kill(self) -> None:
        """With SIGKILL."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _takes_connections(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True


@contextmanager
def running_rtsp_server(port: int | None = None, *, fps: int = 15, keyframe_every: int = 30) -> Iterator[RtspServer]:
    """A server that runs, at a free port where none is given; see `missing` first."""
    reason = missing()
    if reason:
        sys.exit(reason)
    server = RtspServer(port or _free_port(), fps=fps, keyframe_every=keyframe_every)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def age_ms(pixels: "object") -> int:
    """How old a picture of this server is: its top rows show when it was made."""
    row = pixels[SQUARE // 2, SQUARE // 2 :: SQUARE]  # type: ignore[index]
    lights = [int(value if row.ndim == 1 else value[1]) for value in row]
    made_ms = sum(1 << BITS - 1 - place for place, light in enumerate(lights) if light > 127)
    age = (int(time.time() * 1000) - made_ms) % (1 << BITS)
    return age - (1 << BITS) if age >= 1 << BITS - 1 else age


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
