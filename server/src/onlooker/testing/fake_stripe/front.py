"""The HTTP side of the FAKE of Stripe."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from onlooker.testing.fake_stripe.wire import Answer, Asked

if TYPE_CHECKING:
    from onlooker.testing.fake_stripe.stripe import FakeStripe


@contextmanager
def serve_front(fake: "FakeStripe", port: int) -> Iterator[None]:
    class Front(_Front):
        stripe = fake

    server = ThreadingHTTPServer(("127.0.0.1", port), Front)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Front(BaseHTTPRequestHandler):
    """One request: Stripe's interface, the page for cards, or a webhook of localstripe."""

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
        asked = Asked(self.command, self.path, body, self.headers.get("Idempotency-Key", ""))
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

    def _find(self, asked: Asked) -> Answer | None:
        if asked.path == "/_fake/webhooks":
            self.stripe.webhooks.take(asked.body, self.headers["Stripe-Signature"])
            return Answer(200, b"")
        if asked.path.startswith("/pay/"):
            return self.stripe.checkout.show_page(asked)
        return self.stripe.answer(asked)

    def log_message(self, format: str, *values: object) -> None:
        """Tests say what went wrong."""
