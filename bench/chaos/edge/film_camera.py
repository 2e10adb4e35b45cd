"""A network camera that films somebody who comes, stays and leaves, again and again, whether or not anyone watches."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import cv2

from bench.lib.product import ROOT

FPS = 10
EMPTY_S, WALKS_S, STANDS_S = 14.0, 2.0, 20.0
"""Of each round; walking is as the film has it."""
ROUND_S = EMPTY_S + 2 * WALKS_S + STANDS_S
ARRIVED, LEAVING = 20, 70
"""Pictures of the film between which she stands."""


class FilmCamera:
    """Until `begin` nobody comes."""

    def __init__(self, pictures: list[bytes]) -> None:
        self._pictures = pictures
        self._began_at = float("inf")

    def begin(self) -> None:
        self._began_at = time.monotonic()

    def picture(self) -> bytes:
        """Of this moment."""
        past_s = (time.monotonic() - self._began_at) % ROUND_S - EMPTY_S if self._began_at < time.monotonic() else -1.0
        if past_s < 0:
            return self._pictures[-1]
        if past_s < WALKS_S:
            return self._pictures[int(past_s * FPS)]
        if past_s < WALKS_S + STANDS_S:
            span = LEAVING - ARRIVED
            beat = int((past_s - WALKS_S) * FPS) % (2 * span)
            return self._pictures[ARRIVED + min(beat, 2 * span - beat)]
        return self._pictures[LEAVING + int((past_s - WALKS_S - STANDS_S) * FPS)]


@contextmanager
def filming(folder: Path) -> Iterator[tuple[FilmCamera, str]]:
    """The camera and its address, MJPEG over HTTP."""
    film = folder / "passing.mp4"
    subprocess.run([sys.executable, str(ROOT / "docs" / "make_passing.py"), str(film)], check=True)
    camera = FilmCamera(_read_pictures(film))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
            self.end_headers()
            try:
                while True:
                    image = camera.picture()
                    head = f"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {len(image)}\r\n\r\n"
                    self.wfile.write(head.encode() + image + b"\r\n")
                    time.sleep(1 / FPS)
            except OSError:
                return  # the agent was killed

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield camera, f"http://127.0.0.1:{server.server_port}/video.mjpg"
    finally:
        server.shutdown()
        server.server_close()


def _read_pictures(film: Path) -> list[bytes]:
    video, pictures = cv2.VideoCapture(str(film)), list[bytes]()
    while True:
        has_more, picture = video.read()
        if not has_more:
            return pictures
        encoded: Any = cv2.imencode(".jpg", picture)[1]
        pictures.append(encoded.tobytes())
