"""`POST /services/scene_analysis/1/visits`: what a device computed by itself, in batches that may come twice."""

import asyncio
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.requests import Request
from starlette.responses import Response

from onlooker.bus.connection import publish_kept
from onlooker.bus.subjects import visits_subject
from onlooker.errors import Code, Problem, not_found
from onlooker.gateway import counters
from onlooker.gateway.bodies import InflatedLimits, read_inflated
from onlooker.gateway.context import GatewayContext, context_of, service_of, stream_of
from onlooker.gateway.meters import LIVE_WITHIN_S
from onlooker.gateway.permits import is_closed, permit_visits
from onlooker.gateway.visit_batch import (
    BatchTimes,
    DeviceBatch,
    Fault,
    VisitBody,
    check_slot,
    check_visit,
    decode_batch,
    take_slot,
    take_visit,
    visit_slot,
)
from onlooker.http.answers import json_answer
from onlooker.http.openapi import Moment
from onlooker.slots import SLOT_S
from onlooker.streams.credentials import StreamRecord
from onlooker.streams.device_coverage import (
    DeviceRefusal,
    DeviceReport,
    RecordedReport,
    SlotChange,
    ToldSlot,
    record_report,
)
from onlooker_pipeline.service_call import PictureFault
from onlooker_pipeline.visits.visit import Visit, encode_visit

LIMITS = InflatedLimits(sent_bytes=128 * 1024, inflated_bytes=1024**2, held_bytes=4 * 1024**2)
PUBLISHED_AT_ONCE = 50
"""Visits that wait for the bus together."""
_MESSAGES = {
    DeviceRefusal.TOO_MANY: "More than a camera can see in 15 minutes.",
    DeviceRefusal.QUOTA_EXCEEDED: "The month in which it was computed is used up.",
    DeviceRefusal.CLOSED: "The stream was closed then: outside its opening hours nothing is taken.",
}


class RefusedItem(msgspec.Struct, frozen=True, kw_only=True):
    """A visit or a slot that will never be taken."""

    visit: Annotated[str | UnsetType, Meta(description="Its id")] = UNSET
    slot: int | UnsetType = UNSET
    code: DeviceRefusal
    message: str


class AcceptedItems(msgspec.Struct, frozen=True):
    """How many are stored now, or were before."""

    visits: int
    coverage: int


class BatchAnswer(msgspec.Struct, frozen=True):
    """All of the batch is either kept or refused for good."""

    now: Annotated[Moment, Meta(description="The server's clock")]
    accepted: AcceptedItems
    refused: list[RefusedItem]


async def take_visits(request: Request) -> Response:
    context, stream, service = context_of(request), stream_of(request), service_of(request)
    if not service.makes_visits:
        raise not_found("resource")
    permit_visits(context, stream)
    permit_batch(context, stream)
    batch = decode_batch(await read_inflated(request, context.settings, limits=LIMITS))
    context.device_visits.charge(stream.id, len(batch.visits))
    intake = BatchIntake(context, stream, batch, BatchTimes(time.time(), stream.retention_days))
    answer = await intake.take()
    _count(answer)
    return json_answer(answer)


def permit_batch(context: GatewayContext, stream: StreamRecord) -> None:
    """Refuse, for now, a stream that sends batches too fast, or more visits than its share of the recorder."""
    context.device_batches.take(stream.id)
    owing_s = context.device_visits.owing_s(stream.id)
    if owing_s:
        limit = f"{context.device_visits.per_second:g} visits a second"
        detail = f"This stream has sent more than {limit} for a while. Wait, then go on."
        raise Problem(Code.RATE_LIMITED, detail, headers={"Retry-After": str(math.ceil(owing_s))})


@dataclass(frozen=True)
class BatchIntake:
    """One batch on its way: what is refused of it is noted, what is taken is stored."""

    context: GatewayContext
    stream: StreamRecord
    batch: DeviceBatch
    times: BatchTimes
    refused: list[RefusedItem] = field(default_factory=list)

    async def take(self) -> BatchAnswer:
        """Slots first: whether a month has room for visits depends on them."""
        slots, plausible = self._check_slots(), self._check_visits()
        recorded = await self._record(slots, plausible)
        visits = self._take_visits(plausible, recorded)
        await publish_visits(self.context, visits)
        self._note_picture(recorded.verdicts.changes)
        kept = [one for one in slots if one.number not in recorded.verdicts.refused]
        for slot, code in recorded.verdicts.refused.items():
            self._refuse((code, _MESSAGES[code]), slot=slot)
        now = datetime.fromtimestamp(self.times.now_s, UTC).isoformat(timespec="milliseconds")
        return BatchAnswer(now, AcceptedItems(len(visits), len(kept)), self.refused)

    def _refuse(self, fault: Fault, **item: Any) -> None:
        self.refused.append(RefusedItem(code=fault[0], message=fault[1], **item))

    def _check_slots(self) -> list[ToldSlot]:
        plausible = []
        for one in self.batch.coverage:
            fault = check_slot(one, self.times) or self._check_hours(one.slot * SLOT_S)
            if fault:
                self._refuse(fault, slot=one.slot)
            else:
                plausible.append(take_slot(one))
        return plausible

    def _check_hours(self, at_s: float) -> Fault | None:
        """A slot is closed or open as a whole, and a visit by when it began."""
        return (DeviceRefusal.CLOSED, _MESSAGES[DeviceRefusal.CLOSED]) if is_closed(self.stream, at_s) else None

    def _check_visits(self) -> list[VisitBody]:
        plausible = []
        for one in self.batch.visits:
            fault = check_visit(one, self.times) or self._check_hours(one.present[0][0] / 1000)
            if not fault and not self.context.new_visits.permit(self.stream.id, visit_slot(one), one.id.lower()):
                fault = DeviceRefusal.TOO_MANY, _MESSAGES[DeviceRefusal.TOO_MANY]
            if fault:
                self._refuse(fault, visit=one.id)
            else:
                plausible.append(one)
        return plausible

    async def _record(self, slots: Sequence[ToldSlot], visits: Sequence[VisitBody]) -> RecordedReport:
        quota_s = self.context.settings.developer_quota_s if self.stream.kind == "developer" else None
        began_in = frozenset(map(visit_slot, visits))
        report = DeviceReport(self.stream.id, self.batch.device, slots, began_in, quota_s, self.batch.whole)
        recorded = await record_report(self.context.pool, report)
        for month, used_s in recorded.used_s.items():
            self.context.meters.usage.note_used(self.stream.id, month, used_s)
        return recorded

    def _take_visits(self, plausible: Sequence[VisitBody], recorded: RecordedReport) -> list[Visit]:
        """An open visit that was last seen long ago is of nobody in view: it has ended, until more is told of it."""
        session = f"{self.stream.id}.device.{self.batch.device.hex}"
        live_ms = (self.times.now_s - LIVE_WITHIN_S) * 1000
        taken = []
        for one in plausible:
            if recorded.has_room(visit_slot(one)):
                is_open = not one.ended and one.present[-1][1] >= live_ms
                taken.append(take_visit(one, self.stream, session=session, is_open=is_open))
            else:
                self._refuse((DeviceRefusal.QUOTA_EXCEEDED, _MESSAGES[DeviceRefusal.QUOTA_EXCEEDED]), visit=one.id)
        return taken

    def _note_picture(self, changes: Sequence[SlotChange]) -> None:
        """Whether the camera sees now, where the device tells of now."""
        newest, now_s = max(changes, key=lambda change: change.told.number, default=None), self.times.now_s
        if newest is None or (newest.told.number + 1) * SLOT_S < now_s - LIVE_WITHIN_S:
            return
        blind = {fault: blind_s for fault, blind_s in newest.added.blind_s.items() if blind_s > 0}
        if newest.added.watched_s > 0:
            self.context.meters.note_picture(self.stream.id, None, at=now_s)
        elif blind:
            fault = PictureFault(max(blind, key=lambda fault: blind[fault]))
            self.context.meters.note_picture(self.stream.id, fault, at=now_s)


async def publish_visits(context: GatewayContext, visits: Sequence[Visit]) -> None:
    """To where workers publish theirs; returns once all are stored, raises BusError if that is not certain."""
    for first in range(0, len(visits), PUBLISHED_AT_ONCE):
        some = visits[first : first + PUBLISHED_AT_ONCE]
        kept = (publish_kept(context.bus, visits_subject(one.stream_id), encode_visit(one)) for one in some)
        await asyncio.gather(*kept)


def _count(answer: BatchAnswer) -> None:
    counters.device_items("visit", "accepted").inc(answer.accepted.visits)
    counters.device_items("slot", "accepted").inc(answer.accepted.coverage)
    for one in answer.refused:
        counters.device_items("slot" if one.visit is UNSET else "visit", one.code.value).inc()
