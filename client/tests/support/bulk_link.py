"""A network between client and server, which can be long, and can be cut."""

import queue
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

PIECE_BYTES = 64 * 1024


@dataclass
class Link:
    """Passes bytes on, each after a delay."""

    listening: socket.socket
    server: tuple[str, int]
    delay_s: float
    is_down: bool = False
    passing: list[socket.socket] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.listening.getsockname()[1])

    @property
    def connections(self) -> int:
        return len(self.passing) // 2

    def cut(self) -> None:
        """Everything in flight is lost, and nothing comes through until `mend`."""
        self.is_down = True
        for end in self.passing:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self.is_down = False

    def serve(self) -> None:
        while True:
            try:
                near, _ = self.listening.accept()
            except OSError:
                return
            if self.is_down:
                near.close()
                continue
            far = socket.create_connection(self.server)
            self.passing += [near, far]
            for one, other in ((near, far), (far, near)):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        late: queue.Queue[tuple[float, bytes]] = queue.Queue()
        threading.Thread(target=_deliver, args=(late, other), daemon=True).start()
        piece = b"?"
        while piece:
            try:
                piece = one.recv(PIECE_BYTES)
            except OSError:
                piece = b""
            late.put((time.monotonic() + self.delay_s, piece))


def _deliver(late: queue.Queue[tuple[float, bytes]], to: socket.socket) -> None:
    while True:
        due_at, piece = late.get()
        time.sleep(max(0.0, due_at - time.monotonic()))
        try:
            if not piece:
                to.shutdown(socket.SHUT_WR)
                return
            to.sendall(piece)
        except OSError:
            return


@contextmanager
def link_to(url: str, *, delay_s: float = 0.0) -> Iterator[Link]:
    """A link to the port of this URL on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        link = Link(listening, ("127.0.0.1", int(url.rpartition(":")[2])), delay_s)
        threading.Thread(target=link.serve, daemon=True).start()
        try:
            yield link
        finally:
            link.cut()
