"""Opens sockets within a time limit: host names, proxies, TLS, and their errors in plain words."""

from __future__ import annotations

import base64
import http.client
import socket
import ssl
import time
import urllib.request
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from onlooker_client.errors import ConfigError, LinkError, NotSent, NotTrusted
from onlooker_client.wire.address import Address, shown

LONGEST_S = 10.0
"""Who takes longer to accept a connection is not there."""
_NOT_YET_VALID, _EXPIRED, _OTHER_NAME, _OTHER_IP = 9, 10, 62, 64
_TLS_ALERT = "\x15\x03"
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNKNOWN_PROTOCOL", "PACKET_LENGTH_TOO_LONG")
_WORDS: dict[type[Exception], str] = {  # the first that fits
    socket.gaierror: "its name is unknown (DNS)",
    socket.timeout: "it does not answer",
    ConnectionRefusedError: "nothing is listening there",
    http.client.RemoteDisconnected: "the server closed it without an answer",
    http.client.IncompleteRead: "the answer was cut off",
    http.client.HTTPException: "the answer is not HTTP",
}


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


def in_words(error: Exception) -> str:
    """An error of the system as a person says it."""
    for kind, words in _WORDS.items():
        if isinstance(error, kind):
            return words
    if isinstance(error, ssl.SSLError):
        return (error.reason or "the encryption failed").lower().replace("_", " ")
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def link_fault(address: Address, error: Exception) -> LinkError:
    """What a connection that was there broke of."""
    if isinstance(error, http.client.BadStatusLine) and str(error.args[0]).startswith(_TLS_ALERT):
        return LinkError(f"{address} speaks HTTPS there. Write https://{address.authority}")
    hint = ""
    if address.scheme == "http" and isinstance(error, (http.client.RemoteDisconnected, ConnectionResetError)):
        hint = " If it speaks HTTPS there, write https://."
    return LinkError(f"The connection to {address} broke: {in_words(error)}.{hint}")


def dial_fault(address: Address, error: Exception) -> NotSent:
    """Why there is no connection."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return NotTrusted(f"The certificate of {address} is not trusted: {_certificate_fault(address, error)}")
    if isinstance(error, ssl.SSLError) and (error.reason or "").upper() in _NO_TLS:
        return NotSent(f"{address} does not speak HTTPS there. Is the port right?")
    hint = " Check the address and the port." if isinstance(error, ConnectionRefusedError) else ""
    return NotSent(f"{address} can't be reached: {in_words(error)}.{hint}")


def _certificate_fault(address: Address, error: ssl.SSLCertVerificationError) -> str:
    if error.verify_code in (_OTHER_NAME, _OTHER_IP):
        return f"it is issued for another name than {address.host}. Use the address that the server was set up with."
    if error.verify_code == _EXPIRED:
        return "it has expired. Ask the server's administrator to renew it, or set the clock of this device."
    if error.verify_code == _NOT_YET_VALID:
        return "it is not valid yet. Set the clock of this device."
    return (
        f"{error.verify_message}. Give the certificate authority's file (--ca, ONLOOKER_CA_FILE); the console offers "
        "it at /authority.pem."
    )
