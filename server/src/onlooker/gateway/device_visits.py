"""`POST /services/scene_analysis/1/visits`: what a device computed by itself, in batches that may come twice."""

import asyncio
import math
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

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
from onlooker.gateway.permits import permit_visits
from onlooker.gateway.visit_batch import (
    BatchTimes,
    Fault,
    VisitBatch,
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
    refused = list[RefusedItem]()
    times = BatchTimes(time.time(), stream.retention_days)
    slots = _check_slots(batch, times, refused)
    plausible = _check_visits(context, stream, batch, times, refused)
    recorded = await _record(context, stream, batch, slots, plausible)
    visits = _take_visits(stream, batch, plausible, recorded, times, refused)
    await publish_visits(context, visits)
    refused += [_refuse_slot(slot, (code, _MESSAGES[code])) for slot, code in recorded.verdicts.refused.items()]
    _note_pictures(context, stream, recorded.verdicts.changes, times.now_s)
    kept = [one for one in slots if one.number not in recorded.verdicts.refused]
    accepted = AcceptedItems(len(visits), len(kept))
    _count(accepted, refused)
    now = datetime.fromtimestamp(times.now_s, UTC).isoformat(timespec="milliseconds")
    return json_answer(BatchAnswer(now, accepted, refused))


def permit_batch(context: GatewayContext, stream: StreamRecord) -> None:
    """Refuse, for now, a stream that sends batches too fast, or more visits than its share of the recorder."""
    context.device_batches.take(stream.id)
    owing_s = context.device_visits.owing_s(stream.id)
    if owing_s:
        limit = f"{context.device_visits.per_second:g} visits a second"
        detail = f"This stream has sent more than {limit} for a while. Wait, then go on."
        raise Problem(Code.RATE_LIMITED, detail, headers={"Retry-After": str(math.ceil(owing_s))})


def _check_slots(batch: VisitBatch, times: BatchTimes, refused: list[RefusedItem]) -> list[ToldSlot]:
    taken = []
    for one in batch.coverage:
        fault = check_slot(one, times)
        if fault:
            refused.append(_refuse_slot(one.slot, fault))
        else:
            taken.append(take_slot(one))
    return taken


def _check_visits(
    context: GatewayContext, stream: StreamRecord, batch: VisitBatch, times: BatchTimes, refused: list[RefusedItem]
) -> list[VisitBody]:
    plausible = []
    for one in batch.visits:
        fault = check_visit(one, times)
        if not fault and not context.new_visits.permit(stream.id, visit_slot(one), one.id.lower()):
            fault = DeviceRefusal.TOO_MANY, _MESSAGES[DeviceRefusal.TOO_MANY]
        if fault:
            refused.append(_refuse_visit(one, fault))
        else:
            plausible.append(one)
    return plausible


async def _record(
    context: GatewayContext,
    stream: StreamRecord,
    batch: VisitBatch,
    slots: Sequence[ToldSlot],
    visits: Sequence[VisitBody],
) -> RecordedReport:
    quota_s = context.settings.developer_quota_s if stream.kind == "developer" else None
    report = DeviceReport(stream.id, batch.device, slots, frozenset(map(visit_slot, visits)), quota_s)
    recorded = await record_report(context.pool, report)
    for month, used_s in recorded.used_s.items():
        context.meters.usage.note_used(stream.id, month, used_s)
    return recorded


def _take_visits(
    stream: StreamRecord,
    batch: VisitBatch,
    plausible: Sequence[VisitBody],
    recorded: RecordedReport,
    times: BatchTimes,
    refused: list[RefusedItem],
) -> list[Visit]:
    """An open visit that was last seen long ago is of nobody in view: it counts as ended until more is told of it."""
    session = f"{stream.id}.device.{batch.device.hex}"
    live_ms = (times.now_s - LIVE_WITHIN_S) * 1000
    taken = []
    for one in plausible:
        if recorded.has_room(visit_slot(one)):
            is_open = not one.ended and one.present[-1][1] >= live_ms
            taken.append(take_visit(one, stream, session=session, is_open=is_open))
        else:
            fault = DeviceRefusal.QUOTA_EXCEEDED, _MESSAGES[DeviceRefusal.QUOTA_EXCEEDED]
            refused.append(_refuse_visit(one, fault))
    return taken


async def publish_visits(context: GatewayContext, visits: Sequence[Visit]) -> None:
    """To where workers publish theirs; returns once all are stored, raises BusError if that is not certain."""
    for first in range(0, len(visits), PUBLISHED_AT_ONCE):
        some = visits[first : first + PUBLISHED_AT_ONCE]
        kept = (publish_kept(context.bus, visits_subject(one.stream_id), encode_visit(one)) for one in some)
        await asyncio.gather(*kept)


def _note_pictures(
    context: GatewayContext, stream: StreamRecord, changes: Sequence[SlotChange], now_s: float
) -> None:
    """Whether the camera sees now, where a device tells what it sees now."""
    newest = max(changes, key=lambda change: change.told.number, default=None)
    if newest is None or (newest.told.number + 1) * SLOT_S < now_s - LIVE_WITHIN_S:
        return
    blind = {fault: blind_s for fault, blind_s in newest.added.blind_s.items() if blind_s > 0}
    if newest.added.watched_s > 0:
        context.meters.note_picture(stream.id, None, at=now_s)
    elif blind:
        context.meters.note_picture(stream.id, PictureFault(max(blind, key=lambda fault: blind[fault])), at=now_s)


def _refuse_slot(slot: int, fault: Fault) -> RefusedItem:
    return RefusedItem(slot=slot, code=fault[0], message=fault[1])


def _refuse_visit(told: VisitBody, fault: Fault) -> RefusedItem:
    return RefusedItem(visit=told.id, code=fault[0], message=fault[1])


def _count(accepted: AcceptedItems, refused: Sequence[RefusedItem]) -> None:
    counters.device_items("visit", "accepted").inc(accepted.visits)
    counters.device_items("slot", "accepted").inc(accepted.coverage)
    for one in refused:
        counters.device_items("slot" if one.visit is UNSET else "visit", one.code.value).inc()
