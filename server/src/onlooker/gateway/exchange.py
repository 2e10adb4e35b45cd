"""Requests on their way to workers: each has a future, and a worker that dies fails its own at once."""

import asyncio
import itertools
import time
from dataclasses import dataclass

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as BusError
from nats.errors import NoRespondersError

from onlooker.bus.messages import Reply, decode_reply
from onlooker.bus.subjects import ping_subject

PROBE_EVERY_S = 0.25
PROBE_TIMEOUT_S = 1.2
"""A worker that does not answer for so long is taken for dead; with the wait before it, under 2 s."""


class WorkerAbsent(Exception):
    """Nobody took the request: it was not even begun."""


class WorkerDied(Exception):
    """The worker that took the request is gone, or answers nothing at all."""


class BusLost(Exception):
    """The bus went away; whether the request was processed is not known."""


class JobOverdue(Exception):
    """The worker lives, but the job took longer than it may."""


@dataclass
class _Pending:
    future: asyncio.Future[Reply]
    instance: str
    sent_at: float
    deadline: float


class Exchange:
    """Sends payloads to workers and hands back replies."""

    def __init__(self, connection: Client) -> None:
        self._connection = connection
        self._inbox = connection.new_inbox()
        self._pending: dict[str, _Pending] = {}
        self._tokens = itertools.count()
        self._probing: set[str] = set()
        self._probes: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        await self._connection.subscribe(f"{self._inbox}.*", cb=self._take_reply)

    async def send(self, subject: str, payload: bytes, *, instance: str, timeout_s: float) -> Reply:
        """The worker's reply, or one of this module's exceptions."""
        token = str(next(self._tokens))
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        now = time.monotonic()
        self._pending[token] = _Pending(future, instance, now, now + timeout_s)
        try:
            await self._connection.publish(subject, payload, reply=f"{self._inbox}.{token}")
            return await future
        except BusError as error:
            raise BusLost from error
        finally:
            del self._pending[token]

    async def _take_reply(self, message: Msg) -> None:
        pending = self._pending.get(message.subject.rpartition(".")[2])
        if pending is None or pending.future.done():
            return
        if message.data:
            pending.future.set_result(decode_reply(message.data))
        else:
            pending.future.set_exception(WorkerAbsent())

    async def fail_all(self) -> None:
        """The connection was lost: no reply can come any more."""
        for pending in self._pending.values():
            if not pending.future.done():
                pending.future.set_exception(BusLost())

    async def watch(self) -> None:
        """Tell dead workers and overdue jobs apart from slow ones, for ever."""
        while True:
            await asyncio.sleep(PROBE_EVERY_S)
            now = time.monotonic()
            for pending in list(self._pending.values()):
                if pending.future.done():
                    continue
                if now > pending.deadline:
                    pending.future.set_exception(JobOverdue())
                elif now - pending.sent_at > PROBE_EVERY_S and pending.instance not in self._probing:
                    self._probing.add(pending.instance)
                    probe = asyncio.create_task(self._probe(pending.instance))
                    self._probes.add(probe)
                    probe.add_done_callback(self._probes.discard)

    async def _probe(self, instance: str) -> None:
        """Ask a worker whether it lives; the bus itself says so when its connection is closed."""
        asked_at = time.monotonic()
        try:
            await self._connection.request(ping_subject(instance), timeout=PROBE_TIMEOUT_S)
        except (NoRespondersError, TimeoutError):
            if self._connection.is_connected:
                self._fail(instance, sent_before=asked_at)
        except BusError:
            await asyncio.sleep(0)
        finally:
            self._probing.discard(instance)

    def _fail(self, instance: str, *, sent_before: float) -> None:
        for pending in self._pending.values():
            if pending.instance == instance and pending.sent_at < sent_before and not pending.future.done():
                pending.future.set_exception(WorkerDied())
