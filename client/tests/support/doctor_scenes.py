"""Pictures as cameras give them, good and bad, and cameras in the network that show them."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import cv2
import numpy as np

Pixels = Any


def shop(*, noise: float = 2.0, seed: int = 1) -> Pixels:
    """A shelf with goods: edges of all directions, and the noise of a sensor."""
    dice = np.random.default_rng(7)
    picture = np.full((480, 640), 150, np.uint8)
    for _ in range(60):
        x, y, width, height = (int(n) for n in dice.integers((0, 0, 15, 15), (600, 440, 80, 80)))
        cv2.rectangle(picture, (x, y), (x + width, y + height), int(dice.integers(40, 230)), cv2.FILLED)
    return with_noise(picture, noise, seed)


def with_noise(picture: Pixels, noise: float, seed: int = 1) -> Pixels:
    dice = np.random.default_rng(seed)
    return np.clip(picture + dice.normal(0, noise, picture.shape), 0, 255).astype(np.uint8)


def blurred(picture: Pixels, sigma_px: float) -> Pixels:
    return with_noise(cv2.GaussianBlur(picture, (0, 0), sigma_px), 2.0)


def write_video(path: Path, pictures: list[Pixels], *, fps: float = 10.0) -> Path:
    height, width = pictures[0].shape[:2]
    video = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"mp4v"), fps, (width, height))
    for picture in pictures:
        video.write(cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR))
    video.release()
    return path


@contextmanager
def network_camera(pictures: list[Pixels], *, fps: float = 25.0, shown: int = 10_000) -> Iterator[str]:
    """An HTTP camera (MJPEG) that shows pictures in turn, and breaks off after so many."""
    jpegs = [cv2.imencode(".jpg", picture)[1].tobytes() for picture in pictures]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
            self.end_headers()
            for number in range(shown):
                jpeg = jpegs[number % len(jpegs)]
                head = f"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {len(jpeg)}\r\n\r\n"
                try:
                    self.wfile.write(head.encode() + jpeg + b"\r\n")
                except OSError:
                    return
                time.sleep(1 / fps)

        def log_message(self, *_: object) -> None: ...

    with _serving(Handler) as address:
        yield f"http://{address}/video.mjpg"


@contextmanager
def locked_camera(challenge: str, is_right: Callable[[str], bool]) -> Iterator[str]:
    """An HTTP camera that requires a user name and password; yields host and port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            said = self.headers.get("Authorization", "")
            self.send_response(404 if is_right(said) else 401)
            self.send_header("WWW-Authenticate", challenge)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with _serving(Handler) as address:
        yield address


@contextmanager
def _serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
