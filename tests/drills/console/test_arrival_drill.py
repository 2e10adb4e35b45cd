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
from selenium.webdriver.common.by import By

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
PASSWORD = '<code id="password">secret</code><button type="button" data-copy="#password">Copy</button>'
NEVER = LiveStrip(None, None, "never", "Never seen", "no frames received yet")
EMPTY = LiveStrip(0, 0, "live", "Live", "Nobody in view")
SOMEBODY = LiveStrip(1, 0, "live", "Live", "1 in view, none looking")


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


def words_on(browser: Browser) -> str:
    return str(browser.find_element(By.ID, "arrival").text)


def is_dashboard(browser: Browser) -> bool:
    return str(browser.current_url).endswith(f"{DASHBOARD_PATH}?period=today")


def test_the_page_says_what_arrives_and_becomes_the_dashboard(chromium: Browser) -> None:
    with serving(render_page("")) as (url, strips):
        chromium.get(url)
        strips.put(NEVER)
        assert wait_for(lambda: "Waiting for the first frame" in words_on(chromium))
        assert "Open the dashboard" not in words_on(chromium)
        strips.put(EMPTY)
        assert wait_for(lambda: "Frames arrive." in words_on(chromium))
        assert "Waiting" not in words_on(chromium)
        assert "Open the dashboard" in words_on(chromium)
        time.sleep(3)
        assert not is_dashboard(chromium)  # it waits for somebody to pass
        strips.put(SOMEBODY)
        assert wait_for(lambda: "First person counted." in words_on(chromium))
        assert wait_for(lambda: is_dashboard(chromium))


def test_a_page_with_a_password_stays_until_it_was_copied(chromium: Browser) -> None:
    with serving(render_page(PASSWORD)) as (url, strips):
        chromium.get(url)
        strips.put(SOMEBODY)
        strips.put(SOMEBODY)
        assert wait_for(lambda: "First person counted." in words_on(chromium))
        time.sleep(4)
        assert not is_dashboard(chromium)
        chromium.find_element(By.CSS_SELECTOR, "[data-copy]").click()
        assert wait_for(lambda: is_dashboard(chromium))
