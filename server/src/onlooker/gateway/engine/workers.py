"""Live workers: what they host, and which one a session belongs to."""

import asyncio
import logging
import time
from dataclasses import dataclass
from hashlib import blake2b

import msgspec
from nats.aio.msg import Msg

from onlooker.bus.connection import Bus, BusError
from onlooker.bus.subjects import INFO_SUBJECT
from onlooker.bus.worker_announcement import Announcement
from onlooker.clock_check import REMEDY, ClockCheck, outside
from onlooker.gateway import counters
from onlooker.logs import fields
from onlooker_pipeline.catalogue.service import Service

log = logging.getLogger(__name__)

ASK_EVERY_S = 1.0
FIRST_ANSWER_S = 0.5
FORGET_AFTER_S = 3.5
SEEN_LATELY_S = 15.0


class _Endpoint(msgspec.Struct):
    name: str
    subject: str


class _Info(msgspec.Struct):
    """The part of a NATS services API INFO answer that matters here."""

    id: str
    endpoints: list[_Endpoint]
    metadata: Announcement


_decode_info = msgspec.json.Decoder(_Info).decode
_MASK = (1 << 64) - 1


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def _mix(bits: int) -> int:
    mixed = (bits * 0x9E3779B97F4A7C15) & _MASK
    return ((mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9) & _MASK


@dataclass(frozen=True)
class LiveWorker:
    """A worker process that answered lately."""

    instance: str
    name_hash: int
    instance_hash: int
    subjects: dict[str, str]
    """Subject by endpoint, which is named `<service>-<version>`."""
    seen_at: float
    said: Announcement

    def subject_of(self, service: Service) -> str | None:
        return self.subjects.get(f"{service.name}-{service.version}")

    def rank(self, key_hash: int) -> tuple[int, int]:
        """Rendezvous hashing: every gateway gives a session's workers the same order.

        By name, so that only its own sessions move when a worker restarts; among workers of one name, by instance.
        """
        return _mix(key_hash ^ self.name_hash), _mix(key_hash ^ self.instance_hash)


class Workers:
    """Finds live workers by asking again and again, through the NATS services API."""

    def __init__(self, bus: Bus, clock: ClockCheck) -> None:
        self._bus = bus
        self._clock = clock
        self._inbox = bus.client.new_inbox()
        self._live: dict[str, LiveWorker] = {}
        self._last_live: dict[str, float] = {}
        self._wrong_clocks: dict[str, tuple[str, float]] = {}
        """Name, and when it answered, of each worker that is not chosen because of its clock."""
        self._news = asyncio.Event()

    async def start(self) -> None:
        """Ready when some worker has answered, so that the first job is not refused; or when none does."""
        await self._bus.client.subscribe(f"{self._inbox}.*", cb=self._note)
        await self.wait_for_news(FIRST_ANSWER_S)

    async def run(self) -> None:
        while True:
            asleep_at = time.monotonic()
            await asyncio.sleep(ASK_EVERY_S)
            await self.ask()
            # If we were late ourselves, their answers may not have been read yet.
            late_s = time.monotonic() - asleep_at - ASK_EVERY_S
            limit = time.monotonic() - FORGET_AFTER_S - late_s
            for worker in [worker for worker in self._live.values() if worker.seen_at < limit]:
                self.remove(worker.instance)
            for instance, (_, seen_at) in list(self._wrong_clocks.items()):
                if seen_at < limit:
                    self._forget_clock(instance)

    async def ask(self) -> None:
        """Answers say which question they are about: its time is in the subject they are sent to."""
        try:
            await self._bus.publish(INFO_SUBJECT, reply=f"{self._inbox}.{self._clock.right_time():.0f}")
        except BusError:
            log.debug("can't ask for workers: the bus is unavailable")

    async def _note(self, message: Msg) -> None:
        if not message.data:
            return
        try:
            info = _decode_info(message.data)
        except msgspec.DecodeError:
            log.warning("malformed answer to INFO")
            return
        now = time.monotonic()
        if not self._has_right_clock(info, asked_at=float(message.subject.rpartition(".")[2])):
            self._wrong_clocks[info.id] = (info.metadata.worker or info.id, now)
            self.remove(info.id)
            return
        self._forget_clock(info.id)
        self._live[info.id] = LiveWorker(
            instance=info.id,
            name_hash=_hash(info.metadata.worker or info.id),
            instance_hash=_hash(info.id),
            subjects={endpoint.name: endpoint.subject for endpoint in info.endpoints},
            seen_at=now,
            said=info.metadata,
        )
        for endpoint in info.endpoints:
            self._last_live[endpoint.name] = now
        counters.live_workers.set(len(self._live))
        self._news.set()

    def _has_right_clock(self, info: _Info, *, asked_at: float) -> bool:
        """Wrong is what the time since the question can't explain. A worker of an earlier release reports no clock."""
        if info.metadata.clock_s is None:
            return True
        name = info.metadata.worker or info.id
        off_s = outside(info.metadata.clock_s, earliest=asked_at - 1, latest=self._clock.right_time())
        if abs(off_s) <= self._clock.limit_s:
            return True
        counters.worker_clock_offset.labels(name).set(off_s)
        if info.id not in self._wrong_clocks:
            said = fields(worker=name, instance=info.id, offset_s=round(off_s, 1), remedy=REMEDY)
            log.error("a worker's clock is wrong: it gets no jobs", extra=said)
        return False

    def _forget_clock(self, instance: str) -> None:
        """The worker's clock is right again, or the worker is gone."""
        if instance in self._wrong_clocks:
            name, _ = self._wrong_clocks.pop(instance)
            if all(name != other for other, _ in self._wrong_clocks.values()):
                counters.worker_clock_offset.remove(name)
            log.warning("a worker's clock is no longer wrong", extra=fields(worker=name, instance=instance))

    def remove(self, instance: str) -> None:
        self._live.pop(instance, None)
        counters.live_workers.set(len(self._live))

    def live(self) -> list[LiveWorker]:
        return list(self._live.values())

    def __len__(self) -> int:
        return len(self._live)

    def count(self, service: Service) -> int:
        return sum(1 for worker in self._live.values() if worker.subject_of(service))

    def choose(self, service: Service, key: str, *, besides: set[str]) -> LiveWorker | None:
        """The session's own worker, or the next in its order that is live."""
        able = [
            worker for worker in self._live.values() if worker.subject_of(service) and worker.instance not in besides
        ]
        if len(able) <= 1:
            return able[0] if able else None
        key_hash = _hash(key)
        return max(able, key=lambda worker: worker.rank(key_hash))

    def was_live_lately(self, service: Service) -> bool:
        last = self._last_live.get(f"{service.name}-{service.version}")
        return last is not None and time.monotonic() - last < SEEN_LATELY_S

    def was_ever_live(self, service: Service) -> bool:
        return f"{service.name}-{service.version}" in self._last_live

    async def wait_for_news(self, timeout_s: float) -> None:
        """Ask again and wait until some worker answers."""
        self._news.clear()
        await self.ask()
        try:
            async with asyncio.timeout(timeout_s):
                await self._news.wait()
        except TimeoutError:
            return
