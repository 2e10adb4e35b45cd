"""Requests: repeated where that is harmless and nowhere else, all of it within one time limit."""

import socket
import threading
import time

import pytest
from faulty_server import Peer, answering, hanging_up, http, peer, read_request, saying, silent
from testkit.stopwatch import Stopwatch

from onlooker_client.errors import (
    BadCredentials,
    BadRequest,
    ConfigError,
    LinkError,
    NotAllowed,
    NotNow,
    OnlookerError,
    TimedOut,
)
from onlooker_client.wire import transport as module
from onlooker_client.wire.attachments import json_body
from onlooker_client.wire.transport import Repeat, Transport, pause_s

BUSY = http(b'{"code": "overloaded", "detail": "Busy."}', status="503 Busy", headers="Retry-After: 0\r\n")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE_S", 0.01)


def ask(running: Peer, repeat: Repeat, *, timeout_s: float = 5.0) -> int:
    transport = Transport(running.url, timeout_s=timeout_s)
    try:
        return transport.request("POST", "/x", json_body({}), repeat=repeat).status
    finally:
        transport.close()


@pytest.mark.parametrize("repeat", list(Repeat))
def test_a_lost_answer_is_asked_for_again_only_where_that_is_harmless(repeat: Repeat) -> None:
    with peer(hanging_up, hanging_up, answering()) as running:
        if repeat is Repeat.IF_LOST:
            assert ask(running, repeat) == 200
            assert running.connections == 3
        else:
            with pytest.raises(LinkError, match="without an answer"):
                ask(running, repeat)
            assert running.connections == 1


@pytest.mark.parametrize("repeat", list(Repeat))
def test_a_server_that_is_busy_is_asked_again_unless_told_never(repeat: Repeat) -> None:
    with peer(saying(BUSY), saying(BUSY), answering()) as running:
        if repeat is Repeat.NEVER:
            with pytest.raises(NotNow, match="Busy"):
                ask(running, repeat)
            assert running.connections == 1
        else:
            assert ask(running, repeat) == 200
            assert running.connections == 3


def test_it_gives_up_after_four_tries() -> None:
    with peer(saying(BUSY)) as running:
        with pytest.raises(NotNow):
            ask(running, Repeat.IF_LOST)
        assert running.connections == 4


@pytest.mark.parametrize("status", ["500 Fault", "502 Bad Gateway", "504 Late"])
def test_a_fault_of_the_server_is_not_asked_for_twice_where_something_was_made(status: str) -> None:
    with peer(saying(http(b"<html>", status=status))) as running:
        with pytest.raises(NotNow):
            ask(running, Repeat.IF_REFUSED)
        assert running.connections == 1


def test_what_the_server_asks_to_wait_is_waited() -> None:
    later = http(b'{"code": "rate_limited"}', status="429 Slow", headers="Retry-After: 1\r\n")
    with peer(saying(later), answering()) as running:
        started = time.monotonic()
        assert ask(running, Repeat.IF_REFUSED) == 200
        assert time.monotonic() - started >= 1


def test_what_takes_too_long_to_wait_is_raised_with_how_long() -> None:
    later = http(b'{"code": "rate_limited"}', status="429 Slow", headers="Retry-After: 60\r\n")
    with peer(saying(later)) as running:
        with pytest.raises(NotNow) as caught:
            ask(running, Repeat.IF_LOST)
        assert caught.value.retry_after_s == 60
        assert running.connections == 1


def test_the_time_limit_holds_for_all_tries_together() -> None:
    with peer(silent) as running:
        watch = Stopwatch()
        with pytest.raises(TimedOut):
            ask(running, Repeat.IF_LOST, timeout_s=0.6)
        assert watch.elapsed_s < 1.5


def test_no_wait_goes_past_the_time_limit() -> None:
    later = http(b"{}", status="503 Busy", headers="Retry-After: 5\r\n")
    with peer(saying(later)) as running:
        watch = Stopwatch()
        with pytest.raises(NotNow):
            ask(running, Repeat.IF_LOST, timeout_s=1)
        assert watch.elapsed_s < 4


@pytest.mark.parametrize(
    ("status", "kind"), [(400, BadRequest), (401, BadCredentials), (403, NotAllowed), (404, BadRequest)]
)
def test_a_refusal_is_never_repeated_and_says_what_the_server_said(status: int, kind: type[OnlookerError]) -> None:
    problem = b'{"code": "some_code", "detail": "Do this instead."}'
    with peer(answering(http(problem, status=f"{status} No"))) as running:
        with pytest.raises(kind, match="Do this instead") as caught:
            ask(running, Repeat.IF_LOST)
        assert (caught.value.status, caught.value.code) == (status, "some_code")  # type: ignore[attr-defined]
        assert len(running.requests) == 1


def test_a_redirection_is_not_followed() -> None:
    elsewhere = http(b"", status="302 Found", headers="Location: https://elsewhere.example/login?secret=1\r\n")
    with peer(saying(elsewhere)) as running, pytest.raises(BadRequest, match=r"https://elsewhere\.example") as caught:
        ask(running, Repeat.IF_LOST)
    assert caught.value.code == "redirected"
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("body", [b"<html>a captive portal</html>", b"[1, 2]", b"\xff\xfe", b"[" * 100_000])
def test_an_answer_that_is_no_object_is_said(body: bytes) -> None:
    with peer(answering(http(body))) as running:
        transport = Transport(running.url)
        with pytest.raises(LinkError, match="not JSON"):
            transport.request_json("GET", "/x", repeat=Repeat.NEVER)
        transport.close()


def test_twenty_requests_use_one_connection() -> None:
    with peer(answering()) as running:
        transport = Transport(running.url)
        for _ in range(20):
            transport.request("GET", "/x", repeat=Repeat.NEVER)
        transport.close()
        assert (running.connections, len(running.requests)) == (1, 20)


def test_threads_share_a_transport_and_few_connections_are_kept() -> None:
    answers: list[int] = []
    with peer(answering()) as running:
        transport = Transport(running.url)

        def work() -> None:
            for _ in range(10):
                answers.append(transport.request("GET", "/x", repeat=Repeat.NEVER).status)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == [200] * 80
        assert len(transport._idle) <= module.IDLE_CONNECTIONS
        transport.close()


def test_a_closed_client_says_so() -> None:
    with peer(answering()) as running:
        transport = Transport(running.url)
        transport.close()
        with pytest.raises(OnlookerError, match="closed"):
            transport.request("GET", "/x", repeat=Repeat.NEVER)


def test_pauses_grow_and_differ() -> None:
    assert len({pause_s(3) for _ in range(20)}) > 10
    assert max(pause_s(1000) for _ in range(50)) <= module.LONGEST_PAUSE_S


def test_urls_of_another_server_are_not_followed() -> None:
    with peer(answering()) as running:
        transport = Transport(running.url)
        assert transport.path_of("/blobs/1") == "/blobs/1"
        assert transport.path_of(f"{running.url}/blobs/1?x=y") == "/blobs/1?x=y"
        with pytest.raises(ConfigError, match="ONLOOKER_PUBLIC_URL"):
            transport.path_of("https://elsewhere.example/blobs/1")
        assert transport.path_of("https://elsewhere.example/blobs/1", otherwise="/mine") == "/mine"
        for evil in ("/a b", "/a\r\nX: y", f"{running.url}/ä"):
            with pytest.raises(LinkError):
                transport.path_of(evil)
        transport.close()


def test_no_secret_is_in_what_is_shown() -> None:
    with peer(hanging_up) as running:
        transport = Transport(running.url, authorization="Basic c2VjcmV0")
        with pytest.raises(LinkError) as caught:
            transport.request("GET", "/x", repeat=Repeat.NEVER)
        transport.close()
    assert "c2VjcmV0" not in f"{transport!r} {caught.value!r} {caught.value.__context__!r}"


def proxying(taken: socket.socket, running: Peer) -> None:
    running.requests.append(read_request(taken))
    taken.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
    answering()(taken, running)


def test_a_proxy_of_the_environment_is_used_with_its_login(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain HTTP through the tunnel, as no certificate can be had for a name that does not exist."""
    with peer(proxying) as running:
        monkeypatch.setenv("http_proxy", f"http://me:p%40ss@127.0.0.1:{running.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.setattr(module.Address, "is_loopback", property(lambda address: address.host == "localhost"))
        monkeypatch.setattr(module.Address, "of_server", staticmethod(module.Address.of))
        transport = Transport("http://vision.example.org:8080")
        assert transport.request("GET", "/x", repeat=Repeat.NEVER).status == 200
        transport.close()
    connect, request = running.requests
    assert connect.startswith(b"CONNECT vision.example.org:8080 HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic bWU6cEBzcw==" in connect
    assert b"Host: vision.example.org:8080" in request
    assert b"Proxy-Authorization" not in request


def test_a_proxy_that_refuses_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with peer(saying(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")) as running:
        monkeypatch.setenv("https_proxy", f"http://me:hunter2@127.0.0.1:{running.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        transport = Transport("https://vision.example.org")
        with pytest.raises(LinkError, match=r"the proxy .* answered 407") as caught:
            transport.request("GET", "/x", repeat=Repeat.NEVER)
        assert "hunter2" not in str(caught.value)


def test_this_machine_is_asked_without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with peer(answering()) as running:
        assert ask(running, Repeat.NEVER) == 200


def test_a_proxy_of_another_kind_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "socks5://me:hunter2@127.0.0.1:1080")
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(ConfigError, match="http://") as caught:
        Transport("https://vision.example.org")
    assert "hunter2" not in str(caught.value)
