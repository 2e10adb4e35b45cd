"""The local feed over real sockets: messages, their rate, slow readers, bounds, an end."""

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from feed_reader import AT_CAMERA, AWAY, FeedConversation, ask, computed, open_socket

from onlooker_client.device.feed import LocalFeed
from onlooker_client.device.feed_updates import FeedLimits
from onlooker_client.errors import ConfigError


@pytest.fixture
def feed() -> Iterator[LocalFeed]:
    opened = LocalFeed(0)
    yield opened
    opened.close()


def await_update(feed: LocalFeed, number: int) -> None:
    deadline_s = time.monotonic() + 5
    while feed.status()["updates"] < number:
        assert time.monotonic() < deadline_s
        time.sleep(0.005)


def test_before_the_first_frame_nobody_watches(feed: LocalFeed) -> None:
    assert ask(feed).said == {"update": 1, "at_ms": None, "watching": False, "people": []}


def test_all_three_ways_say_the_same(feed: LocalFeed) -> None:
    with FeedConversation(feed, "/events") as events, open_socket(feed) as opened:
        assert (events.event()["update"], opened.message()["update"]) == (1, 1)
        feed.publish(computed(5, one=AT_CAMERA, two=AWAY))
        said = events.event()
        assert said == opened.message() == ask(feed).said
        assert [person["looking"] for person in said["people"]] == [True, False]
        assert events.headers["content-type"] == "text/event-stream"


def test_readers_get_at_most_15_updates_a_second_and_the_last_one(feed: LocalFeed) -> None:
    arrived: dict[str, list[int]] = {"/events": [], "/socket": []}

    def follow(path: str, opened: FeedConversation) -> None:
        read = opened.event if path == "/events" else opened.message
        while -1 not in arrived[path]:
            arrived[path].append(read()["at_ms"])

    with open_socket(feed, "/events") as events, open_socket(feed, "/socket") as messages:
        assert events.event()["at_ms"] is messages.message()["at_ms"] is None
        threads = [threading.Thread(target=follow, args=one) for one in (("/events", events), ("/socket", messages))]
        for thread in threads:
            thread.start()
        before, began_s = feed.status()["updates"], time.monotonic()
        for number in range(100):
            feed.publish(computed(number, one=AT_CAMERA))
            time.sleep(0.01)
        feed.publish(computed(-1, one=AT_CAMERA))
        for thread in threads:
            thread.join(5)
        status, took_s = feed.status(), time.monotonic() - began_s
    assert 1 < status["updates"] - before <= 15 * took_s + 1
    assert sum(map(len, arrived.values())) + 2 * status["merged"] + status["skipped"] == 2 * 101
    for numbers in arrived.values():
        assert numbers == [*sorted(numbers[:-1]), -1]


def test_a_slow_reader_of_a_web_socket_misses_updates_and_then_gets_the_newest(feed: LocalFeed) -> None:
    with open_socket(feed) as slow, open_socket(feed) as quick:
        slow.message()
        quick.message()
        feed.publish(computed(0, one=AT_CAMERA))
        slow.message(answer=False)
        quick.message()
        for number in range(1, 11):
            feed.publish(computed(number, one=AT_CAMERA))
            assert quick.message()["at_ms"] == number
        slow.send(0xA, b"2")
        assert slow.message()["at_ms"] == 10
    assert feed.status()["skipped"] == 9


def test_a_reader_of_events_that_takes_nothing_is_dropped_and_delays_nobody() -> None:
    feed = LocalFeed(0, limits=FeedLimits(updates_per_second=2000, stall_s=0.5))
    people = {f"p{number}": AT_CAMERA for number in range(60)}
    with FeedConversation(feed, "/events", small=True), FeedConversation(feed, "/events") as quick:
        for number in range(10_000):
            feed.publish(computed(number, **people))
            while quick.event()["at_ms"] != number:
                pass
            if feed.status()["stalled"]:
                break
            time.sleep(0.001)
        assert feed.status()["stalled"] == 1
        assert feed.status()["skipped"] > 0
        time.sleep(0.1)
        assert feed.status()["readers"] == 1
    feed.close()


def test_a_web_socket_that_never_answers_is_dropped() -> None:
    feed = LocalFeed(0, limits=FeedLimits(stall_s=0.3))
    with open_socket(feed) as dead:
        dead.message(answer=False)
        assert dead.rest() == b""
    assert feed.status()["stalled"] == 1
    feed.close()


def test_the_newest_message_is_repeated_and_forgotten_after_a_while() -> None:
    feed = LocalFeed(0, limits=FeedLimits(heartbeat_s=0.2, stale_s=0.7))
    with FeedConversation(feed, "/events") as events:
        events.event()
        feed.publish(computed(7, one=AT_CAMERA))
        said = [events.event() for _ in range(6)]
    assert [one["at_ms"] for one in said] == [7, 7, 7, 7, None, None]
    assert said[-1]["people"] == []
    assert [one["update"] - said[0]["update"] for one in said] == [0, 1, 2, 3, 4, 5]
    feed.close()


def test_a_result_that_nobody_understands_is_counted_and_changes_nothing(feed: LocalFeed) -> None:
    feed.publish(computed(1, one=AT_CAMERA))
    await_update(feed, 2)
    nonsense = [{"face_roi": "x"}, {}, {**AT_CAMERA, "head": [float("nan")]}]
    for member in nonsense:
        feed.publish(computed(2, one=member))
    assert feed.status()["unreadable"] == len(nonsense)
    assert ask(feed).said["at_ms"] == 1


def test_readers_are_bounded() -> None:
    feed = LocalFeed(0, limits=FeedLimits(readers=2))
    with FeedConversation(feed, "/events") as first, open_socket(feed) as second:
        first.event()
        second.message()
        assert ask(feed, "/events").status == 503
        assert ask(feed).status == 200
    feed.close()


def test_connections_that_say_nothing_are_bounded_and_dropped() -> None:
    feed = LocalFeed(0, limits=FeedLimits(connections=4, head_s=0.5))
    with ExitStack() as opened:
        for _ in range(4):
            silent = opened.enter_context(socket.create_connection(("127.0.0.1", feed.port)))
            silent.sendall(b"GET /now")
        time.sleep(0.1)
        with pytest.raises(ConnectionResetError):
            ask(feed)
        time.sleep(0.6)
        assert ask(feed).status == 200
    assert feed.status()["refused"] == {"busy": 1, "malformed": 4}
    feed.close()


@pytest.mark.parametrize(
    "request_text",
    [
        "GET /now HTTP/1.0\r\n\r\n",
        "GET now HTTP/1.1\r\n\r\n",
        "get /now HTTP/1.1\r\n\r\n",
        "GET http://127.0.0.1/now HTTP/1.1\r\n\r\n",
        "GET /now HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n",
        "GET /now HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nHost: 127.0.0.1:{port}\r\n\r\n",
        "GET /now HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 5\r\n\r\nhello",
        "GET /now HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET /now HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n folded\r\n\r\n",
        "GET /now HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nA: \x00\r\n\r\n",
        "GET /now?a=1&a=1&a=1&a=1&a=1&a=1&a=1&a=1&a=1 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n",
    ],
)
def test_a_malformed_request_is_refused(feed: LocalFeed, request_text: str) -> None:
    with socket.create_connection(("127.0.0.1", feed.port), timeout=5) as opened:
        opened.sendall(request_text.format(port=feed.port).encode("latin-1"))
        assert opened.recv(100).startswith(b"HTTP/1.1 400 ")


def test_a_request_without_an_end_is_refused(feed: LocalFeed) -> None:
    with socket.create_connection(("127.0.0.1", feed.port), timeout=5) as opened:
        opened.sendall(b"GET /now HTTP/1.1\r\nA: " + b"a" * 8192)
        assert opened.recv(100).startswith(b"HTTP/1.1 431 ")


def test_a_handshake_that_is_none_is_told_so(feed: LocalFeed) -> None:
    answer = ask(feed, "/socket")
    assert (answer.status, answer.headers["sec-websocket-version"]) == (426, "13")
    assert ask(feed, "/socket", Upgrade="websocket", Connection="Upgrade", Sec_WebSocket_Version="13").status == 426


@pytest.mark.parametrize(
    ("kind", "payload", "mask", "code"),
    [
        (0x1, b"hello", b"abcd", 1008),
        (0x2, b"hello", b"abcd", 1008),
        (0x9, b"hello", b"", 1002),
        (0xB, b"", b"abcd", 1002),
        (0x19, b"", b"abcd", 1002),
    ],
)
def test_the_feed_takes_no_messages(feed: LocalFeed, kind: int, payload: bytes, mask: bytes, code: int) -> None:
    with open_socket(feed) as opened:
        opened.message()
        opened.send(kind, payload, mask=mask)
        assert opened.await_frame(0x8) == code.to_bytes(2, "big")
        assert opened.rest() == b""


def test_a_ping_is_answered_and_a_close_too(feed: LocalFeed) -> None:
    with open_socket(feed) as opened:
        opened.message()
        opened.send(0x9, b"are you there")
        assert opened.await_frame(0xA) == b"are you there"
        opened.send(0x8, (1000).to_bytes(2, "big"))
        assert opened.await_frame(0x8) == (1000).to_bytes(2, "big")


def test_closing_tells_readers_and_is_over_soon(feed: LocalFeed) -> None:
    with FeedConversation(feed, "/events") as events, open_socket(feed) as opened:
        events.event()
        opened.message()
        began_s = time.monotonic()
        feed.close()
        assert time.monotonic() - began_s < 2
        assert opened.await_frame(0x8) == (1001).to_bytes(2, "big")
        assert events.rest().strip() == b""
    feed.publish(computed(1, one=AT_CAMERA))
    with pytest.raises(ConnectionRefusedError):
        ask(feed)


def test_a_port_that_is_taken_is_named(feed: LocalFeed) -> None:
    with pytest.raises(ConfigError, match=f"127.0.0.1:{feed.port}.*--feed-port"):
        LocalFeed(feed.port)


OFFLINE = """
import subprocess, sys, urllib.request, json
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
from onlooker_client.device.feed import LocalFeed
from feed_reader import computed, AT_CAMERA
feed = LocalFeed(0)
feed.publish(computed(1, one=AT_CAMERA))
with urllib.request.urlopen(f"http://127.0.0.1:{feed.port}/now", timeout=5) as answer:
    print(json.load(answer)["people"][0]["looking"])
feed.close()
"""


@pytest.mark.skipif(not shutil.which("unshare") or not shutil.which("ip"), reason="needs unshare and ip")
def test_it_works_without_any_network() -> None:
    inside = ["unshare", "--user", "--map-root-user", "--net"]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no namespaces here")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [*inside, sys.executable, "-c", OFFLINE],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout.strip(), done.returncode) == ("True", 0), done.stderr
