"""One POST to a receiver: its name is resolved once, the connection goes to that address, time and size are bounded.

Only the head of the answer is read: what comes after it, or how long it claims to be, changes nothing.
"""

import asyncio
import ipaddress
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum

from onlooker.sentences import gettext_noop
from onlooker.settings import Settings, SettingsError, variable_name
from onlooker.webhooks.addresses import (
    Address,
    BadUrlError,
    Network,
    is_allowed,
    parse_networks,
    read_literal,
    split_url,
)

RESOLVE_LIMIT_S, CONNECT_LIMIT_S, TOTAL_LIMIT_S = 5.0, 5.0, 15.0
LARGEST_HEAD = 16 * 1024
ADDRESSES_TRIED = 3
RESOLVERS = 16
"""Threads that may wait for a name server."""
INFORMATIONAL_AT_MOST = 5
LONGEST_PAUSE_S = 3600.0
"""As much of Retry-After is respected."""
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5]\d\d)(?: [^\r\n]*)?\r\n")
_RETRY_AFTER = re.compile(rb"\r\nretry-after:[ \t]*(\d{1,9})[ \t]*\r\n", re.IGNORECASE)

Resolve = Callable[[str, int], Awaitable[list[Address]]]


class Trouble(StrEnum):
    """Why a try failed."""

    BAD_URL = "bad_url"
    UNRESOLVED = "unresolved"
    INSIDE = "inside"
    UNREACHABLE = "unreachable"
    TLS = "tls"
    TIME_LIMIT = "time_limit"
    CLOSED = "closed"
    NOT_HTTP = "not_http"
    REDIRECT = "redirect"
    GONE = "gone"
    STATUS = "status"
    SECRET = "secret"  # noqa: S105


EXPLAINED = {
    Trouble.BAD_URL: gettext_noop("The URL can't be used. Change it."),
    Trouble.UNRESOLVED: gettext_noop("The host name can't be resolved. Check the URL and your DNS."),
    Trouble.INSIDE: gettext_noop(
        "The host name leads to a private address. Use one that is reachable from the internet."
    ),
    Trouble.UNREACHABLE: gettext_noop(
        "No connection could be made. Check that the receiver runs and its firewall lets us in."
    ),
    Trouble.TLS: gettext_noop(
        "The receiver's certificate is not valid for its name. Renew or replace the certificate."
    ),
    Trouble.TIME_LIMIT: gettext_noop("The receiver did not answer within 15 seconds. Answer first, then do the work."),
    Trouble.CLOSED: gettext_noop("The receiver closed the connection without an answer. See its log."),
    Trouble.NOT_HTTP: gettext_noop("The receiver's answer is not HTTP/1.1, or its headers are too large."),
    Trouble.REDIRECT: gettext_noop(
        "The receiver redirects elsewhere. Use the address that it redirects to as the URL."
    ),
    Trouble.GONE: gettext_noop("The receiver answered 410 Gone: it wants no more events."),
    Trouble.STATUS: gettext_noop("The receiver answered with an error. Answer with a status from 200 to 299."),
    Trouble.SECRET: gettext_noop(
        "The signing secret can't be opened: the server's secret key has changed. Replace the secret."
    ),
}


class PostFailed(Exception):
    """The receiver did not accept it."""

    def __init__(self, trouble: Trouble, status: int | None = None, pause_s: float = 0.0) -> None:
        super().__init__(trouble)
        self.trouble, self.status, self.pause_s = trouble, status, pause_s


@dataclass(frozen=True)
class Outbound:
    """How receivers are reached: allowed networks inside, whose certificates are trusted, how names are resolved."""

    context: ssl.SSLContext
    resolve: Resolve
    networks: tuple[Network, ...] = ()
    limit_s: float = TOTAL_LIMIT_S


def open_outbound(settings: Settings) -> Outbound:
    """Raises SettingsError."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    if settings.webhooks_authority_file:
        try:
            context.load_verify_locations(settings.webhooks_authority_file)
        except OSError as error:
            raise SettingsError(
                f"{variable_name('webhooks_authority_file')} names a file that can't be used: {error}"
            ) from None
    return Outbound(context, make_resolver(), parse_networks(settings))


def make_resolver() -> Resolve:
    """Names are asked for on threads of its own: a name server that hangs holds up nothing else."""
    threads = ThreadPoolExecutor(RESOLVERS, thread_name_prefix="webhook-names")

    async def resolve(host: str, port: int) -> list[Address]:
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(
            threads, lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        )
        return [ipaddress.ip_address(str(place[0]).partition("%")[0]) for *_, place in found]

    return resolve


async def post(outbound: Outbound, url: str, headers: Mapping[str, str], body: bytes) -> int:
    """The status, 200 to 299; raises PostFailed for all else."""
    try:
        async with asyncio.timeout(outbound.limit_s):
            return await _post(outbound, url, headers, body)
    except TimeoutError:
        raise PostFailed(Trouble.TIME_LIMIT) from None


async def _post(outbound: Outbound, url: str, headers: Mapping[str, str], body: bytes) -> int:
    try:
        parts = split_url(url)
        host = parts.hostname or ""
        if read_literal(host) is None:
            host = host.encode("idna").decode()
    except (BadUrlError, UnicodeError):
        raise PostFailed(Trouble.BAD_URL) from None
    port = parts.port or 443
    addresses = await _find(outbound, host, port)
    reader, writer = await _connect(outbound, addresses, host, port)
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        place = parts.netloc.rpartition("@")[2]
        lines = [f"POST {target} HTTP/1.1", f"Host: {place}", f"Content-Length: {len(body)}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        return _judge(*await _read_head(reader))
    finally:
        writer.transport.abort()  # whatever else it has to say


async def _find(outbound: Outbound, host: str, port: int) -> list[Address]:
    """All addresses of the name; one that is inside spoils them all."""
    try:
        async with asyncio.timeout(RESOLVE_LIMIT_S):
            found = await outbound.resolve(host, port)
    except (OSError, UnicodeError):  # TimeoutError is one
        raise PostFailed(Trouble.UNRESOLVED) from None
    if not found:
        raise PostFailed(Trouble.UNRESOLVED)
    if not all(is_allowed(one, outbound.networks) for one in found):
        raise PostFailed(Trouble.INSIDE)
    return list(dict.fromkeys(found))[:ADDRESSES_TRIED]


async def _connect(
    outbound: Outbound, addresses: list[Address], host: str, port: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """To one of these addresses: the name is not asked for again."""
    trouble = Trouble.UNREACHABLE
    for address in addresses:
        try:
            async with asyncio.timeout(CONNECT_LIMIT_S):
                return await asyncio.open_connection(
                    str(address), port, ssl=outbound.context, server_hostname=host, limit=LARGEST_HEAD
                )
        except ssl.SSLError:
            trouble = Trouble.TLS
        except OSError:
            continue
    raise PostFailed(trouble)


async def _read_head(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Status and head of the answer, after what is only informational."""
    for _ in range(INFORMATIONAL_AT_MOST):
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            raise PostFailed(Trouble.NOT_HTTP) from None
        except asyncio.IncompleteReadError as error:
            raise PostFailed(Trouble.NOT_HTTP if error.partial else Trouble.CLOSED) from None
        except TimeoutError:
            raise
        except OSError:
            raise PostFailed(Trouble.CLOSED) from None
        found = _STATUS.match(head)
        if not found:
            raise PostFailed(Trouble.NOT_HTTP)
        if not found[1].startswith(b"1"):
            return int(found[1]), head
    raise PostFailed(Trouble.NOT_HTTP)


def _judge(status: int, head: bytes) -> int:
    asked = _RETRY_AFTER.search(head)
    pause_s = min(float(asked[1]), LONGEST_PAUSE_S) if asked else 0.0
    if 200 <= status < 300:
        return status
    if 300 <= status < 400:
        raise PostFailed(Trouble.REDIRECT, status)
    raise PostFailed(Trouble.GONE if status == 410 else Trouble.STATUS, status, pause_s)
