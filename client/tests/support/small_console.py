"""A small real HTTP server that is gateway and console to one device: takes frames and reports, has a document."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from agent_thread import await_true

from onlooker_client.config import Config

DEVICE_KEY = "k" * 43


@dataclass
class SmallConsole:
    """What it was told, and what it answers; a test changes that at any time."""

    port: int = 0
    settings: Any = field(default_factory=dict)
    version: int = 1
    every_s: Any = 5
    reports: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    authorizations: set[str] = field(default_factory=set)
    asked_with: list[str | None] = field(default_factory=list)
    """If-None-Match of each question for the document."""
    frames: int = 0
    raw_health: bytes | None = None
    """In place of the answer to a report."""
    raw_document: bytes | None = None
    health_status: int = 200
    delay_s: float = 0.0
    """Before each answer of the console."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def etag(self) -> str:
        return f"{self.version}-0123abcd"

    def config(self, **others: Any) -> Config:
        """Of a device that is enrolled here."""
        known = {"client_id": "login", "access_token": "password", "device_key": DEVICE_KEY, "source": "0"}
        return Config(**{**known, "url": self.url, "console_url": self.url, **others})

    def set(self, **settings: Any) -> str:
        """The next document; its ETag."""
        self.settings = settings
        self.version += 1
        return self.etag

    def states(self) -> list[tuple[str, str]]:
        """What was reported of configurations, without repeats: (ETag, state)."""
        said = [(one["configuration"]["etag"], one["configuration"]["state"]) for one in list(self.reports)]
        return [one for index, one in enumerate(said) if index == 0 or said[index - 1] != one]

    def reason(self) -> str:
        return str(self.reports[-1]["configuration"]["reason"])

    def await_state(self, etag: str, state: str, limit_s: float = 40.0) -> dict[str, Any]:
        await_true(lambda: bool(self.states()) and self.states()[-1] == (etag, state), limit_s, f"{state}: {self}")
        return self.reports[-1]


def _handler(console: SmallConsole) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._count()
            if self.path == "/stream":
                self._answer(200, {"state": "ready", "compute": "server"})
            elif self.path == "/devices/configuration/":
                self._give_document()
            else:
                self._answer(404, {})

        def do_POST(self) -> None:
            body = self._count()
            if self.path == "/devices/health/":
                console.reports.append(json.loads(body))
                console.authorizations.add(self.headers["Authorization"])
                time.sleep(console.delay_s)
                said = {"configuration": console.etag, "every_s": console.every_s}
                self._answer(console.health_status, said, raw=console.raw_health)
            else:
                console.frames += 1
                self._answer(200, {"entities": {}, "bodies": {}})

        def do_PUT(self) -> None:
            self._count()
            self._answer(404, {})

        def do_DELETE(self) -> None:
            self._count()
            self._answer(200, {})

        def _give_document(self) -> None:
            console.asked_with.append(self.headers["If-None-Match"])
            time.sleep(console.delay_s)
            if self.headers["If-None-Match"] == f'"{console.etag}"':
                self._answer(304, {})
                return
            document = {"version": console.version, "settings": console.settings}
            self._answer(200, document, raw=console.raw_document, etag=f'"{console.etag}"')

        def _count(self) -> bytes:
            console.paths.append(self.path)
            return self.rfile.read(int(self.headers["Content-Length"] or 0))

        def _answer(self, status: int, said: dict[str, Any], *, raw: bytes | None = None, etag: str = "") -> None:
            content = json.dumps(said).encode() if raw is None else raw
            self.send_response(status)
            if etag:
                self.send_header("ETag", etag)
            self.send_header("Content-Length", str(0 if status == 304 else len(content)))
            self.end_headers()
            if status != 304:
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """The test looks at what came."""

    return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: object) -> None:
        """A device that was stopped hung up."""


@contextmanager
def small_console() -> Iterator[SmallConsole]:
    console = SmallConsole()
    server = _Server(("127.0.0.1", 0), _handler(console))
    console.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield console
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
