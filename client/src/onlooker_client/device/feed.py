"""The local feed: who is in view now, for a screen's own pages and programs on this device."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Collection
from contextlib import suppress
from typing import Any

from onlooker_client.device.audience import Audience
from onlooker_client.device.computed_frame import ComputedFrame
from onlooker_client.device.feed_connection import FeedConnection
from onlooker_client.device.feed_options import FeedOptions
from onlooker_client.device.feed_trust import FeedTrust
from onlooker_client.device.feed_updates import FeedCounts, FeedLimits, FeedUpdates
from onlooker_client.errors import ConfigError

LOOPBACK = "127.0.0.1"
BACKLOG = 64
SEND_BUFFER_BYTES = 16 * 1024
"""What waits in the system for a slow reader is old news."""
CLOSE_LIMIT_S = 2.0


class LocalFeed:
    """Serves /now, /events and /socket from a thread of its own; `publish` never waits."""

    def __init__(
        self,
        port: int,
        *,
        host: str = LOOPBACK,
        origins: Collection[str] = (),
        token: str | None = None,
        limits: FeedLimits | None = None,
        camera_position: str = "facing",
        tells_attributes: bool = True,
    ) -> None:
        """Port 0 takes a free one. Raises ConfigError if it can't listen there."""
        self._limits = limits or FeedLimits()
        self._counts = FeedCounts()
        self._audience = Audience(camera_position=camera_position, tells_attributes=tells_attributes)
        self._listener = _listen(host, port)
        self.port: int = self._listener.getsockname()[1]
        self._trust = FeedTrust(host, self.port, frozenset(origins), token)
        self._connections: set[asyncio.Task[Any]] = set()
        self._is_started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="feed", daemon=True)
        self._thread.start()
        self._is_started.wait(CLOSE_LIMIT_S)

    def publish(self, frame: ComputedFrame) -> None:
        """Of the newest frame; from one thread."""
        try:
            said = self._audience.see(frame)
            text = None if said is None else json.dumps(said, allow_nan=False).encode()
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            # The process that computes reads strange pictures: what it says is no reason to stop.
            self._counts.unreadable += 1
            return
        if text is not None:
            with suppress(RuntimeError):  # the feed was closed
                self._loop.call_soon_threadsafe(self._updates.offer, text)

    def status(self) -> dict[str, Any]:
        """For the health report."""
        return {"port": self.port, **vars(self._counts), "refused": dict(self._counts.refused)}

    def close(self) -> None:
        """Readers are told; a second call does nothing."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._is_over.set)
        self._thread.join(CLOSE_LIMIT_S + 1)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._is_over = asyncio.Event()
        self._updates = FeedUpdates(self._limits, self._counts)
        server = await asyncio.start_server(self._connect, sock=self._listener, limit=self._limits.head_bytes)
        self._is_started.set()
        await self._is_over.wait()
        server.close()
        self._updates.close()
        if self._connections:
            await asyncio.wait(self._connections, timeout=CLOSE_LIMIT_S)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._connections.add(task)
        try:
            self._set_buffers(writer)
            if len(self._connections) > self._limits.connections:
                self._counts.refused["busy"] += 1
                return
            connection = FeedConnection(reader, writer, self._trust, self._updates, self._limits, self._counts)
            await connection.serve()
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
            writer.transport.abort()  # hung up, or takes nothing
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            self._connections.discard(task)
            writer.close()

    @staticmethod
    def _set_buffers(writer: asyncio.StreamWriter) -> None:
        """None in this process, so that `drain` waits for the reader."""
        writer.transport.set_write_buffer_limits(high=0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)


def open_feed(
    options: FeedOptions | None, *, camera_position: str = "facing", is_grouped: bool = False
) -> LocalFeed | None:
    """As a run was told; None without `--feed-port`. `is_grouped`: the stream tells about people in groups alone."""
    if options is None:
        return None
    return LocalFeed(
        options.port,
        host=options.host,
        origins=options.origins,
        token=options.token,
        camera_position=camera_position,
        tells_attributes=options.tells_singly or not is_grouped,
    )


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)[0][0]
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise ConfigError(
            f"The feed can't listen on {host}:{port} ({error.strerror}). Choose another --feed-port or --feed-host."
        ) from None
