"""What a stranger may send before, and after, anybody looks at it."""

import socket
import time
from urllib.parse import urlsplit

import pytest

from onlooker.http.limits import HEAD_LIMIT_BYTES, UNREAD_LIMIT_BYTES
from testkit import Stack

MIB = b"x" * 1024**2


def _connect(stack: Stack) -> socket.socket:
    address = urlsplit(stack.plain_url)
    return socket.create_connection((address.hostname, address.port), timeout=10)


def _send_until_cut(connection: socket.socket, piece: bytes, *, most_bytes: int) -> int:
    """Send the same again and again; how much went out before the server hung up."""
    sent = 0
    try:
        while sent < most_bytes:
            connection.sendall(piece)
            sent += len(piece)
            time.sleep(0.001)
    except OSError:
        pass
    return sent


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (b"GET /services HTTP/1.1\r\nHost: x\r\nX-Long: ", MIB),
        (b"GET /services HTTP/1.1\r\nHost: x\r\n", b"X: a\r\n" * 10_000),
        (b"GET /", MIB),
    ],
    ids=["one long header", "many headers", "long path"],
)
def test_a_head_without_end_is_cut_off(stack: Stack, start: bytes, piece: bytes) -> None:
    with _connect(stack) as connection:
        connection.sendall(start)
        assert _send_until_cut(connection, piece, most_bytes=64 * 1024**2) < 32 * 1024**2


def test_a_head_within_the_limit_is_read(stack: Stack) -> None:
    with _connect(stack) as connection:
        padding = b"X: " + b"y" * (HEAD_LIMIT_BYTES // 2) + b"\r\n"
        connection.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n" + padding + b"\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /livez HTTP/1.1\r\nHost: x\r\n", 200),
        (b"GET /livez HTTP/1.1\r\n", 400),
        (b"GET /livez HTTP/1.1\r\nHost: x\r\nHost: x\r\n", 400),
        (b"GET http://x/livez HTTP/1.1\r\n", 400),
        (b"GET /livez HTTP/1.0\r\n", 200),
        (b"GET /livez HTTP/1.0\r\nHost: x\r\nHost: y\r\n", 400),
    ],
    ids=["one", "none", "two", "none, but an address", "none in 1.0", "two in 1.0"],
)
@pytest.mark.parametrize("port", ["http_port", "console_http_port", "data_http_port"])
def test_a_request_names_its_host_once(stack: Stack, port: str, head: bytes, status: int) -> None:
    with socket.create_connection(("127.0.0.1", int(stack.setting(port))), timeout=10) as connection:
        connection.sendall(head + b"Connection: close\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert int(answer.split()[1]) == status
    if status == 400:
        assert b"content-type: application/problem+json" in answer.lower()
        assert b'"code":"bad_request"' in answer


def test_what_is_no_http_is_a_problem_too(stack: Stack) -> None:
    with _connect(stack) as connection:
        connection.sendall(b"nonsense\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 400")
    assert b'"code":"bad_request"' in answer


def test_a_body_that_goes_on_after_its_refusal_is_cut_off(stack: Stack) -> None:
    with _connect(stack) as connection:
        head = b"POST /blobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head)
        sent = _send_until_cut(connection, b"100000\r\n" + MIB + b"\r\n", most_bytes=20 * UNREAD_LIMIT_BYTES)
        assert sent < 5 * UNREAD_LIMIT_BYTES
