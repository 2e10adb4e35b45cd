"""Where the gateway listens, whom it believes, and that its answers do not depend on who forwards them."""

import socket

import httpx2
import psutil
import pytest

from onlooker.settings import SettingsError, read_settings
from testkit import Stack, TestStream
from wire import assert_problem

pytest_plugins = ["stacks"]
LOOPBACK = {"127.0.0.1", "::1"}


def listening(pid: int) -> dict[int, set[str]]:
    """Addresses by port that a process listens on."""
    found: dict[int, set[str]] = {}
    for connection in psutil.Process(pid).net_connections("inet"):
        if connection.status == psutil.CONN_LISTEN:
            found.setdefault(connection.laddr.port, set()).add(connection.laddr.ip)
    return found


def test_plain_http_listens_on_loopback_only(stack: Stack) -> None:
    """All requests use HTTPS: plain HTTP is for a proxy on the same machine."""
    addresses = listening(stack.children()["gateway"])
    assert addresses[int(stack.setting("http_port"))] == {"127.0.0.1"}
    own = [address.address for family in psutil.net_if_addrs().values() for address in family]
    for address in [ip for ip in own if ip.count(".") == 3 and ip not in LOOPBACK]:
        with pytest.raises(OSError):
            socket.create_connection((address, int(stack.setting("http_port"))), timeout=2)


def test_plain_http_stays_on_loopback_where_https_is_on_all_addresses(brief_stack: Stack) -> None:
    """All requests use HTTPS: the setting that opens HTTPS to everybody does not move plain HTTP off loopback."""
    addresses = listening(brief_stack.children()["gateway"])
    assert brief_stack.setting("https_host") == "0.0.0.0"
    assert addresses[int(brief_stack.setting("https_port"))] == {"0.0.0.0"}
    assert addresses[int(brief_stack.setting("http_port"))] == {"127.0.0.1"}


def test_bus_and_monitoring_listen_on_loopback_only(stack: Stack) -> None:
    """Nothing but HTTPS is for anybody else."""
    for name, pid in stack.children().items():
        for port, addresses in listening(pid).items():
            assert addresses <= LOOPBACK, (name, port)


def test_https_and_plain_http_answer_alike(stack: Stack, stream: TestStream, client: httpx2.Client) -> None:
    """Absolute URLs come from the public address, also over plain HTTP behind a proxy."""
    with httpx2.Client(base_url=stack.plain_url, auth=stream.auth) as plain:
        assert plain.get("/services/dummy/1").json() == client.get("/services/dummy/1").json()
        made = plain.post("/services/dummy/1/jobs", json={"async": False})
        assert made.json()["url"].startswith(f"{stack.url}/")
        assert client.get(made.json()["url"]).json() == made.json()
        assert_problem(plain.get("/services", auth=("x", "y")), 401, "bad_credentials")


@pytest.mark.parametrize("name", ["X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Prefix"])
def test_forwarded_headers_of_anybody_change_nothing(client: httpx2.Client, name: str) -> None:
    """Forwarded headers are believed only from trusted proxies; by default there are none."""
    value = {"X-Forwarded-Proto": "http", "X-Forwarded-For": "203.0.113.9"}.get(name, "evil.example")
    forwarded = client.get("/services/dummy/1", headers={name: value})
    assert forwarded.json() == client.get("/services/dummy/1").json()


@pytest.mark.parametrize("url", ["localhost", "ftp://localhost", "https://localhost/path", "https://localhost/", ""])
def test_the_public_url_is_scheme_and_host_and_no_path(url: str) -> None:
    """Absolute URLs are built from a configured public base URL (scheme and host, no path)."""
    with pytest.raises(SettingsError, match="ONLOOKER_PUBLIC_URL"):
        read_settings({"ONLOOKER_PUBLIC_URL": url})


def test_an_answer_does_not_name_its_server(client: httpx2.Client) -> None:
    """No hint of what software answers."""
    assert "server" not in client.get("/services").headers
