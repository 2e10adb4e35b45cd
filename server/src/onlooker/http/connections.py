"""Connections: accepted one by one, within limits in all and for each address, before anything is read or encrypted."""

import asyncio
import errno
import logging
import resource
import socket
import ssl
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

import uvicorn
from prometheus_client import Counter as Metric
from prometheus_client import Gauge

from onlooker.background_tasks import start_background_task
from onlooker.http.limits import BoundedProtocol
from onlooker.logs import fields
from onlooker.monitoring import EmbeddedServer, by_labels

log = logging.getLogger(__name__)

HANDSHAKE_LIMIT_S = 5.0
NO_FILES_PAUSE_S = 0.1
SPARE_FILES = 256
"""For the database, the bus, blobs and logs."""
LOG_EVERY_S = 10.0
NO_MORE_FILES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

open_connections = Gauge("onlooker_connections", "Connections that are open")
refused = by_labels(
    Metric(
        "onlooker_connections_refused",
        "Connections closed at once, by reason (address: it has too many; limit: there are too many; files: "
        "the system allows no more open files; handshake: TLS failed or took too long)",
        ["reason"],
    )
)


@dataclass
class ConnectionLimits:
    """The connections of one process."""

    limit: int
    per_address: int
    proxies: frozenset[str] = frozenset()
    """They bring the connections of others. Plain HTTP is for proxies on this machine only."""
    by_address: Counter[str] = field(default_factory=Counter)
    count: int = 0
    logged_at: float = -LOG_EVERY_S

    def __post_init__(self) -> None:
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if files != resource.RLIM_INFINITY:
            self.limit = max(1, min(self.limit, files - SPARE_FILES))

    def refusal(self, address: str, *, is_proxy: bool) -> str | None:
        """Why one more from this address is refused."""
        if self.count >= self.limit:
            return "limit"
        if not is_proxy and address not in self.proxies and self.by_address[address] >= self.per_address:
            return "address"
        return None

    def add(self, address: str) -> None:
        self.by_address[address] += 1
        self.count += 1
        open_connections.set(self.count)

    def remove(self, address: str) -> None:
        self.by_address[address] -= 1
        if not self.by_address[address]:
            del self.by_address[address]
        self.count -= 1
        open_connections.set(self.count)

    def note_refusal(self, reason: str, address: str) -> None:
        """Count each, log a few: a flood must not fill the log."""
        refused(reason).inc()
        if time.monotonic() - self.logged_at > LOG_EVERY_S:
            self.logged_at = time.monotonic()
            log.warning("connections refused", extra=fields(reason=reason, address=address))


class Acceptor:
    """Accepts on one listening socket."""

    def __init__(self, server: "LimitedServer", listening: socket.socket, limits: ConnectionLimits) -> None:
        self._server = server
        self._listening = listening
        self._limits = limits
        self._opening: set[asyncio.Task[None]] = set()
        listening.setblocking(False)
        self._accepting = start_background_task(self._accept())

    def close(self) -> None:
        self._accepting.cancel()
        for task in self._opening:
            task.cancel()

    async def wait_closed(self) -> None:
        with suppress(asyncio.CancelledError):
            await self._accepting

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, address = await loop.sock_accept(self._listening)
            except OSError as error:
                if error.errno in NO_MORE_FILES:
                    self._limits.note_refusal("files", "")
                    await asyncio.sleep(NO_FILES_PAUSE_S)
                continue
            self._take(connection, str(address[0]))
            await asyncio.sleep(0)  # a flood of connections must not keep the others from being served

    def _take(self, connection: socket.socket, address: str) -> None:
        reason = self._limits.refusal(address, is_proxy=self._server.config.ssl is None)
        if reason:
            connection.close()
            self._limits.note_refusal(reason, address)
            return
        self._limits.add(address)
        opening = asyncio.create_task(self._open(connection, address))
        self._opening.add(opening)
        opening.add_done_callback(self._opening.discard)

    async def _open(self, connection: socket.socket, address: str) -> None:
        context, protocol = self._server.config.ssl, self._server.make_protocol()
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: protocol,
                connection,
                ssl=context,
                ssl_handshake_timeout=HANDSHAKE_LIMIT_S if context else None,
            )
        except (OSError, ssl.SSLError):
            connection.close()
            self._limits.remove(address)
            self._limits.note_refusal("handshake", address)
        except BaseException:
            connection.close()
            self._limits.remove(address)
            raise
        else:
            protocol.call_when_lost(lambda: self._limits.remove(address))


class LimitedServer(EmbeddedServer):
    """A uvicorn server whose connections are limited."""

    def __init__(self, config: uvicorn.Config, limits: ConnectionLimits) -> None:
        super().__init__(config)
        self._limits = limits

    def make_protocol(self) -> BoundedProtocol:
        return BoundedProtocol(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self.servers = [Acceptor(self, listening, self._limits) for listening in sockets or []]  # type: ignore[misc]
        self.started = True
