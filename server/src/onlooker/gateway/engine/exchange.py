"""Sending tasks to workers: one that dies fails its tasks at once, a slow one is waited for."""

import asyncio
import time

from onlooker.bus.connection import Bus, BusError, BusLost, NoAnswer, NobodyThere
from onlooker.bus.messages import Reply, decode_reply
from onlooker.bus.subjects import ping_subject

PROBE_EVERY_S = 0.25
PROBE_TIMEOUT_S = 1.2
"""A worker that does not answer for this long counts as dead; with the wait before it, under 2 s."""


class WorkerDied(BusError):
    """The worker that took the task is gone, or answers nothing at all."""


class Exchange:
    """Sends tasks to workers and hands back replies."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._probes: dict[str, asyncio.Task[None]] = {}

    async def send(self, subject: str, payload: bytes, *, instance: str, timeout_s: float) -> Reply:
        """The reply; raises NobodyThere (not taken), WorkerDied, BusLost, or NoAnswer (alive, but overdue)."""
        answer = await self._bus.ask(subject, payload, timeout_s=timeout_s, about=instance)
        return decode_reply(answer.data)

    async def watch(self) -> None:
        """Probe workers whose answers take long, until cancelled."""
        while True:
            await asyncio.sleep(PROBE_EVERY_S)
            since = time.monotonic() - PROBE_EVERY_S
            slow = {question.about for question in self._bus.waiting() if question.asked_at < since}
            for instance in slow - self._probes.keys() - {""}:
                self._probes[instance] = probe = asyncio.create_task(self._probe(instance))
                probe.add_done_callback(lambda _, instance=instance: self._probes.pop(instance))  # type: ignore[misc]

    async def _probe(self, instance: str) -> None:
        """Ask a worker whether it lives; the bus itself says so when its connection is closed."""
        asked_at = time.monotonic()
        try:
            await self._bus.ask(ping_subject(instance), timeout_s=PROBE_TIMEOUT_S)
        except (NobodyThere, NoAnswer):
            for question in self._bus.waiting():
                if question.about == instance and question.asked_at < asked_at:
                    question.fail(WorkerDied())
        except BusLost:
            return  # everything that waits has failed already
