"""The example page in a real browser: it reacts to the feed, and a page of another origin gets nothing."""

import functools
import shutil
import threading
import time
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from bench.lib.browser import Browser, console_errors, open_browser
from feed_reader import AT_CAMERA, AWAY, computed
from selenium.webdriver.support.ui import WebDriverWait

from onlooker_client.device.feed import LocalFeed

PAGE = Path(__file__).resolve().parents[3] / "examples" / "audience-page" / "index.html"
TOKEN = "0123456789abcdef"
LONGEST_LINES = 60
pytestmark = pytest.mark.skipif(
    not shutil.which("chromium") or not shutil.which("chromedriver"),
    reason="needs Debian's chromium and chromium-driver",
)
READ_SOCKET = """
const [address, done] = arguments, opened = new WebSocket(address);
opened.onmessage = (message) => { done(JSON.parse(message.data)); opened.close(); };
opened.onerror = () => done("refused");
"""
READ_NOW = """
const [address, options, done] = arguments;
fetch(address, options).then((answer) => answer.json()).then(done, (fault) => done(`refused: ${fault}`));
"""


class QuietFiles(SimpleHTTPRequestHandler):
    """The folder of the example, without a log."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of the page, as a player or a content system would serve it."""
    handler = functools.partial(QuietFiles, directory=str(PAGE.parent))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def feed(site: str) -> Iterator[LocalFeed]:
    opened = LocalFeed(0, origins=[site], token=TOKEN)
    yield opened
    opened.close()


def await_text(browser: Browser, id: str, text: str) -> None:
    script = f"return document.getElementById('{id}').textContent"
    WebDriverWait(browser, 10, poll_frequency=0.05).until(lambda page: text in page.execute_script(script))


def play(feed: LocalFeed, seconds: float, **people: Any) -> None:
    for number in range(round(seconds * 10)):
        feed.publish(computed(number, **people))
        time.sleep(0.1)


def test_the_page_is_short_enough_to_copy() -> None:
    assert len(PAGE.read_text(encoding="utf-8").splitlines()) <= LONGEST_LINES


def test_the_page_reacts_when_somebody_looks(browser: Browser, site: str, feed: LocalFeed) -> None:
    browser.get(f"{site}/index.html?feed=http://127.0.0.1:{feed.port}")
    await_text(browser, "state", "The camera sees nothing")
    play(feed, 0.3, one=AWAY, two=AWAY)
    await_text(browser, "state", "2 in view")
    await_text(browser, "headline", "Welcome")
    play(feed, 0.8, one=AT_CAMERA, two=AWAY)
    await_text(browser, "headline", "Hello!")
    await_text(browser, "line", "25-34")
    assert browser.execute_script("return document.querySelectorAll('#people i.looking').length") == 1
    play(feed, 0.9, one=AWAY)
    await_text(browser, "headline", "Welcome")
    assert not console_errors(browser)
    feed.close()
    await_text(browser, "state", "No feed")


def test_a_page_of_an_allowed_origin_opens_a_web_socket(browser: Browser, site: str, feed: LocalFeed) -> None:
    browser.get(f"{site}/index.html?feed=http://127.0.0.1:9")
    said = browser.execute_async_script(READ_SOCKET, f"ws://127.0.0.1:{feed.port}/socket")
    assert said["people"] == []


def test_a_page_of_another_origin_gets_nothing_in_any_way(browser: Browser, site: str, feed: LocalFeed) -> None:
    browser.get(f"{site.replace('127.0.0.1', 'localhost')}/index.html?feed=http://127.0.0.1:{feed.port}")
    await_text(browser, "state", "No feed")
    address = f"127.0.0.1:{feed.port}"
    assert browser.execute_async_script(READ_SOCKET, f"ws://{address}/socket") == "refused"
    assert "refused" in browser.execute_async_script(READ_NOW, f"http://{address}/now", {})
    said = browser.execute_async_script(READ_NOW, f"http://{address}/now?token={TOKEN}", {})
    assert said["people"] == []
    assert feed.status()["refused"]["origin"] >= 3


def test_a_page_with_the_token_may_send_it_as_a_header(browser: Browser, site: str, feed: LocalFeed) -> None:
    browser.get(f"{site}/index.html?feed=http://127.0.0.1:9")
    options = {"headers": {"Authorization": f"Bearer {TOKEN}"}}
    said = browser.execute_async_script(READ_NOW, f"http://127.0.0.1:{feed.port}/now", options)
    assert said["people"] == []


def test_a_page_from_a_file_uses_the_token(browser: Browser, feed: LocalFeed) -> None:
    browser.get(f"{PAGE.as_uri()}?feed=http://127.0.0.1:{feed.port}&token={TOKEN}")
    await_text(browser, "state", "The camera sees nothing")
    browser.get(f"{PAGE.as_uri()}?feed=http://127.0.0.1:{feed.port}")
    await_text(browser, "state", "No feed")
