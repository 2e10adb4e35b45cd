"""A receiver that fails, hangs, drips, redirects, lies or floods costs some seconds, and is called by its name."""

import asyncio
import ipaddress
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from onlooker.webhooks.addresses import Address
from onlooker.webhooks.pinned_post import Outbound, PostFailed, Trouble, make_resolver, post
from testkit.webhook_receiver import (
    Behaviour,
    Receiver,
    answer,
    close,
    drip,
    flood,
    flood_headers,
    hang,
    running_receiver,
    say,
)

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))
LIMIT_S = 1.5
BODY = b'{"type":"test"}'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("receiver")


@pytest.fixture
def receiver(folder: Path) -> Iterator[Receiver]:
    with running_receiver(folder) as one:
        yield one


def outbound_to(receiver: Receiver, **values: object) -> Outbound:
    context = ssl.create_default_context(cafile=str(receiver.authority))
    given = {"resolve": make_resolver(), "networks": LOOPBACK, "limit_s": LIMIT_S} | values
    return Outbound(context, **given)  # type: ignore[arg-type]


def send(outbound: Outbound, url: str) -> int:
    return asyncio.run(post(outbound, url, {"webhook-id": "msg_1"}, BODY))


def trouble_of(outbound: Outbound, url: str) -> PostFailed:
    started = time.monotonic()
    with pytest.raises(PostFailed) as failed:
        send(outbound, url)
    assert time.monotonic() - started < LIMIT_S + 2
    return failed.value


def test_a_request_is_a_plain_post(receiver: Receiver) -> None:
    assert send(outbound_to(receiver), receiver.url) == 204
    (request,) = receiver.received
    assert request.head.splitlines()[0] == "POST /hooks?from=onlooker HTTP/1.1"
    assert request.header("host") == f"localhost:{receiver.port}"
    assert request.header("webhook-id") == "msg_1"
    assert request.body == BODY


@pytest.mark.parametrize(
    ("behaviour", "status"),
    [
        (answer(200, body=b"fine"), 200),
        (say(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 202 Accepted\r\n\r\n"), 202),
        (say(b"HTTP/1.0 200 OK\r\nContent-Length: 999999999999\r\n\r\nshort"), 200),
        (say(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), 200),
        (flood, 200),
    ],
)
def test_an_answer_counts_by_its_status_whatever_follows(receiver: Receiver, behaviour: Behaviour, status: int) -> None:
    receiver.behaviour = behaviour
    started = time.monotonic()
    assert send(outbound_to(receiver), receiver.url) == status
    assert time.monotonic() - started < LIMIT_S


@pytest.mark.parametrize(
    ("behaviour", "trouble", "status"),
    [
        (answer(500), Trouble.STATUS, 500),
        (answer(404), Trouble.STATUS, 404),
        (answer(410), Trouble.GONE, 410),
        (answer(302, "Location: https://127.0.0.1:1/inside\r\n"), Trouble.REDIRECT, 302),
        (answer(308, "Location: http://169.254.169.254/\r\n"), Trouble.REDIRECT, 308),
        (hang, Trouble.TIME_LIMIT, None),
        (drip, Trouble.TIME_LIMIT, None),
        (close, Trouble.CLOSED, None),
        (flood_headers, Trouble.NOT_HTTP, None),
        (say(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"), Trouble.NOT_HTTP, None),
        (say(b"HTTP/1.1 2000 OK\r\n\r\n"), Trouble.NOT_HTTP, None),
        (say(b"HTTP/1.1 200 O"), Trouble.NOT_HTTP, None),
        (say(b"HTTP/1.1 100 Continue\r\n\r\n" * 20), Trouble.NOT_HTTP, None),
    ],
)
def test_a_receiver_that_does_not_accept(
    receiver: Receiver, behaviour: Behaviour, trouble: Trouble, status: int | None
) -> None:
    receiver.behaviour = behaviour
    failed = trouble_of(outbound_to(receiver), receiver.url)
    assert (failed.trouble, failed.status) == (trouble, status)
    assert receiver.connections == 1, "no redirect is followed, nothing is asked twice"


def test_a_receiver_may_ask_for_a_pause_of_an_hour_at_most(receiver: Receiver) -> None:
    for asked, pause_s in (("30", 30.0), ("999999", 3600.0), ("tomorrow", 0.0)):
        receiver.behaviour = answer(429, f"Retry-After: {asked}\r\n")
        assert trouble_of(outbound_to(receiver), receiver.url).pause_s == pause_s


def test_a_certificate_for_another_name_or_from_another_authority_is_refused(
    receiver: Receiver, tmp_path: Path
) -> None:
    with running_receiver(tmp_path, names=("elsewhere.example",)) as other:
        assert trouble_of(outbound_to(other), other.url).trouble == Trouble.TLS
        stranger = Outbound(ssl.create_default_context(), make_resolver(), LOOPBACK, LIMIT_S)
        assert trouble_of(stranger, receiver.url).trouble == Trouble.TLS
        assert not other.received
    assert not receiver.received


def test_loopback_is_not_connected_to_unless_the_operator_allows_it(receiver: Receiver) -> None:
    closed = outbound_to(receiver, networks=())
    port = receiver.port
    for host in ("localhost", "127.0.0.1", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "0", "[::1]"):
        assert trouble_of(closed, f"https://{host}:{port}/").trouble == Trouble.INSIDE, host
    assert receiver.connections == 0


def test_one_address_inside_spoils_all_addresses_of_a_name(receiver: Receiver) -> None:
    async def resolve(_host: str, _port: int) -> list[Address]:
        return [ipaddress.ip_address("93.184.216.34"), ipaddress.ip_address("127.0.0.1")]

    closed = outbound_to(receiver, networks=(), resolve=resolve)
    assert trouble_of(closed, f"https://rebound.example:{receiver.port}/").trouble == Trouble.INSIDE
    assert receiver.connections == 0


def test_a_name_is_asked_for_once_and_the_connection_goes_to_that_answer(tmp_path: Path) -> None:
    """A name that leads elsewhere with its second answer gains nothing."""
    asked: list[str] = []

    async def resolve(host: str, _port: int) -> list[Address]:
        asked.append(host)
        return [ipaddress.ip_address("127.0.0.1" if len(asked) == 1 else "127.0.0.9")]

    with running_receiver(tmp_path, names=("rebound.example",)) as receiver:
        outbound = outbound_to(receiver, resolve=resolve)
        assert send(outbound, f"https://rebound.example:{receiver.port}/") == 204
        assert receiver.received[0].header("host") == f"rebound.example:{receiver.port}"
    assert asked == ["rebound.example"]


def test_a_name_that_is_not_there_or_takes_too_long(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onlooker.webhooks.pinned_post.RESOLVE_LIMIT_S", 0.2)

    async def never(_host: str, _port: int) -> list[Address]:
        await asyncio.sleep(60)
        return []

    async def nothing(_host: str, _port: int) -> list[Address]:
        return []

    for resolve in (never, nothing, make_resolver()):
        outbound = outbound_to(receiver, resolve=resolve)
        assert trouble_of(outbound, "https://nowhere.invalid/").trouble == Trouble.UNRESOLVED


def test_a_port_where_nobody_listens_and_a_url_that_is_none(receiver: Receiver) -> None:
    assert trouble_of(outbound_to(receiver), "https://127.0.0.1:1/").trouble == Trouble.UNREACHABLE
    assert trouble_of(outbound_to(receiver), "http://127.0.0.1/").trouble == Trouble.BAD_URL
