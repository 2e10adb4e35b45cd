"""Starts computing processes, and keeps some that have seen no call for when one is needed at once."""

import asyncio
import logging
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import msgspec

from onlooker.child_process import prepare_child
from onlooker.compute.call_messages import ANSWER_LIMIT_BYTES, LENGTH_BYTES, Untrue, decode_ready
from onlooker.compute.priority import SECOND, set_niceness
from onlooker.settings import Settings, SettingsError, variable_name
from onlooker_pipeline.model_runtime import TELEMETRY_SWITCHES

log = logging.getLogger(__name__)

READY_LIMIT_S = 60.0
SETTINGS_IT_NEEDS = (
    "compute_memory_bytes",
    "confinement",
    "extra_services",
    "inference_provider",
    "inference_threads",
    "person_model",
    "session_idle_s",
    "worker_services",
    "worker_threads",
)
SYSTEM_IT_NEEDS = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONPATH", "TZ", "VIRTUAL_ENV")


@dataclass(frozen=True)
class StartedProcess:
    """A computing process that is ready for its first call."""

    process: asyncio.subprocess.Process
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    is_confined: bool

    @property
    def is_running(self) -> bool:
        return self.process.returncode is None

    def kill(self) -> None:
        _kill(self.process)

    async def end(self) -> int:
        """Its exit code."""
        self.writer.close()
        self.kill()
        return await self.process.wait()


async def launch(settings: Settings, *, is_awaited: bool = True) -> StartedProcess:
    """Start a process and wait until it has given everything up; raises SettingsError where it does not start.

    One that calls wait for starts as fast as it can: beside a busy neighbour its low priority would cost seconds.
    """
    ours, its = socket.socketpair()
    with its, closed_on_failure(ours):
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "onlooker.compute.service_program",
            str(its.fileno()),
            env=_environment(settings),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            pass_fds=[its.fileno()],
            preexec_fn=_prepare_awaited if is_awaited else _prepare_spare,
        )
        reader, writer = await asyncio.open_connection(sock=ours, limit=ANSWER_LIMIT_BYTES)
    try:
        async with asyncio.timeout(READY_LIMIT_S):
            is_confined = decode_ready(await read_message(reader)).confined
    except BaseException as error:
        writer.close()
        _kill(process)
        await process.wait()
        if isinstance(error, TimeoutError | EOFError | ConnectionError | Untrue | msgspec.MsgspecError):
            raise SettingsError("The computing process did not start. What it said is above.") from None
        raise
    return StartedProcess(process, reader, writer, is_confined)


class Spares:
    """Processes that are started and have seen no call; each is given away once."""

    def __init__(self, settings: Settings, count: int) -> None:
        self._settings = settings
        self._count = count
        self._ready: deque[StartedProcess] = deque()
        self._filling: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._ready)

    def add(self, started: StartedProcess) -> None:
        """One that has seen no call either."""
        self._ready.append(started)
        self.fill()

    async def take(self) -> StartedProcess:
        """One that is ready, or a new one; raises SettingsError where none starts."""
        started = self.take_ready() or await launch(self._settings)
        self.fill()
        return started

    def take_ready(self) -> StartedProcess | None:
        while self._ready:
            started = self._ready.popleft()
            if started.is_running:
                self.fill()
                return started
            started.writer.close()
        return None

    async def stop(self) -> None:
        if self._filling:
            self._filling.cancel()
            with suppress(asyncio.CancelledError):
                await self._filling
        while self._ready:
            await self._ready.popleft().end()

    def fill(self) -> None:
        if len(self._ready) < self._count and (self._filling is None or self._filling.done()):
            self._filling = asyncio.create_task(self._start_missing())

    async def _start_missing(self) -> None:
        while len(self._ready) < self._count:
            try:
                self._ready.append(await launch(self._settings, is_awaited=False))
            except SettingsError:
                log.warning("spare computing process did not start")
                return


async def read_message(reader: asyncio.StreamReader) -> bytes:
    length = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big")
    if length > ANSWER_LIMIT_BYTES:
        raise Untrue(f"a message of {length} bytes")
    return await reader.readexactly(length)


@contextmanager
def closed_on_failure(ours: socket.socket) -> Iterator[None]:
    try:
        yield
    except BaseException:
        ours.close()
        raise


def _kill(process: asyncio.subprocess.Process) -> None:
    """By hand: asyncio's own would reap a process that has just ended, and lose how."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


def _environment(settings: Settings) -> dict[str, str]:
    """Named variables only: no password, not even the worker's own."""
    system = {name: os.environ[name] for name in SYSTEM_IT_NEEDS if name in os.environ}
    return (
        system | TELEMETRY_SWITCHES | {variable_name(name): str(getattr(settings, name)) for name in SETTINGS_IT_NEEDS}
    )


def _prepare_awaited() -> None:
    prepare_child(ended_by=signal.SIGKILL)


def _prepare_spare() -> None:
    prepare_child(ended_by=signal.SIGKILL)
    set_niceness(SECOND)
