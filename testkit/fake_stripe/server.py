"""The HTTP server of the FAKE of Stripe, with its requests and responses."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from testkit.fake_stripe.stripe import FakeStripe


@dataclass(frozen=True)
class FakeRequest:
    """A request to the fake."""

    method: str
    path: str
    body: bytes = b""
    key: str = ""
    """Its idempotency key."""

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True))


@dataclass(frozen=True)
class FakeResponse:
    """A response of the fake."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})

    def json(self) -> Any:
        return json.loads(self.body)


@contextmanager
def serve_fake(fake: "FakeStripe", port: int) -> Iterator[None]:
    class FakeHandler(_Handler):
        stripe = fake

    server = ThreadingHTTPServer(("127.0.0.1", port), FakeHandler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    """Stripe's API, the page for cards, and webhooks of localstripe."""

    protocol_version = "HTTP/1.1"
    stripe: "FakeStripe"

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        asked = FakeRequest(self.command, self.path, body, self.headers.get("Idempotency-Key", ""))
        answer = self._find(asked)
        if answer is None:
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def _find(self, asked: FakeRequest) -> FakeResponse | None:
        if asked.path == "/_fake/webhooks":
            self.stripe.webhooks.take(asked.body, self.headers["Stripe-Signature"])
            return FakeResponse(200, b"")
        if asked.path.startswith("/pay/"):
            return self.stripe.checkout.show_page(asked)
        return self.stripe.answer(asked)

    def log_message(self, format: str, *values: object) -> None:
        """Silent: tests report what went wrong."""
