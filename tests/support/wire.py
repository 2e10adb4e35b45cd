"""What gateway tests send and expect on the wire."""

import base64
import json
import os
import signal
import socket
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx2

from testkit import Stack, TestStream

T = TypeVar("T")
PROBLEM_MEMBERS = {"type", "title", "status", "detail", "code"}


def new_state() -> dict[str, str]:
    """A `state` with a session nobody used before."""
    return {"session_id": str(uuid.uuid4())}


def multipart(meta: dict[str, Any], **attachments: bytes) -> dict[str, tuple[str | None, bytes | str, str]]:
    """Parts of a request: the attachments by name, and `meta` as the last."""
    parts: dict[str, tuple[str | None, bytes | str, str]] = {
        f"attachment://{name}": (name, data, "image/jpeg") for name, data in attachments.items()
    }
    return parts | {"meta": (None, json.dumps(meta), "application/json")}


def measure(client: httpx2.Client, data: bytes = b"pixels", **fields: Any) -> httpx2.Response:
    """A job of the test service `measure`; synchronous unless told otherwise."""
    meta = {"image": "attachment://shot", "async": False} | fields
    return client.post("/services/measure/1/jobs", files=multipart(meta, shot=data))


def dummy(client: httpx2.Client, **fields: Any) -> httpx2.Response:
    return client.post("/services/dummy/1/jobs", json={"async": False} | fields)


def store_blob(client: httpx2.Client, data: bytes = b"pixels", **fields: Any) -> httpx2.Response:
    meta = {"content": "attachment://shot"} | fields
    return client.post("/blobs", files=multipart(meta, shot=data))


def finished(client: httpx2.Client, url: str, *, limit_s: float = 20) -> httpx2.Response:
    """The answer for an accepted job once it is no longer pending."""
    return wait_for(lambda: client.get(url), lambda answer: answer.status_code != 202, limit_s=limit_s)


def wait_for(read: Callable[[], T], right: Callable[[T], bool], *, limit_s: float = 10, every_s: float = 0.05) -> T:
    """Read until it is right, or fail with what was read last."""
    give_up_at = time.monotonic() + limit_s
    while True:
        value = read()
        if right(value):
            return value
        assert time.monotonic() < give_up_at, f"still {value!r} after {limit_s:g} s"
        time.sleep(every_s)


@contextmanager
def paused(stack: Stack, process: str) -> Iterator[None]:
    """A process of the stack stands still for the length of the block."""
    pid = stack.children()[process]
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def assert_problem(answer: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    """The answer is this problem, in the one shape that problems have."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = answer.json()
    assert set(body) >= PROBLEM_MEMBERS
    assert (body["status"], body["code"]) == (status, code)
    assert all(isinstance(body[member], str) and body[member] for member in ("type", "title", "detail"))
    return body


def basic(client_id: str, access_token: str) -> str:
    return "Basic " + base64.b64encode(f"{client_id}:{access_token}".encode()).decode()


def raw_exchange(
    stack: Stack, stream: TestStream, head: str, chunks: Iterable[bytes], *, pause_s: float = 0.0
) -> tuple[int, bytes]:
    """Send a request in exactly these pieces over plain HTTP; status and body of the answer."""
    lines = f"{head}\r\nHost: localhost\r\nConnection: close\r\nAuthorization: {basic(*stream.auth)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", int(stack.setting("http_port"))), timeout=20) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(lines.encode())
        for chunk in chunks:
            connection.sendall(chunk)
            time.sleep(pause_s)
        received = b""
        while piece := connection.recv(65536):
            received += piece
    answer_head, _, body = received.partition(b"\r\n\r\n")
    return int(answer_head.split()[1]), body
