"""Meters of each stream, in a gateway or dispatcher: its month's use, its coverage, changes of its state."""

import asyncio

from onlooker.bus.messages import Reply, Task
from onlooker.database import Pool
from onlooker.settings import Settings
from onlooker.streams.coverage import CoverageMeter, Reason, reason_of
from onlooker.streams.state import StateLog
from onlooker.streams.usage import UsageMeter
from onlooker_pipeline.catalogue.service import Service

FLUSH_EVERY_S = 2.0


class StreamMeters:
    """They count in memory and are written every two seconds."""

    def __init__(self, pool: Pool, settings: Settings) -> None:
        self.usage = UsageMeter(pool)
        self.coverage = CoverageMeter(pool)
        self.states = StateLog(pool, quota_s=settings.developer_quota_s)

    def count_reply(
        self, stream_id: int, service: Service, task: Task, reply: Reply, *, is_trial: bool = False
    ) -> None:
        """Count what a worker made of a task."""
        self.usage.add(stream_id, reply.video_s, is_trial=is_trial)
        if not is_for_visits(service, task.params):
            return
        at = reply.frame_at or task.arrived_at
        code = reply.skipped or reply.error_code
        if code:
            reason = reason_of(code)
            self.coverage.add_refused(stream_id, reason, at=0.0 if reason is Reason.BAD_TIMESTAMP else at)
        else:
            self.coverage.add_computed(stream_id, reply.video_s, at=at)

    async def run(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_EVERY_S)
            await self.flush()

    async def flush(self) -> None:
        """States come last: whether a month is used up is judged by what has been written."""
        await self.usage.flush()
        await self.coverage.flush()
        await self.states.flush()


def is_for_visits(service: Service, params: dict[str, object]) -> bool:
    """Whether a frame with these fields is meant to become part of visits."""
    return service.makes_visits and params.get("store") is True
