"""Getting a job computed: choose a worker, send, and send once more when it dies."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass, field

from msgspec.structs import replace

from onlooker.bus.connection import Bus, BusLost, NoAnswer, NobodyThere
from onlooker.bus.messages import Outcome, Reply, Task, encode_task, failure
from onlooker.errors import Problem, overloaded
from onlooker.gateway import counters
from onlooker.gateway.engine.exchange import Exchange, WorkerDied
from onlooker.gateway.engine.suspects import Suspects
from onlooker.gateway.engine.workers import LiveWorker, Workers
from onlooker_pipeline.catalogue.service import Service

DEATHS_LIMIT = 2
"""A job on which two computing processes ended is not tried a third time."""
LOST_WORKERS_LIMIT = 4
"""A worker decodes nothing, so its death is hardly the fault of its jobs; still, no job goes on without end."""
BROUGHT_DOWN = "The computation brought its process down, twice. Try another input."
WAIT_FOR_WORKER_S = 15.0
"""For one that was live lately. On a busy machine a worker takes up to ten seconds to start again."""
WAIT_FOR_BUS_S = 15.0
"""A bus of three servers takes up to seven seconds to choose a new leader of a stream."""
PAUSE_S = 0.2


@dataclass
class Avoided:
    """Workers that did not do a job, and so do not get it again."""

    refused_by: set[str] = field(default_factory=set)
    silent_since: dict[str, float] = field(default_factory=dict)

    @property
    def instances(self) -> set[str]:
        return self.refused_by | self.silent_since.keys()

    def still_silent(self, live: list[LiveWorker]) -> set[str]:
        """All but those that have answered since: they were slow, not dead, and there may be no other."""
        seen_at = {worker.instance: worker.seen_at for worker in live}
        silent = {one for one, since in self.silent_since.items() if seen_at.get(one, 0.0) <= since}
        return self.refused_by | silent

    def clear(self) -> None:
        self.refused_by.clear()
        self.silent_since.clear()


async def _not_counted() -> None:
    """The count of a job that ends with its request."""


class Engine:
    """The one way to compute a job, for gateways and dispatchers alike."""

    def __init__(self, bus: Bus, workers: Workers, exchange: Exchange, suspects: Suspects) -> None:
        self.bus = bus
        self._workers = workers
        self._exchange = exchange
        self._suspects = suspects

    async def run(
        self,
        service: Service,
        task: Task,
        *,
        deaths: int = 0,
        count_death: Callable[[], Awaitable[None]] = _not_counted,
    ) -> Reply:
        """The reply; raises an `overloaded` problem where there is no capacity.

        `deaths` is how many processes ended on this job before; `count_death` keeps count where the job outlives us.
        All jobs that such a process had are suspects.
        """
        avoided = Avoided()
        not_kept_since: float | None = None
        lost_workers = 0
        while True:
            try:
                async with self._suspects.turn(task.deadline) if deaths else nullcontext():
                    reply = await self._try_once(service, task, avoided)
            except NobodyThere:
                continue
            except WorkerDied:
                counters.resends("worker_died").inc()
                lost_workers += 1
                if lost_workers >= LOST_WORKERS_LIMIT:
                    return _failed("worker_died", "The workers that had this job died, one after the other. Try again.")
            except BusLost:
                counters.resends("bus_lost").inc()
                await self._await_bus()
                avoided.clear()
            except NoAnswer:
                return _failed("time_limit", "The computation took longer than its time limit.")
            else:
                if reply.outcome is Outcome.DONE:
                    return reply
                if reply.outcome is Outcome.KILLED:
                    counters.resends("process_ended").inc()
                    deaths += 1
                    await count_death()
                    if deaths >= DEATHS_LIMIT:
                        return _failed("worker_died", BROUGHT_DOWN)
                elif reply.outcome is Outcome.NOT_KEPT:
                    not_kept_since = not_kept_since or time.monotonic()
                    await self._pause(not_kept_since)
                else:
                    self._handle_refusal(service, task, reply, avoided)

    async def _try_once(self, service: Service, task: Task, avoided: Avoided) -> Reply:
        """One worker's reply; a worker that took the job and does not give one is avoided from now on."""
        worker = await self._choose(service, task, avoided)
        subject = worker.subject_of(service)
        assert subject
        timeout_s = task.deadline - time.time()
        payload = encode_task(replace(task, left_s=timeout_s))
        try:
            reply = await self._exchange.send(subject, payload, instance=worker.instance, timeout_s=timeout_s)
        except NobodyThere:
            self._workers.remove(worker.instance)  # until it answers: after the bus was lost we may be back before it
            raise
        except WorkerDied:
            self._workers.remove(worker.instance)
            avoided.silent_since[worker.instance] = time.monotonic()
            raise
        if reply.outcome not in (Outcome.DONE, Outcome.NOT_KEPT, Outcome.KILLED):
            avoided.refused_by.add(worker.instance)
        return reply

    def _handle_refusal(self, service: Service, task: Task, reply: Reply, avoided: Avoided) -> None:
        """Another worker may take what this one can't, except a session's job: it would overtake those that wait."""
        if reply.outcome is Outcome.LEAVING:
            counters.resends("worker_left").inc()
        elif task.session or not self._workers.choose(service, task.id, besides=avoided.instances):
            raise overloaded(f"Every place to compute {service.name} is taken. Send less, or add workers.")

    async def _pause(self, since: float) -> None:
        """Before the same job goes to the same worker again: its session's state could not be kept."""
        counters.resends("state_not_kept").inc()
        if time.monotonic() > since + WAIT_FOR_BUS_S:
            raise overloaded("The session's state could not be kept. Send the request again.")
        await asyncio.sleep(PAUSE_S)

    async def _choose(self, service: Service, task: Task, avoided: Avoided) -> LiveWorker:
        give_up_at = time.monotonic() + WAIT_FOR_WORKER_S
        while True:
            key = task.session or task.id
            worker = self._workers.choose(service, key, besides=avoided.instances)
            worker = worker or self._workers.choose(service, key, besides=avoided.still_silent(self._workers.live()))
            if worker:
                return worker
            left_s = min(give_up_at, time.monotonic() + task.deadline - time.time()) - time.monotonic()
            if left_s <= 0 or not self._workers.was_live_lately(service):
                raise no_worker(service)
            await self._workers.wait_for_news(min(left_s, 0.25))

    async def _await_bus(self) -> None:
        give_up_at = time.monotonic() + WAIT_FOR_BUS_S
        while not self.bus.is_connected:
            if time.monotonic() > give_up_at:
                raise overloaded("The bus is unavailable. Try again in a moment.", retry_after_s=2)
            await asyncio.sleep(0.05)


def no_worker(service: Service) -> Problem:
    return overloaded(
        f"No live worker hosts {service.name} version {service.version}. "
        "Its resource in the directory says when one is live.",
        retry_after_s=2,
    )


def _failed(code: str, sentence: str) -> Reply:
    return Reply(Outcome.DONE, failure(code, sentence), code)
