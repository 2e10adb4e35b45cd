"""Meters of each stream, in a gateway or dispatcher: its use, coverage, quality, camera and changes of state."""

import asyncio
import logging
import time

from onlooker.bus.messages import Reply, Task
from onlooker.database import Pool
from onlooker.logs import fields
from onlooker.settings import Settings
from onlooker.streams.condition import FaultSince, PictureConditions
from onlooker.streams.coverage import CoverageMeter, QualityMeter, Reason, fault_of, reason_of
from onlooker.streams.state import StateLog
from onlooker.streams.usage import UsageMeter
from onlooker_pipeline.catalogue.service import Service
from onlooker_pipeline.service_call import PictureFault

log = logging.getLogger(__name__)

FLUSH_EVERY_S = 2.0
LIVE_WITHIN_S = 300.0
"""A frame whose own time is further from now says nothing about the camera now: it is a film, analysed later."""


class StreamMeters:
    """They count in memory and are written every two seconds."""

    def __init__(self, pool: Pool, settings: Settings) -> None:
        self.usage = UsageMeter(pool)
        self.coverage = CoverageMeter(pool)
        self.quality = QualityMeter(pool)
        self.states = StateLog(pool, quota_s=settings.developer_quota_s)
        self._conditions = PictureConditions(pool)
        self._newest_pictures: dict[int, FaultSince] = {}

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
            return
        fault = fault_of(reply.blind)
        if fault:
            self.coverage.add_blind(stream_id, fault, reply.video_s, at=at)
        else:
            self.coverage.add_computed(stream_id, reply.video_s, at=at)
            if reply.quality:
                self.quality.add_frame(stream_id, reply.quality, reply.versions, reply.video_s, at=at)
        self._note_picture(stream_id, fault, at=at)

    def _note_picture(self, stream_id: int, fault: PictureFault | None, *, at: float) -> None:
        """That a camera moved is an event; it sees."""
        now = time.time()
        shown = fault.value if fault and fault is not PictureFault.MOVED else ""
        known = self._newest_pictures.get(stream_id)
        if abs(now - at) <= LIVE_WITHIN_S and (known is None or known[0] != shown):
            self._newest_pictures[stream_id] = (shown, now)

    async def run(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_EVERY_S)
            await self.flush()

    async def flush(self) -> None:
        """States come last: whether a month is used up is judged by what has been written."""
        for flush in (
            self.usage.flush,
            self.coverage.flush,
            self._flush_pictures,
            self.quality.flush,
            self.states.flush,
        ):
            try:
                await flush()
            except Exception:  # a fault of one must stop neither the others nor the next time
                log.exception("not written", extra=fields(what=flush.__qualname__))

    async def _flush_pictures(self) -> None:
        newest, self._newest_pictures = self._newest_pictures, {}
        unwritten = await self._conditions.write(newest)
        self._newest_pictures = unwritten | self._newest_pictures


def is_for_visits(service: Service, params: dict[str, object]) -> bool:
    """Whether a frame with these fields is meant to become part of visits."""
    return service.makes_visits and params.get("store") is True
