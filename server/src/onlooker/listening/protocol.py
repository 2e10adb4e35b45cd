"""HTTP/1.1 as uvicorn reads it, within limits on what comes before or after anybody looks at it."""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from onlooker.errors import bad_request

HEAD_LIMIT_BYTES = 64 * 1024
"""Of a head, of trailers, of a chunk's extensions: of what is neither a body nor a whole head."""
UNREAD_LIMIT_BYTES = 10 * 1024**2
"""Of a body that goes on after its answer; below it, a connection stays usable."""
HEAD_TIME_LIMIT_S = 20.0


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's own limit on heads holds for h11 only; with httptools a stranger could fill the memory."""

    _head_bytes = 0
    _unread_bytes = 0
    _awaits_head = True
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data)
        super().data_received(data)
        if self._awaits_head and self._head_timer is None:
            self._start_timer()  # most heads come in one piece and need none
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

    def _start_timer(self) -> None:
        self._head_timer = self.loop.call_later(HEAD_TIME_LIMIT_S, self.transport.close)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
