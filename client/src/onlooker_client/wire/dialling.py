"""Making a connection: names, addresses, proxies, TLS; all of it within a time limit."""

from __future__ import annotations

import base64
import http.client
import socket
import ssl
import time
import urllib.request
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from onlooker_client.errors import ConfigError
from onlooker_client.wire.address import Address, shown
from onlooker_client.wire.faults import dial_fault

LONGEST_S = 10.0
"""Who takes longer to accept a connection is not there."""


@dataclass(frozen=True)
class Proxy:
    """A proxy that tunnels (CONNECT)."""

    address: Address
    authorization: str | None = field(default=None, repr=False)


def find_proxy(address: Address) -> Proxy | None:
    """The proxy that the system's environment names for this address."""
    url = urllib.request.getproxies().get(address.scheme)
    if not url or address.is_loopback or urllib.request.proxy_bypass(f"{address.bracketed}:{address.port}"):
        return None
    url = url if "://" in url else f"http://{url}"
    parts = urlsplit(url)
    if parts.scheme != "http":
        raise ConfigError(
            f"The proxy {shown(url)} can't be used: only http:// proxies can. Set {address.scheme}_proxy."
        )
    login = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return Proxy(Address.of(url), _basic(login) if parts.username else None)


def dial(address: Address, trust: ssl.SSLContext, *, proxy: Proxy | None, timeout_s: float) -> socket.socket:
    """A connection to the server, encrypted where its address says so."""
    deadline = time.monotonic() + min(timeout_s, LONGEST_S)
    try:
        opened = _connect(proxy.address if proxy else address, deadline)
        try:
            if proxy is not None:
                _tunnel(opened, address, proxy)
            return _encrypted(opened, address, trust) if address.scheme == "https" else opened
        except BaseException:
            opened.close()
            raise
    except (OSError, http.client.HTTPException) as error:
        raise dial_fault(address, error) from None


def _connect(address: Address, deadline: float) -> socket.socket:
    """To the first of the host's addresses that answers; each has its share of the time."""
    found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    failure: OSError = socket.gaierror()
    for tried, (family, kind, protocol, _, where) in enumerate(found):
        opened = socket.socket(family, kind, protocol)
        try:
            opened.settimeout(max(deadline - time.monotonic(), 0.1) / (len(found) - tried))
            opened.connect(where)
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        except OSError as error:
            opened.close()
            failure = error
        else:
            opened.settimeout(max(deadline - time.monotonic(), 0.1))
            return opened
    raise failure


def _tunnel(opened: socket.socket, address: Address, proxy: Proxy) -> None:
    target = f"{address.bracketed}:{address.port}"
    login = f"Proxy-Authorization: {proxy.authorization}\r\n" if proxy.authorization else ""
    opened.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{login}\r\n".encode("ascii"))
    answer = http.client.HTTPResponse(opened, method="CONNECT")
    try:
        answer.begin()
        if answer.status != 200:
            raise ConnectionError(f"the proxy {proxy.address} answered {answer.status} {answer.reason}")
    finally:
        answer.close()


def _encrypted(opened: socket.socket, address: Address, trust: ssl.SSLContext) -> socket.socket:
    return trust.wrap_socket(opened, server_hostname=address.host)


def _basic(login: str) -> str:
    return "Basic " + base64.b64encode(login.encode()).decode("ascii")
