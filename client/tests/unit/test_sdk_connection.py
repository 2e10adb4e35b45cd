"""One connection against a server that misbehaves: every failure ends in time, and says what to do."""

import socket
import threading
import time

import pytest
from faulty_server import (
    Behaviour,
    Peer,
    answering,
    hanging_up,
    http,
    peer,
    read_request,
    saying,
    silent,
    trickling,
)
from testkit.stopwatch import Stopwatch

from onlooker_client.errors import ConfigError, LinkError, NotSent, TimedOut
from onlooker_client.wire import connection as module
from onlooker_client.wire import response_parser
from onlooker_client.wire.connection import Address, Connection
from onlooker_client.wire.transport import build_trust

HEADERS = b"Accept: application/json\r\n"
TRUST = build_trust(None)


def connect(running: Peer) -> Connection:
    return Connection(Address.of(running.url), TRUST)


def ask(connection: Connection, body: bytes = b"", *, timeout_s: float = 5.0) -> module.Answer:
    return connection.exchange("POST", "/x", HEADERS, body, timeout_s=timeout_s)


def complaint(behaviour: Behaviour, *, timeout_s: float = 5.0) -> LinkError:
    with peer(behaviour) as running:
        connection = connect(running)
        with pytest.raises(LinkError) as caught:
            ask(connection, timeout_s=timeout_s)
        connection.close()
    return caught.value


def test_one_connection_serves_many_requests() -> None:
    with peer(answering(http(b"hello"))) as running:
        connection = connect(running)
        assert {ask(connection, b"body").body for _ in range(20)} == {b"hello"}
        connection.close()
        assert running.connections == 1
        assert all(request.endswith(b"\r\n\r\nbody") for request in running.requests)


def test_a_connection_that_the_server_closed_is_opened_anew() -> None:
    with peer(answering(times=1)) as running:
        connection = connect(running)
        for _ in range(3):
            assert ask(connection).status == 200
            time.sleep(0.05)
        connection.close()
        assert running.connections == 3


def test_a_connection_that_was_idle_for_long_is_opened_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IDLE_LIMIT_S", 0.05)
    with peer(answering()) as running:
        connection = connect(running)
        ask(connection)
        ask(connection)
        time.sleep(0.1)
        ask(connection)
        connection.close()
        assert running.connections == 2


def test_an_answer_that_says_close_is_the_last_on_its_connection() -> None:
    with peer(answering(http(b"{}", headers="Connection: close\r\n"))) as running:
        connection = connect(running)
        ask(connection)
        assert connection.is_fresh
        ask(connection)
        assert running.connections == 2
        connection.close()


def test_silence_ends_in_time() -> None:
    watch = Stopwatch()
    error = complaint(silent, timeout_s=0.3)
    assert watch.elapsed_s < 2
    assert isinstance(error, TimedOut)
    assert "did not answer within 0.3 s" in str(error)


def test_an_answer_that_trickles_ends_in_time() -> None:
    watch = Stopwatch()
    assert isinstance(complaint(trickling, timeout_s=0.5), TimedOut)
    assert watch.elapsed_s < 2


def test_a_body_that_nobody_reads_ends_in_time() -> None:
    def deaf(taken: socket.socket, running: Peer) -> None:
        running.ended.wait(10)

    with peer(deaf) as running:
        connection = connect(running)
        watch = Stopwatch()
        with pytest.raises(TimedOut):
            ask(connection, bytes(32 * 1024 * 1024), timeout_s=0.5)
        assert watch.elapsed_s < 2


def test_hanging_up_without_an_answer_may_have_been_too_late() -> None:
    error = complaint(hanging_up)
    assert not isinstance(error, NotSent)
    assert "closed it without an answer" in str(error)


def test_a_break_while_sending_means_that_nothing_was_done() -> None:
    def slam(taken: socket.socket, running: Peer) -> None:
        taken.recv(10)
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")  # reset

    with peer(slam) as running:
        connection = connect(running)
        with pytest.raises(NotSent):
            ask(connection, bytes(32 * 1024 * 1024))


def test_a_refusal_before_the_whole_body_was_read_is_heard() -> None:
    def early(taken: socket.socket, running: Peer) -> None:
        taken.recv(1000)
        taken.sendall(http(b'{"code": "too_large"}', status="413 Too Large", headers="Connection: close\r\n"))
        taken.shutdown(socket.SHUT_WR)
        taken.settimeout(0.5)
        while taken.recv(65536):  # reads on for a while, as good servers do
            pass

    with peer(early) as running:
        connection = connect(running)
        answer = ask(connection, bytes(8 * 1024 * 1024))
        assert (answer.status, answer.body) == (413, b'{"code": "too_large"}')
        connection.close()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "cut off"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhal", "cut off"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhal", ""),
        (b"HTTP/1.1 200 OK\r\nContent-Le", "cut off"),
        (b"HTTP/1.0 200 OK\r\n\r\nthe end, or half of it", "cut off"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "not HTTP"),
        (b"\x15\x03\x03\x00\x02\x02\x28", "Write https://"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 300_000 + b"\r\n\r\n", "not HTTP"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 50_000 + b"\r\n", "not HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "too large"),
    ],
)
def test_a_broken_answer_is_a_broken_connection(answer: bytes, words: str) -> None:
    error = complaint(saying(answer))
    assert type(error) is LinkError
    assert words in str(error)


def test_an_endless_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_parser, "ANSWER_LIMIT_BYTES", 1_000_000)

    def endless(taken: socket.socket, running: Peer) -> None:
        read_request(taken)
        taken.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            taken.sendall(b"10000\r\n" + bytes(0x10000) + b"\r\n")

    assert "too large" in str(complaint(endless))


def test_answers_in_chunks_are_read() -> None:
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    for answer in (chunked, b"HTTP/1.1 100 Continue\r\n\r\n" + chunked):
        with peer(answering(answer)) as running:
            connection = connect(running)
            assert [ask(connection).body for _ in range(2)] == [b"abcde"] * 2
            assert running.connections == 1
            connection.close()


def test_an_answer_without_a_body_is_read() -> None:
    with peer(answering(b"HTTP/1.1 204 No Content\r\n\r\n")) as running:
        connection = connect(running)
        assert [ask(connection).status for _ in range(2)] == [204] * 2
        assert running.connections == 1
        connection.close()


def test_nothing_there_is_said_at_once() -> None:
    with peer(silent) as running:
        address = Address.of(running.url)
    with pytest.raises(NotSent, match="nothing is listening there"):
        ask(Connection(address, TRUST))


def test_an_unknown_name_is_said() -> None:
    with pytest.raises(NotSent, match="name is unknown"):
        ask(Connection(Address.of("http://no-such-host.invalid"), TRUST))


def test_plain_http_behind_an_https_address_is_said() -> None:
    def plain(taken: socket.socket, running: Peer) -> None:
        taken.recv(1000)
        taken.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with peer(plain) as running:
        address = Address("https", "127.0.0.1", running.port)
        with pytest.raises(NotSent, match="does not speak HTTPS"):
            ask(Connection(address, TRUST))


def test_another_thread_can_end_an_exchange() -> None:
    with peer(silent) as running:
        connection = connect(running)
        threading.Timer(0.2, connection.cancel).start()
        watch = Stopwatch()
        with pytest.raises(LinkError):
            ask(connection, timeout_s=15)
        assert watch.elapsed_s < 3
        with pytest.raises(NotSent):
            ask(connection)


def test_ipv6_addresses_work() -> None:
    try:
        with peer(answering(), host="::1") as running:
            address = Address.of(f"http://[::1]:{running.port}")
            connection = Connection(address, TRUST)
            assert ask(connection).status == 200
            connection.close()
            assert f"Host: [::1]:{running.port}".encode() in running.requests[0]
    except OSError:
        pytest.skip("this machine has no IPv6")


def test_a_request_asks_for_no_compression_and_follows_http() -> None:
    with peer(answering()) as running:
        connection = connect(running)
        ask(connection, b"{}")
        connection.close()
        head = running.requests[0].split(b"\r\n\r\n")[0].split(b"\r\n")
        assert head[0] == b"POST /x HTTP/1.1"
        assert b"Content-Length: 2" in head
        assert not any(line.lower().startswith(b"accept-encoding") for line in head)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("vision.example.org", "An address looks like"),
        ("ftp://vision.example.org", "An address looks like"),
        ("https://", "An address looks like"),
        ("https://a b", "An address looks like"),
        ("https://-x.example", "An address looks like"),
        ("https://a%0d%0aX", "An address looks like"),
        ("https://[fe80::1%25eth0]", "An address looks like"),
        ("https://vision..example", "An address looks like"),
        ("https://vision.example.org:99999", "An address looks like"),
        ("https://vision.example.org/services", "Use https://vision.example.org alone"),
        ("http://vision.example.org", "Use https://"),
        ("http://192.168.1.20:8080", "Use https://"),
        ("https://me:hunter2@vision.example.org", "client_id and access_token"),
        ("ftp://me:hunter2@vision.example.org", "An address looks like"),
    ],
)
def test_an_address_that_is_none_says_what_one_looks_like(url: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        Address.of_server(url)
    assert "hunter2" not in str(caught.value)


def test_addresses_of_this_machine_may_do_without_encryption() -> None:
    for url in ("http://localhost:8080", "http://127.0.0.1:8080/", "http://[::1]:8080"):
        assert Address.of_server(url).is_loopback


def test_a_name_with_letters_of_other_alphabets_is_written_as_dns_has_it() -> None:
    assert str(Address.of_server("https://bücher.example/")) == "https://xn--bcher-kva.example"
