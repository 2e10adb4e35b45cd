"""Meters of each stream, in a gateway or dispatcher: its use, coverage, quality, camera and changes of state."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

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

CHECK_EVERY_S = 2.0
"""How long a first frame, a change or a stream near its quota waits to be written."""
LIVE_WITHIN_S = 300.0
"""A frame whose own time is further from now says nothing about the camera now: it is a film, analysed later."""


class StreamMeters:
    """They count in memory. Sums are written from time to time; what is new, or near a quota, within two seconds."""

    def __init__(self, pool: Pool, settings: Settings) -> None:
        self._every_s = settings.meters_every_s
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
        self.note_picture(stream_id, fault, at=at)

    def note_picture(self, stream_id: int, fault: PictureFault | None, *, at: float) -> None:
        """That a camera moved is an event; it sees."""
        now = time.time()
        shown = fault.value if fault and fault is not PictureFault.MOVED else ""
        known = self._newest_pictures.get(stream_id)
        if abs(now - at) <= LIVE_WITHIN_S and (known is None or known[0] != shown):
            self._newest_pictures[stream_id] = (shown, now)

    async def run(self) -> None:
        written_at = time.monotonic()
        while True:
            await asyncio.sleep(CHECK_EVERY_S)
            if time.monotonic() - written_at >= self._every_s - CHECK_EVERY_S / 2:
                written_at = time.monotonic()
                await self.flush()
            else:
                await self.flush_urgent()

    async def flush(self) -> None:
        """States come last: whether a month is used up is judged by what has been written."""
        sums = (self.usage.flush, self.coverage.flush, self.quality.flush)
        await _flush_each(*sums, self._flush_pictures, self.states.flush)

    async def flush_urgent(self) -> None:
        """Write what must not wait, in the same order."""
        sums = (self.usage.flush_urgent, self.coverage.flush_urgent, self.quality.flush_urgent)
        await _flush_each(*sums, self._flush_pictures, self.states.flush)

    async def _flush_pictures(self) -> None:
        newest, self._newest_pictures = self._newest_pictures, {}
        unwritten = await self._conditions.write(newest)
        self._newest_pictures = unwritten | self._newest_pictures


async def _flush_each(*flushes: Callable[[], Awaitable[None]]) -> None:
    for flush in flushes:
        try:
            await flush()
        except Exception:  # a fault of one must stop neither the others nor the next time
            log.exception("not written", extra=fields(what=getattr(flush, "__qualname__", repr(flush))))


def is_for_visits(service: Service, params: dict[str, object]) -> bool:
    """Whether a frame with these fields is meant to become part of visits."""
    return service.makes_visits and params.get("store") is True
