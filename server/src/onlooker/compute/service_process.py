"""A worker's computing process as the worker sees it: started, fed with calls, replaced when it ends."""

import asyncio
import itertools
import logging
import signal
from contextlib import suppress

import msgspec
from msgspec.structs import replace

from onlooker.background_tasks import start_background_task, stop_process
from onlooker.compute import counters
from onlooker.compute.call_messages import (
    CallAnswer,
    CallMessage,
    Untrue,
    decode_answer,
    encode_message,
)
from onlooker.compute.priority import LESS_URGENT, set_niceness
from onlooker.compute.process_launch import Spares, StartedProcess, read_message
from onlooker.logs import fields
from onlooker.settings import Settings, SettingsError

log = logging.getLogger(__name__)

STARTS_AT_MOST = 5
"""In a row without a single answer."""


class ProcessEnded(Exception):
    """The computing process ended while it had this call."""


class ComputedTooLong(Exception):
    """The call took longer than a call may."""


class ServiceProcess:
    """Computes calls, each as soon as it comes."""

    def __init__(self, settings: Settings, spares: Spares, *, is_expendable: bool = False) -> None:
        """Where one that is not expendable can't be kept running, the worker stops."""
        self._settings = settings
        self._spares = spares
        self._is_expendable = is_expendable
        self._is_urgent = True
        self._numbers = itertools.count(1)
        self._waiting: dict[int, tuple[CallMessage, asyncio.Future[CallAnswer]]] = {}
        self._ready = asyncio.Event()
        self._started: StartedProcess | None = None
        self._jobs = 0
        self._keeping: asyncio.Task[None] | None = None

    @property
    def is_ready(self) -> bool:
        return self._ready.is_set()

    @property
    def is_confined(self) -> bool:
        return self._started is not None and self._started.is_confined

    async def start(self) -> None:
        """Raises SettingsError where it can't be started; then it is kept running until `stop`."""
        self.start_with(await self._spares.take())

    def start_with(self, started: StartedProcess) -> None:
        self._begin(started)
        self._keeping = start_background_task(self._keep_running())

    def make_expendable(self) -> None:
        """From now on it has long calls, which may bring it down and are less urgent."""
        self._is_expendable, self._is_urgent = True, False
        self._set_priority()

    async def stop(self) -> None:
        if self._keeping:
            self._keeping.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeping
        if self._started:
            await self._started.end()

    async def compute(self, call: CallMessage) -> CallAnswer:
        """The answer to a call, which gets a number of ours; raises ProcessEnded or ComputedTooLong."""
        await self._ready.wait()
        try:
            async with asyncio.timeout(self._settings.compute_time_limit_s):
                return await self._exchange(replace(call, number=next(self._numbers)))
        except TimeoutError:
            raise ComputedTooLong from None

    async def _exchange(self, call: CallMessage) -> CallAnswer:
        answer: asyncio.Future[CallAnswer] = asyncio.get_running_loop().create_future()
        self._waiting[call.number] = call, answer
        assert self._started
        try:
            self._started.writer.write(encode_message(call))
            return await answer
        except asyncio.CancelledError:
            self._kill("overdue")
            raise
        finally:
            del self._waiting[call.number]
            self._jobs += 1
            if self._jobs >= self._settings.compute_jobs and not self._waiting:
                self._kill("replaced")

    def _begin(self, started: StartedProcess) -> None:
        self._started = started
        counters.confined.set(started.is_confined)
        self._jobs = 0
        self._set_priority()
        self._ready.set()

    def _set_priority(self) -> None:
        if self._started and not self._is_urgent:
            set_niceness(LESS_URGENT, self._started.process.pid)

    async def _keep_running(self) -> None:
        fruitless = 0
        while True:
            assert self._started
            answered = await self._read_answers(self._started.reader)
            self._ready.clear()
            code = await self._started.end()
            counters.processes_ended(_reason(code)).inc()
            log.warning("computing process ended", extra=fields(code=code, reason=_reason(code)))
            for _, waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(ProcessEnded())
            fruitless = 0 if answered or self._is_expendable else fruitless + 1
            try:
                self._begin(await self._spares.take())
            except SettingsError:
                fruitless = STARTS_AT_MOST
            if fruitless >= STARTS_AT_MOST:
                stop_worker()
                return

    async def _read_answers(self, reader: asyncio.StreamReader) -> int:
        """Until it ends, or says what can't be true; how many it gave."""
        count = 0
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                try:
                    self._take_answer(await read_message(reader))
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
        if self._started and self._started.is_running:
            counters.processes_killed(reason).inc()
            self._ready.clear()
            self._started.kill()


def stop_worker() -> None:
    log.error("computing process can't be kept running: the worker stops")
    stop_process()


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
