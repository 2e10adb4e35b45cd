"""The browser that looks at our pages must see what is wrong with a bad one."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

import onlooker.console
from bench.journeys.console.person import Person
from bench.lib.browser import open_browser
from bench.lib.browser.checks import AXE

pytestmark = pytest.mark.skipif(
    not shutil.which("chromium") or not shutil.which("chromedriver") or not AXE.exists(),
    reason="needs Debian's chromium and chromium-driver, and: just browsing",
)

BAD = """<!doctype html><html lang="en"><title>Bad</title><main><h1>Bad</h1>
<script>document.title = "ran"</script><img src="http://127.0.0.1:9/elsewhere.png" alt="">
<input><pre>{}</pre></main></html>""".format("wide" * 200)
GOOD = """<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Good</title>
<main><h1>Good</h1></main></html>"""

SHOWN = """<!doctype html><html lang="en"><title>Shown</title>
<script src="/words.js" defer></script><script src="/console.js" defer></script>
<main data-replace-url="/streams/"><h1>Shown</h1><code id="login"> secret
</code><button type="button" data-copy="#login">Copy</button><p id="spoken" role="status"></p></main></html>"""
FORM = """<!doctype html><html lang="en"><title>Form</title><script src="/console.js" defer></script>
<main><h1>Form</h1><form method="post" action="/slow"><button type="submit" name="answer" value="accept">Accept</button>
</form></main></html>"""
LATE = """document.forms[0].addEventListener("submit", (event) => {
    event.preventDefault();
    setTimeout(() => event.target.submit(), 500);
})"""
WORDS = "globalThis.gettext = (text) => text"
SCRIPT = Path(onlooker.console.__file__).parent / "static/console/console.js"


posted: list[bytes] = []


class Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        scripts = {"/words.js": WORDS, "/console.js": SCRIPT.read_text()}
        pages = {"/bad": BAD, "/shown": SHOWN, "/form": FORM} | scripts
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


def test_a_click_ends_when_the_page_that_it_leads_to_is_there(tmp_path):
    with served() as url, open_browser() as browser:
        person = Person(browser, url, tmp_path)
        person.open("/form")
        browser.execute_script(LATE)  # as on a busy machine, where a form is sent some time after the click
        person.press("Accept")
        assert browser.title == "Good"
