"""A small HTTP server that answers as the management API does, or worse."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

KEY = "onl_" + "k" * 43


@dataclass(frozen=True)
class Asked:
    """A request, as it came."""

    method: str
    path: str
    """After /api/v1/, as sent."""
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any

    @property
    def idempotency_key(self) -> str:
        return self.headers.get("Idempotency-Key", "")


@dataclass(frozen=True)
class Reply:
    """An answer; one that is lost was done, and nobody hears of it."""

    said: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    is_lost: bool = False
    raw: bytes | None = None

    @property
    def content(self) -> bytes:
        if self.raw is not None:
            return self.raw
        return b"" if self.said is None else json.dumps(self.said).encode()


def problem(status: int, code: str, detail: str, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply({"type": "x", "title": "x", "status": status, "detail": detail, "code": code}, status, named)


@dataclass
class ManagementServer:
    url: str
    asked: list[Asked] = field(default_factory=list)


@contextmanager
def management_server(answer: Callable[[Asked], Reply]) -> Iterator[ManagementServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            content = self.rfile.read(length)
            body = json.loads(content) if content else None
            query = dict(parse_qsl(parts.query))
            asked = Asked(self.command, parts.path.partition("/api/v1/")[2], query, dict(self.headers.items()), body)
            running.asked.append(asked)
            reply = answer(asked)
            if reply.is_lost:
                self.close_connection = True
                return
            said = reply.content
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        do_GET = do_POST = do_PATCH = do_DELETE = handle_any

        def log_message(self, *_: Any) -> None:
            """Not into the tests' output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    running = ManagementServer(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def in_turn(*replies: Reply) -> Callable[[Asked], Reply]:
    """One after another; the last one again and again."""
    left = list(replies)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]
