"""A network camera is decoded in a process of its own: confined, without secrets, and replaced where it fails."""

import json
import mmap
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import cv2
import numpy as np
import psutil
import pytest

from onlooker_client.errors import SourceError
from onlooker_client.sources.camera_process import LARGEST_PICTURE_BYTES, ProcessFeed
from onlooker_client.sources.reconnection import ReconnectingSource, SourceEvent, SourceState

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="on Linux only")


class ColouredCamera(BaseHTTPRequestHandler):
    """Sends MJPEG, each picture of one colour."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
        self.end_headers()
        jpeg = bytes(cv2.imencode(".jpg", np.full((240, 320, 3), (200, 100, 50), np.uint8))[1])
        try:
            while True:
                self.wfile.write(b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(jpeg))
                self.wfile.write(jpeg + b"\r\n")
                time.sleep(0.05)
        except OSError:
            pass  # the viewer went away

    def log_message(self, *said: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), ColouredCamera) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://viewer:watch-me@127.0.0.1:{server.server_port}/video.mjpg"
        server.shutdown()


def decoders() -> list[psutil.Process]:
    return [one for one in psutil.Process().children() if "onlooker_client.sources.camera_program" in one.cmdline()]


def test_pictures_come_from_a_confined_process_without_secrets(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONLOOKER_ACCESS_TOKEN", "password-of-the-stream")
    feed = ProcessFeed(address, name="camera")
    feed.open()
    assert feed.grab()
    picture = feed.retrieve()
    assert picture.shape == (240, 320, 3)
    assert np.abs(picture.astype(int).mean(axis=(0, 1)) - (200, 100, 50)).max() < 5
    [decoder] = decoders()
    status = Path(f"/proc/{decoder.pid}/status").read_text()
    assert feed.is_confined
    assert "NoNewPrivs:\t1" in status
    assert "watch-me" not in " ".join(decoder.cmdline())
    assert "password-of-the-stream" not in Path(f"/proc/{decoder.pid}/environ").read_text()
    feed.release()
    assert not decoders()


def test_a_picture_that_was_handed_over_does_not_change(address: str) -> None:
    feed = ProcessFeed(address, name="camera")
    feed.open()
    feed.grab()
    first = feed.retrieve()
    first[:] = 7
    feed.grab()
    assert feed.retrieve().mean() > 50
    assert (first == 7).all()
    feed.release()


@pytest.mark.parametrize(("number", "lost"), [(signal.SIGKILL, "ended by SIGKILL"), (signal.SIGSTOP, "")])
def test_a_process_that_dies_or_hangs_is_a_camera_that_was_lost(address: str, number: int, lost: str) -> None:
    events: list[SourceEvent] = []
    source = ReconnectingSource(address, on_change=events.append)
    assert source.read(time.monotonic()) is not None
    [first] = decoders()
    os.kill(first.pid, number)
    began_s = time.monotonic()
    while not [event for event in events if event.state is SourceState.LOST] or len(events) < 3:
        assert source.read(time.monotonic()) is not None
        assert time.monotonic() - began_s < 30
    assert [event.state for event in events] == [SourceState.OPENED, SourceState.LOST, SourceState.OPENED]
    assert lost in events[1].reason
    assert "watch-me" not in events[1].reason
    assert first.pid not in {one.pid for one in decoders() if one.status() != psutil.STATUS_STOPPED}
    source.close()


def test_a_camera_that_is_off_costs_no_process() -> None:
    feed = ProcessFeed("rtsp://127.0.0.1:9/camera", name="camera")
    with pytest.raises(SourceError, match="can't be opened"):
        feed.open()
    assert feed._process is None
    feed.release()


@pytest.mark.parametrize("shape", [[100_000, 100_000, 3], [-1, 640, 3], [0, 0, 0], [480, 640], "no", [4.5, 640, 3], {}])
def test_a_process_that_lies_about_its_picture_is_not_believed(shape: object) -> None:
    feed = ProcessFeed("rtsp://127.0.0.1:9/camera", name="camera")
    feed._channel, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    its.send(b"d" + json.dumps(shape).encode())
    feed._pixels = mmap.mmap(-1, LARGEST_PICTURE_BYTES)
    with its, pytest.raises(SourceError, match="no picture"):
        feed.retrieve()
    feed.release()


ATTEMPTS = """
import json, os, socket, subprocess, sys
from onlooker_client.sources.camera_confinement import confine

allowed, other = int(sys.argv[1]), int(sys.argv[2])
socket.getaddrinfo("localhost", None)
assert confine(port=allowed), "not confined"


def got(attempt):
    try:
        attempt()
    except OSError as error:
        return type(error).__name__
    return "got it"


print(json.dumps({
    "read": got(lambda: open("/etc/passwd").read()),
    "list": got(lambda: os.listdir("/etc")),
    "write": got(lambda: open("/tmp/onlooker-camera", "w")),
    "run": got(lambda: subprocess.run(["/bin/true"])),
    "become": got(lambda: os.execv("/bin/true", ["true"])),
    "connect": got(lambda: socket.socket().connect(("127.0.0.1", other))),
    "listen": got(lambda: socket.socket().bind(("127.0.0.1", 0))),
    "end its parent": got(lambda: os.kill(os.getppid(), 0)),
    "read its parent": got(lambda: open(f"/proc/{os.getppid()}/environ").read()),
    "camera": got(lambda: socket.socket().connect(("127.0.0.1", allowed))),
    "look up": got(lambda: socket.getaddrinfo("localhost", None)),
}))
"""


def test_a_confined_process_reaches_its_camera_and_nothing_else() -> None:
    with socket.create_server(("127.0.0.1", 0)) as camera, socket.create_server(("127.0.0.1", 0)) as other:
        ports = [str(server.getsockname()[1]) for server in (camera, other)]
        tried = subprocess.run([sys.executable, "-c", ATTEMPTS, *ports], capture_output=True, text=True, check=True)
    assert json.loads(tried.stdout) == {
        **dict.fromkeys(["read", "list", "write", "run", "become", "connect", "listen"], "PermissionError"),
        **dict.fromkeys(["end its parent", "read its parent"], "PermissionError"),
        **dict.fromkeys(["camera", "look up"], "got it"),
    }
