"""Try it's pictures are encoded at once, also on a page that is never idle: Chromium would else wait for a second."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from threading import Thread

import pytest

import onlooker.console
from bench.lib.browser import open_browser

pytestmark = pytest.mark.skipif(
    not shutil.which("chromium") or not shutil.which("chromedriver"),
    reason="needs Debian's chromium and chromium-driver",
)

SCRIPTS = Path(onlooker.console.__file__).parent / "static/console/trial"
CAMERA = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
WAITED_MS = 1000
"""What Chromium waits for an idle moment."""
PAGE = """<!doctype html><title>Camera</title><video muted playsinline></video><script type="module">
import { Shutter, openCamera } from "/source.js";

const { port1, port2 } = new MessageChannel();
port1.onmessage = () => setTimeout(() => port2.postMessage(null));
port2.postMessage(null); // from now on the page is never idle

window.takePictures = async (count, done) => {
  const video = document.querySelector("video");
  await openCamera(video, { onEnd: done, isWanted: () => true });
  const shutter = new Shutter();
  const taken = [];
  for (let number = 0; number < count; number += 1) {
    const began = performance.now();
    const { jpeg, bitmap } = await shutter.take(video);
    const ms = performance.now() - began;
    const head = [...new Uint8Array(await jpeg.slice(0, 3).arrayBuffer())];
    taken.push({ ms, head, type: jpeg.type, width: bitmap.width, height: bitmap.height });
    bitmap.close();
  }
  shutter.close();
  done(taken);
};
</script>"""


class Scripts(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path != "/":
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE.encode())

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Scripts, directory=str(SCRIPTS)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_page_that_is_never_idle_encodes_pictures_at_once() -> None:
    with served() as url, open_browser(*CAMERA) as browser:
        browser.set_script_timeout(60)
        browser.get(f"{url}/")
        taken = browser.execute_async_script("window.takePictures(9, arguments[0])")
    assert {(picture["type"], tuple(picture["head"])) for picture in taken} == {("image/jpeg", (0xFF, 0xD8, 0xFF))}
    assert {(picture["width"], picture["height"]) for picture in taken} == {(640, 480)}
    assert median(picture["ms"] for picture in taken) < WAITED_MS / 2
