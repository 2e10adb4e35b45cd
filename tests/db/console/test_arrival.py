"""The page of a stream without frames, in a real browser: it says what arrives, and becomes the dashboard."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from threading import Thread
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from django.template.loader import render_to_string

import onlooker.console
from bench.lib.browser import Browser, open_browser
from onlooker.console.dashboard.live import LiveStrip, encode_event

pytestmark = pytest.mark.skipif(
    not shutil.which("chromium") or not shutil.which("chromedriver"),
    reason="needs Debian's chromium and chromium-driver",
)

STATIC = Path(onlooker.console.__file__).parent / "static"
CLIENT_ID = UUID("5b31d405-d6a7-4b4e-96ca-683ba6e6ffbf")
LIVE_PATH, DASHBOARD_PATH = (f"/streams/{CLIENT_ID}/dashboard/{part}" for part in ("live/", ""))
SILENT = LiveStrip(None, None, "silent", "Silent", "since yesterday")


def render_page(password: str, *, grid: bool = False) -> str:
    stream = SimpleNamespace(client_id=CLIENT_ID, time_zone="Europe/Paris", grid=grid)
    panel = render_to_string("streams/arrival.html", {"stream": stream, "status": SimpleNamespace(last_frame_at=None)})
    return f"<!doctype html><title>Set up</title>{password}{panel}"


@contextmanager
def serving(page: str) -> Iterator[tuple[str, Queue[LiveStrip]]]:
    """The page, the console's scripts, and the events that a test puts into the queue."""
    strips: Queue[LiveStrip] = Queue()

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            scripts = STATIC / self.path.removeprefix("/static/")
            if self.path == LIVE_PATH:
                self.begin("text/event-stream")
                while True:
                    self.wfile.write(encode_event("view", strips.get()) + encode_event("numbers", {"next_s": 30}))
                    self.wfile.flush()
            elif self.path.startswith("/static/") and scripts.is_file():
                self.begin("text/javascript")
                self.wfile.write(scripts.read_bytes())
            else:
                self.begin("text/html")
                self.wfile.write(page.encode() if self.path == "/" else b"<!doctype html><title>Dashboard</title>")

        def begin(self, content_type: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", content_type)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/", strips
    finally:
        server.shutdown()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


def wait_for(is_right: Callable[[], bool], *, limit_s: float = 20.0) -> bool:
    give_up_at = time.monotonic() + limit_s
    while not is_right() and time.monotonic() < give_up_at:
        time.sleep(0.05)
    return is_right()


def is_dashboard(browser: Browser) -> bool:
    return str(browser.current_url).endswith(f"{DASHBOARD_PATH}?period=today")


@pytest.mark.parametrize("strip", [SILENT, LiveStrip(None, None, "live", "Live", "on the grid")])
def test_a_page_that_will_hear_of_nobody_becomes_the_dashboard_too(chromium: Browser, strip: LiveStrip) -> None:
    with serving(render_page("", grid=True)) as (url, strips):
        chromium.get(url)
        strips.put(strip)
        assert wait_for(lambda: is_dashboard(chromium))
