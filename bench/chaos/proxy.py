"""A TCP proxy that behaves as badly as it is told: cuts, delays, throttles and resets whatever goes through it."""

import asyncio
import enum
import random
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

DELAY_S = 2.0
"""Each way."""
THROTTLE_BYTES_PER_S = 100_000
"""Each way, for all connections together."""
PIECE_BYTES = 4096
WAITING_PIECES = 256
RESET_EVERY_S = (0.3, 1.5)
_RESET = struct.pack("ii", 1, 0)


class Weather(enum.Enum):
    """How the link is."""

    CALM = "calm"
    CUT = "cut"
    """Nothing goes through; what was in flight arrives once it works again, as TCP sends it again."""
    LOST = "lost"
    """The same, but connections of that time never work again, and nobody is told: a router forgot them."""
    DELAY = "delay"
    """What is in flight when it ends arrives at once: the link is a good one again."""
    THROTTLE = "throttle"
    RESET = "reset"


@dataclass(eq=False)
class Passage:
    """One connection through the proxy."""

    writers: list[asyncio.StreamWriter] = field(default_factory=list)
    is_lost: bool = False

    def reset(self) -> None:
        for writer in self.writers:
            opened = writer.get_extra_info("socket")
            with suppress(OSError):
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            writer.transport.abort()


class Proxy:
    """Forwards to another port of this machine; lives in a thread with a loop of its own."""

    def __init__(self, target: int, *, port: int = 0, seed: int = 0) -> None:
        self.port = port
        self.connections = 0
        self._target = target
        self._random = random.Random(seed)
        self._loop = asyncio.new_event_loop()
        self._weather = Weather.CALM
        self._changed = asyncio.Event()
        self._passages: set[Passage] = set()
        self._free_at = {"up": 0.0, "down": 0.0}
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="proxy", daemon=True)

    def set_weather(self, weather: Weather) -> None:
        asyncio.run_coroutine_threadsafe(self._set(weather), self._loop).result(5)

    def start(self) -> None:
        self._thread.start()
        if not self._ready.wait(5):
            raise RuntimeError("the proxy did not start")

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._pass, "127.0.0.1", self.port))
        self.port = server.sockets[0].getsockname()[1]
        resetting = self._loop.create_task(self._reset_now_and_then())
        self._ready.set()
        self._loop.run_forever()
        server.close()
        resetting.cancel()
        self._loop.run_until_complete(self._shut_down())
        self._loop.close()

    async def _shut_down(self) -> None:
        for passage in list(self._passages):
            passage.reset()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others, timeout=2)

    async def _set(self, weather: Weather) -> None:
        if weather is Weather.LOST:
            for passage in self._passages:
                passage.is_lost = True
        self._weather = weather
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def _reset_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(self._random.uniform(*RESET_EVERY_S))
            if self._weather is Weather.RESET:
                for passage in list(self._passages):
                    passage.reset()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.CancelledError):  # the proxy ends; asyncio would call that a fault of this handler
            await self._join(reader, writer)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        passage = Passage([writer], is_lost=self._weather is Weather.LOST)
        self._passages.add(passage)
        try:
            to_reader, to_writer = await asyncio.open_connection("127.0.0.1", self._target)
            passage.writers.append(to_writer)
            async with asyncio.TaskGroup() as pumps:
                pumps.create_task(self._pump(passage, reader, to_writer, "up"))
                pumps.create_task(self._pump(passage, to_reader, writer, "down"))
        except* OSError:
            pass  # one side has gone
        finally:
            self._passages.discard(passage)
            for one in passage.writers:
                one.transport.abort()

    async def _pump(
        self, passage: Passage, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: str
    ) -> None:
        """Read on one side, write on the other; what is delayed waits in between, in order."""
        waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(WAITING_PIECES)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._write(passage, waiting, writer, way))
            while piece := await reader.read(PIECE_BYTES):
                await waiting.put((time.monotonic(), piece))
            await waiting.put((time.monotonic(), b""))

    async def _write(
        self, passage: Passage, waiting: asyncio.Queue[tuple[float, bytes]], writer: asyncio.StreamWriter, way: str
    ) -> None:
        while True:
            read_at, piece = await waiting.get()
            await self._hold_up(read_at, len(piece), way)
            if passage.is_lost and piece:
                continue
            if passage.is_lost:
                return
            if not piece:
                with suppress(OSError):
                    writer.write_eof()
                return
            writer.write(piece)
            await writer.drain()

    async def _hold_up(self, read_at: float, size: int, way: str) -> None:
        """Until a piece may go on its way."""
        while self._weather is Weather.CUT:
            await self._changed.wait()
        while self._weather is Weather.DELAY and (left_s := read_at + DELAY_S - time.monotonic()) > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), left_s)
        if self._weather is Weather.THROTTLE:
            begins_at = max(self._free_at[way], time.monotonic())
            self._free_at[way] = begins_at + size / THROTTLE_BYTES_PER_S
            await asyncio.sleep(self._free_at[way] - time.monotonic())


@contextmanager
def running_proxy(target: int, *, port: int = 0, seed: int = 0) -> Iterator[Proxy]:
    proxy = Proxy(target, port=port, seed=seed)
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.stop()
