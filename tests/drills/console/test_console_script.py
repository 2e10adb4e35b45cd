"""The console's script in a browser: it copies, and a form is sent once."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

import onlooker.console
from bench.lib.browser import copied, open_browser

pytestmark = pytest.mark.skipif(
    not shutil.which("chromium") or not shutil.which("chromedriver"),
    reason="needs Debian's chromium and chromium-driver",
)

GOOD = """<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Good</title>
<main><h1>Good</h1></main></html>"""

SHOWN = """<!doctype html><html lang="en"><title>Shown</title>
<script src="/words.js" defer></script><script src="/console.js" defer></script>
<main data-replace-url="/streams/"><h1>Shown</h1><code id="login"> secret
</code><button type="button" data-copy="#login">Copy</button><p id="spoken" role="status"></p></main></html>"""
FORM = """<!doctype html><html lang="en"><title>Form</title><script src="/console.js" defer></script>
<main><h1>Form</h1><form method="post" action="/slow"><button type="submit" name="answer" value="accept">Accept</button>
</form></main></html>"""
WORDS = "globalThis.gettext = (text) => text"
SCRIPT = Path(onlooker.console.__file__).parent / "static/console/console.js"


posted: list[bytes] = []


class Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        scripts = {"/words.js": WORDS, "/console.js": SCRIPT.read_text()}
        pages = {"/shown": SHOWN, "/form": FORM} | scripts
        body = pages.get(self.path, GOOD).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if self.path.endswith(".js") else "text/html")
        self.send_header("Content-Security-Policy", "script-src 'self'")
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        posted.append(self.rfile.read(int(self.headers["Content-Length"])))
        time.sleep(1)
        self.do_GET()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_script_copies_says_so_and_replaces_the_address():
    with served() as url, open_browser() as browser:
        browser.get(f"{url}/shown")
        assert browser.current_url == f"{url}/streams/"
        button = browser.find_element(By.TAG_NAME, "button")
        button.click()
        WebDriverWait(browser, 5).until(lambda _: button.text == "Copied")
        assert browser.find_element(By.ID, "spoken").text == "Copied"
        assert copied(browser) == "secret"
        WebDriverWait(browser, 5).until(lambda _: button.text == "Copy")

        browser.execute_cdp_cmd("Browser.grantPermissions", {"permissions": []})  # now nothing is allowed
        button.click()
        WebDriverWait(browser, 5).until(lambda _: button.text == "Press Ctrl+C")
        assert browser.execute_script("return getSelection().toString().trim()") == "secret"


def test_a_form_is_sent_once_and_again_by_whoever_comes_back():
    posted.clear()
    with served() as url, open_browser() as browser:
        for count in (1, 2):
            browser.get(f"{url}/form")
            button = browser.find_element(By.TAG_NAME, "button")
            browser.execute_script("for (const ms of [0, 200, 400]) setTimeout(() => arguments[0].click(), ms)", button)
            WebDriverWait(browser, 5).until(lambda _: "Good" in browser.title)
            assert posted == [b"answer=accept"] * count
        browser.back()
        WebDriverWait(browser, 5).until(lambda _: "Form" in browser.title)
        button = browser.find_element(By.TAG_NAME, "button")
        assert button.is_enabled()
        button.click()
        WebDriverWait(browser, 5).until(lambda _: "Good" in browser.title)
    assert len(posted) == 3
