"""Cameras that send their viewers elsewhere, and the host they would like to be contacted."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Callable

ELSEWHERE = "127.0.0.2"
Handler = Callable[[socket.socket], None]


@contextmanager
def listening(handle: Handler, host: str = "127.0.0.1") -> Iterator[int]:
    """Each connection to this port is handled in a thread; then it is closed."""
    with socket.create_server((host, 0)) as server:

        def serve() -> None:
            while True:
                try:
                    taken, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=_handle, args=[handle, taken], daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def _handle(handle: Handler, taken: socket.socket) -> None:
    with taken:
        taken.settimeout(5)
        try:
            handle(taken)
        except OSError:
            return  # the viewer went away


class Bystander:
    """Another host: records who contacts it, over TCP and UDP on the same port."""

    def __init__(self, port: int) -> None:
        self.address = f"{ELSEWHERE}:{port}"
        self.contacts: list[bytes] = []
        self.datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.datagrams.bind((ELSEWHERE, port))
        self.datagrams.setblocking(False)

    def was_contacted(self) -> bool:
        with suppress(BlockingIOError):
            self.contacts.append(self.datagrams.recv(2000))
        return bool(self.contacts)


@contextmanager
def bystander() -> Iterator[Bystander]:
    found: list[Bystander] = []

    def record(taken: socket.socket) -> None:
        found[0].contacts.append(b"connected")
        found[0].contacts.append(taken.recv(2000))

    with listening(record, ELSEWHERE) as port:
        found.append(Bystander(port))
        yield found[0]
        found[0].datagrams.close()


def http_answer(status: str, *headers: str, body: str = "") -> Handler:
    """Answers every request alike."""
    head = "\r\n".join([f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", ""])

    def handle(taken: socket.socket) -> None:
        taken.recv(4096)
        taken.sendall((head + body).encode())

    return handle


@dataclass(frozen=True)
class RtspAnswer:
    """To one method."""

    status: str = "200 OK"
    headers: tuple[str, ...] = ("Public: OPTIONS, DESCRIBE, SETUP, PLAY",)
    body: str = ""


def rtsp_answers(answers: Mapping[str, RtspAnswer]) -> Handler:
    """What is not among them is fine."""

    def handle(taken: socket.socket) -> None:
        held = b""
        while True:
            while b"\r\n\r\n" not in held:
                more = taken.recv(4096)
                if not more:
                    return
                held += more
            head, _, held = held.partition(b"\r\n\r\n")
            lines = head.decode().split("\r\n")
            answer = answers.get(lines[0].split()[0], RtspAnswer())
            number = next(line for line in lines if line.lower().startswith("cseq"))
            length = [f"Content-Length: {len(answer.body)}"] if answer.body else []
            said = [f"RTSP/1.0 {answer.status}", number, *answer.headers, *length, "", ""]
            taken.sendall(("\r\n".join(said) + answer.body).encode())

    return handle


def description(host: str, *, port: int = 0, control: str = "") -> str:
    """A session description that names a host."""
    lines = ["v=0", f"o=- 0 0 IN IP4 {host}", "s=camera", f"c=IN IP4 {host}", "t=0 0", f"m=video {port} RTP/AVP 96"]
    lines += ["a=rtpmap:96 H264/90000", *([f"a=control:{control}"] if control else [])]
    return "\r\n".join([*lines, ""])
