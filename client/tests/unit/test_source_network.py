"""Network cameras, over real sockets: RTSP from GStreamer's server, MJPEG over HTTP from one written here."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import cv2
import numpy as np
import pytest
from bench.chaos.rtsp_server import RtspServer, age_ms, missing, running_rtsp_server
from testkit.stopwatch import Stopwatch

from onlooker_client.errors import SourceError
from onlooker_client.sources import open_source
from onlooker_client.sources.reconnection import ReconnectingSource

needs_rtsp = pytest.mark.skipif(bool(missing()), reason=str(missing()))
MINUTE_MS = 60_000


@pytest.fixture(scope="module")
def camera() -> Iterator[RtspServer]:
    with running_rtsp_server() as server:
        yield server


@needs_rtsp
def test_an_rtsp_camera_shows_what_is_now(camera: RtspServer) -> None:
    source = open_source(camera.address)
    ages_ms, due_s = [], time.monotonic()
    for _ in range(10):
        picture = source.read(due_s)
        assert picture is not None
        ages_ms.append(age_ms(picture.pixels))
        due_s += 0.1
    assert max(ages_ms) < 1500
    assert source.is_live
    source.close()


@needs_rtsp
def test_a_reader_that_was_away_gets_a_new_picture(camera: RtspServer) -> None:
    source = open_source(camera.address)
    source.read(time.monotonic())
    time.sleep(2)
    picture = source.read(time.monotonic() - 2)
    assert picture is not None
    assert age_ms(picture.pixels) < 1500
    source.close()


@needs_rtsp
def test_pictures_are_read_at_the_rate_that_is_asked(camera: RtspServer) -> None:
    source = open_source(camera.address)
    source.read(time.monotonic())
    watch = Stopwatch()
    began_s = due_s = time.monotonic()
    for _ in range(20):
        due_s += 0.1
        assert source.read(due_s) is not None
    assert time.monotonic() - began_s > 1.8
    assert watch.elapsed_s < 10
    source.close()


class MjpegCamera(BaseHTTPRequestHandler):
    """Shows the milliseconds of the minute as a shade, ten times a second."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
        self.end_headers()
        try:
            while True:
                shade = int(time.time() * 1000 % MINUTE_MS / MINUTE_MS * 250)
                jpeg = bytes(cv2.imencode(".jpg", np.full((240, 320, 3), shade, np.uint8))[1])
                self.wfile.write(b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(jpeg))
                self.wfile.write(jpeg + b"\r\n")
                time.sleep(0.1)
        except OSError:
            pass  # the viewer went away

    def log_message(self, *said: object) -> None:
        pass


@pytest.fixture
def mjpeg_address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), MjpegCamera) as server:
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        yield f"http://viewer:watch-me@127.0.0.1:{server.server_port}/video.mjpg"
        server.shutdown()


def test_an_http_camera_shows_what_is_now(mjpeg_address: str) -> None:
    source = open_source(mjpeg_address)
    source.read(time.monotonic())
    time.sleep(3)
    picture = source.read(time.monotonic())
    assert picture is not None
    assert picture.pixels.shape == (240, 320, 3)
    shown_ms = float(picture.pixels.mean()) / 250 * MINUTE_MS
    age = (time.time() * 1000 - shown_ms) % MINUTE_MS
    assert min(age, MINUTE_MS - age) < 2500
    source.close()


@contextmanager
def silent_server() -> Iterator[int]:
    """Takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_a_camera_that_takes_connections_but_says_nothing_is_given_up_soon(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onlooker_client.sources.cameras.OPENING_MS", 1500)
    with silent_server() as port:
        watch = Stopwatch()
        with pytest.raises(SourceError, match="can't be opened") as told:
            open_source(f"rtsp://viewer:watch-me@127.0.0.1:{port}/camera")
        assert watch.elapsed_s < 4.5  # five seconds otherwise
    assert "watch-me" not in str(told.value)
    assert capfd.readouterr().err == ""


def test_closing_ends_at_once_while_a_camera_is_being_opened() -> None:
    with silent_server() as port:
        source = ReconnectingSource(f"rtsp://127.0.0.1:{port}/camera")
        threading.Timer(0.3, source.close).start()
        watch = Stopwatch()
        assert source.read(time.monotonic()) is None
        assert watch.elapsed_s < 4


def test_the_options_for_network_cameras_do_not_stay_set() -> None:
    with pytest.raises(SourceError):
        open_source("rtsp://127.0.0.1:9/camera")
    assert "OPENCV_FFMPEG_CAPTURE_OPTIONS" not in os.environ
