"""A worker's computing process as the worker sees it: started, fed one call at a time, replaced when it ends."""

import asyncio
import itertools
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import msgspec
from msgspec.structs import replace

from onlooker.child_process import prepare_child
from onlooker.compute import counters
from onlooker.compute.call_messages import (
    ANSWER_LIMIT_BYTES,
    LENGTH_BYTES,
    CallAnswer,
    CallMessage,
    Untrue,
    decode_answer,
    decode_ready,
    encode_message,
)
from onlooker.compute.fair_turns import FairTurns
from onlooker.logs import fields
from onlooker.settings import Settings, SettingsError, variable_name
from onlooker_pipeline.model_runtime import TELEMETRY_SWITCHES

log = logging.getLogger(__name__)

READY_LIMIT_S = 60.0
OVERDUE_S = 1.0
"""So long after a call's deadline nobody waits for the answer any more."""
STARTS_AT_MOST = 5
"""In a row without a single answer."""
PRIORITY = 5
"""Computing comes second to what is on the bus: a worker that is late to answer would be taken for dead."""
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


class ProcessEnded(Exception):
    """The computing process ended while it had this call."""


class ComputedTooLong(Exception):
    """The call took longer than a call may."""


class ServiceProcess:
    """Computes calls, as many at a time as their turns allow."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._turns = FairTurns(settings.worker_threads)
        self._overdue: set[asyncio.Task[CallAnswer]] = set()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, tuple[CallMessage, asyncio.Future[CallAnswer]]] = {}
        self._ready = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._jobs = 0
        self._keeping: asyncio.Task[None] | None = None
        self.is_confined = False

    @property
    def is_ready(self) -> bool:
        return self._ready.is_set()

    async def start(self) -> None:
        """Raises SettingsError where it can't be started; then it is kept running until `stop`."""
        reader = await self._launch()
        self._keeping = asyncio.create_task(self._keep_running(reader))

    async def stop(self) -> None:
        if self._keeping:
            self._keeping.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeping
        await self._end()

    async def compute(self, call: CallMessage, deadline: float) -> CallAnswer:
        """The answer to a call, which gets a number of ours.

        Raises ProcessEnded, ComputedTooLong, Crowded, or TimeoutError after the deadline: then nobody waits for it.
        """
        begun = asyncio.Event()
        computing = asyncio.create_task(self._compute(call, deadline, begun))
        try:
            await asyncio.wait([computing], timeout=max(deadline - time.time(), 0) + OVERDUE_S)
        finally:
            if not begun.is_set():
                computing.cancel()
        if computing.done():
            return await computing
        if begun.is_set():
            self._overdue.add(computing)
            computing.add_done_callback(self._forget)
        raise TimeoutError

    async def _compute(self, call: CallMessage, deadline: float, begun: asyncio.Event) -> CallAnswer:
        """Once begun it goes on to its end: to stop it would stop those that are computed beside it."""
        async with self._turns.take(call.sender.stream_id, call.service) as turn:
            await self._ready.wait()
            if time.time() + turn.price_s > deadline + OVERDUE_S:
                raise TimeoutError
            begun.set()
            try:
                async with asyncio.timeout(self._settings.compute_time_limit_s):
                    return await self._exchange(replace(call, number=next(self._numbers), is_long=turn.is_long))
            except TimeoutError:
                raise ComputedTooLong from None

    def _forget(self, overdue: asyncio.Task[CallAnswer]) -> None:
        self._overdue.discard(overdue)
        if not overdue.cancelled():
            overdue.exception()

    def send_away(self, stream_id: int) -> bool:
        """Refuse a call of this stream that waits; False if none does."""
        return self._turns.send_away(stream_id)

    async def _exchange(self, call: CallMessage) -> CallAnswer:
        answer: asyncio.Future[CallAnswer] = asyncio.get_running_loop().create_future()
        self._waiting[call.number] = call, answer
        assert self._writer
        try:
            self._writer.write(encode_message(call))
            return await answer
        except asyncio.CancelledError:
            self._kill("overdue")
            raise
        finally:
            del self._waiting[call.number]
            self._jobs += 1
            if self._jobs >= self._settings.compute_jobs and not self._waiting:
                self._kill("replaced")

    async def _launch(self) -> asyncio.StreamReader:
        """Start a process and wait until it has given everything up."""
        ours, its = socket.socketpair()
        with its, closed_on_failure(ours):
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "onlooker.compute.service_program",
                str(its.fileno()),
                env=_environment(self._settings),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                pass_fds=[its.fileno()],
                preexec_fn=_prepare,
            )
            reader, self._writer = await asyncio.open_connection(sock=ours, limit=ANSWER_LIMIT_BYTES)
        try:
            async with asyncio.timeout(READY_LIMIT_S):
                self.is_confined = decode_ready(await _read_message(reader)).confined
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError, Untrue, msgspec.MsgspecError):
            await self._end()
            raise SettingsError("The computing process did not start. What it said is above.") from None
        counters.confined.set(self.is_confined)
        self._jobs = 0
        self._ready.set()
        return reader

    async def _keep_running(self, reader: asyncio.StreamReader) -> None:
        fruitless = 0
        while True:
            answered = await self._read_answers(reader)
            self._ready.clear()
            code = await self._end()
            counters.processes_ended(_reason(code)).inc()
            log.warning("computing process ended", extra=fields(code=code, reason=_reason(code)))
            for _, waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(ProcessEnded())
            fruitless = 0 if answered else fruitless + 1
            try:
                reader = await self._launch()
            except SettingsError:
                fruitless = STARTS_AT_MOST
            if fruitless >= STARTS_AT_MOST:
                log.error("computing process can't be kept running: the worker stops")
                os.kill(os.getpid(), signal.SIGTERM)
                return

    async def _read_answers(self, reader: asyncio.StreamReader) -> int:
        """Until it ends, or says what can't be true; how many it gave."""
        count = 0
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                try:
                    self._take_answer(await _read_message(reader))
                except Untrue as error:
                    log.error("computing process said what can't be true", extra=fields(error=str(error)[:200]))
                    self._kill("untrue")
                    return count
                count += 1
        return count

    def _take_answer(self, body: bytes) -> None:
        number = _number_of(body)
        if number not in self._waiting:
            raise Untrue("an answer that nobody waits for")
        call, answer = self._waiting[number]
        checked = decode_answer(body, call)
        if not answer.done():
            answer.set_result(checked)

    def _kill(self, reason: str) -> None:
        if self._process and self._process.returncode is None:
            counters.processes_killed(reason).inc()
            self._ready.clear()
            self._send_kill()

    def _send_kill(self) -> None:
        """By hand: asyncio's own would reap a process that has just ended, and lose how."""
        assert self._process
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGKILL)

    async def _end(self) -> int:
        """Its exit code."""
        assert self._process
        if self._writer:
            self._writer.close()
        self._send_kill()
        return await self._process.wait()


@contextmanager
def closed_on_failure(ours: socket.socket) -> Iterator[None]:
    try:
        yield
    except BaseException:
        ours.close()
        raise


async def _read_message(reader: asyncio.StreamReader) -> bytes:
    length = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big")
    if length > ANSWER_LIMIT_BYTES:
        raise Untrue(f"a message of {length} bytes")
    return await reader.readexactly(length)


class _Numbered(msgspec.Struct, array_like=True):
    number: int


_decode_numbered = msgspec.msgpack.Decoder(_Numbered).decode


def _number_of(body: bytes) -> int:
    try:
        return _decode_numbered(body).number
    except msgspec.MsgspecError as error:
        raise Untrue(str(error)) from None


def _reason(code: int) -> str:
    """Which signal ended it; SIGSYS is a system call that it must not make."""
    if code >= 0:
        return "exit"
    with suppress(ValueError):
        return "violation" if -code == signal.SIGSYS else signal.Signals(-code).name.lower()
    return "signal"


def _environment(settings: Settings) -> dict[str, str]:
    """Named variables only: no password, not even the worker's own."""
    system = {name: os.environ[name] for name in SYSTEM_IT_NEEDS if name in os.environ}
    return (
        system | TELEMETRY_SWITCHES | {variable_name(name): str(getattr(settings, name)) for name in SETTINGS_IT_NEEDS}
    )


def _prepare() -> None:
    prepare_child(ended_by=signal.SIGKILL)
    os.nice(PRIORITY)
