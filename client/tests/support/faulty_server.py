"""A server of one's own at the level of TCP, which does to its clients what servers and networks do."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Behaviour = Callable[[socket.socket, "Peer"], None]
"""What happens to one connection; it is closed afterwards."""


@dataclass
class Peer:
    """Listens on loopback; each connection gets the next behaviour, the last one forever."""

    listening: socket.socket
    behaviours: list[Behaviour]
    trust: ssl.SSLContext | None = None
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def port(self) -> int:
        return int(self.listening.getsockname()[1])

    @property
    def url(self) -> str:
        return f"http{'s' if self.trust else ''}://127.0.0.1:{self.port}"

    def serve(self) -> None:
        while not self.ended.is_set():
            try:
                taken, _ = self.listening.accept()
            except OSError:
                return
            behaviour = self.behaviours[min(self.connections, len(self.behaviours) - 1)]
            self.connections += 1
            threading.Thread(target=self._behave, args=(taken, behaviour), daemon=True).start()

    def _behave(self, taken: socket.socket, behaviour: Behaviour) -> None:
        taken.settimeout(20)
        with suppress(OSError), taken:
            if self.trust:
                taken = self.trust.wrap_socket(taken, server_side=True)
            with taken:
                behaviour(taken, self)


@contextmanager
def peer(*behaviours: Behaviour, trust: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> Iterator[Peer]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, 0), family=family)
    running = Peer(listening, list(behaviours), trust)
    thread = threading.Thread(target=running.serve, daemon=True)
    thread.start()
    try:
        yield running
    finally:
        running.ended.set()
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(5)


def read_request(taken: socket.socket) -> bytes:
    """One whole request; nothing where the client left."""
    got = b""
    while b"\r\n\r\n" not in got:
        piece = taken.recv(65536)
        if not piece:
            return b""
        got += piece
    head, _, body = got.partition(b"\r\n\r\n")
    lines = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    length = int(lines[0].partition(b":")[2]) if lines else 0
    while len(body) < length:
        piece = taken.recv(65536)
        if not piece:
            return b""
        body += piece
    return head + b"\r\n\r\n" + body


def http(body: bytes, *, status: str = "200 OK", headers: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode() + body


def answering(answer: bytes = http(b"{}"), *, times: int = 1_000_000) -> Behaviour:
    """Answers one request after another on one connection."""

    def behave(taken: socket.socket, peer: Peer) -> None:
        for _ in range(times):
            request = read_request(taken)
            if not request:
                return
            peer.requests.append(request)
            taken.sendall(answer)

    return behave


def hanging_up(taken: socket.socket, peer: Peer) -> None:
    """Reads the request, and closes without an answer."""
    peer.requests.append(read_request(taken))


def silent(taken: socket.socket, peer: Peer) -> None:
    """Reads the request, and says nothing."""
    peer.requests.append(read_request(taken))
    peer.ended.wait(20)


def saying(answer: bytes) -> Behaviour:
    """Reads the request, says these bytes, and closes."""

    def behave(taken: socket.socket, peer: Peer) -> None:
        peer.requests.append(read_request(taken))
        taken.sendall(answer)

    return behave


def trickling(taken: socket.socket, peer: Peer) -> None:
    """A byte now and then: no single wait is long."""
    peer.requests.append(read_request(taken))
    taken.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while not peer.ended.wait(0.05):
        taken.sendall(b" ")
