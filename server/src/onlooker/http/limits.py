"""Limits on what arrives over HTTP before any route sees it: heads, hosts, encodings of bodies."""

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from onlooker.errors import Code, Problem, bad_request
from onlooker.http.answers import send_problem

HEAD_LIMIT_BYTES = 64 * 1024
"""Of a head, trailers or a chunk's extensions: whatever is not part of a body."""
UNREAD_LIMIT_BYTES = 10 * 1024**2
"""Of a body that goes on after its answer; below this, the connection stays usable."""
HEAD_TIME_LIMIT_S = 20.0
STRANGER_TIME_LIMIT_S = 10
"""How long a connection that has not shown valid credentials may be idle, or take to send a head."""


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1 with a limit on heads: its own works for h11 only, so anyone could fill the memory."""

    _head_bytes = 0
    _unread_bytes = 0
    _awaits_head = True
    _head_timer: asyncio.TimerHandle | None = None
    _is_known = False
    """Whether a request on this connection was admitted with credentials."""
    _when_lost: Callable[[], None] | None = None
    _is_lost = False

    def call_when_lost(self, action: Callable[[], None]) -> None:
        """At once, if the connection is lost already."""
        if self._is_lost:
            action()
        else:
            self._when_lost = action

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)
        self._is_lost = True
        if self._when_lost:
            self._when_lost()

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data)
        super().data_received(data)
        if self._awaits_head and self._head_timer is None:
            self._start_timer()  # most heads arrive in one piece and need none
        if self._head_bytes > HEAD_LIMIT_BYTES and not self.transport.is_closing():
            self.send_400_response("The head of the request is too large.")

    def send_400_response(self, msg: str) -> None:
        """As a problem, like every other refusal."""
        body = bad_request(msg).body()
        head = (
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/problem+json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode("ascii") + body)
        self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._unread_bytes = 0
        self._awaits_head = True

    def on_headers_complete(self) -> None:
        self._head_bytes = 0
        self._awaits_head = False
        self._stop_timer()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._head_bytes = 0
        if self.cycle.response_complete:
            self._unread_bytes += len(body)
            if self._unread_bytes > UNREAD_LIMIT_BYTES:
                self.transport.close()
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._head_bytes = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self._is_known = self._is_known or "stream_id" in self.scope
        self.timeout_keep_alive = self.config.timeout_keep_alive if self._is_known else STRANGER_TIME_LIMIT_S
        super().on_response_complete()

    def _start_timer(self) -> None:
        limit_s = HEAD_TIME_LIMIT_S if self._is_known else STRANGER_TIME_LIMIT_S
        self._head_timer = self.loop.call_later(limit_s, self.transport.close)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


class RequiredHost:
    """ASGI middleware around the whole app: an HTTP/1.1 request has exactly one Host header (RFC 9112)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        hosts = sum(name == b"host" for name, _ in scope["headers"])
        if hosts == 1 or (hosts == 0 and scope["http_version"] == "1.0"):
            await self._app(scope, receive, send)
        else:
            await send_problem(bad_request(f"A request has one Host header; this one has {hosts or 'none'}."), send)


UNCOMPRESSED = ("", "identity")


def require_uncompressed(content_encoding: str) -> None:
    """Refuse a compressed body: how large it would become is not known before it is read."""
    if any(one.strip().lower() not in UNCOMPRESSED for one in content_encoding.split(",")):
        raise Problem(
            Code.UNSUPPORTED_MEDIA_TYPE,
            "The body has a Content-Encoding. Send it uncompressed, without that header.",
            headers={"Accept-Encoding": "identity", "Connection": "close"},
        )
