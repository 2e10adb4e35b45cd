"""A batch of visits and coverage as a device sends it, and what is plausible in it. Pure: no clock, no database."""

import math
import re
import uuid
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import msgspec
from msgspec import Meta

from onlooker.errors import bad_request
from onlooker.slots import SLOT_S
from onlooker.streams.coverage import LATEST_S, LONGEST_VERSION, fault_of, reason_of
from onlooker.streams.credentials import StreamRecord
from onlooker.streams.device_coverage import VERSIONS_PER_SLOT, DeviceRefusal, QualityTotals, SlotSums, ToldSlot
from onlooker_pipeline.face_size import FACE_BINS
from onlooker_pipeline.service_call import FACES_AT_MOST
from onlooker_pipeline.visits.intervals import INTERVALS_AT_MOST
from onlooker_pipeline.visits.visit import Interval, Visit

ITEMS_LIMIT = 500
"""Of visits, and of slots."""
VALUES_LIMIT = 40_000
"""In the whole JSON: more would keep all other requests waiting while it is read."""
LONGEST_VISIT_S = 86_400
INTERVALS_LIMIT = INTERVALS_AT_MOST + 1
"""Folding keeps to the first; the start of a visit may come as an interval of its own."""
LARGEST_REVISION = 2**31 - 1
OLDEST_YEARS = 150
FRAMES_LIMIT = 120 * SLOT_S
"""Of a slot: more than cameras give."""
SUM_LIMIT_S = 2 * SLOT_S
"""Frames count at least a thirtieth of a second, so a fast camera adds up to more than a slot lasts. That is cut off;
more than this is no rounding."""
REASONS_LIMIT = 32
_VERSION = re.compile(rf"[!-~]{{0,{LONGEST_VERSION}}}")
_GENDERS = (None, "male", "female")

Milliseconds = Annotated[int, Meta(ge=-(2**53), le=2**53)]
Pair = tuple[Milliseconds, Milliseconds]
Fault = tuple[DeviceRefusal, str]


class VisitBody(msgspec.Struct, frozen=True, kw_only=True):
    """A visit as it stands; the highest revision of an id counts."""

    id: Annotated[str, Meta(pattern="^[0-9a-fA-F]{32}$")]
    revision: int
    ended: bool = False
    present: Annotated[list[Pair], Meta(description="Unix milliseconds; the ends are exclusive")] = []
    still: list[Pair] = []
    looking: list[Pair] = []
    age: float | None = None
    age_confidence: float = 0.0
    gender: Annotated[str | None, Meta(description="`male`, `female` or null")] = None
    gender_confidence: float = 0.0
    expression: tuple[float, float, float, float, float] | None = None
    confidence: float = 0.0


class QualityBody(msgspec.Struct, frozen=True, kw_only=True):
    """How well the frames of a slot could be looked at, by what computed them."""

    models: str = ""
    pipeline: str = ""
    frames: int = 0
    video_s: float = 0.0
    dark_frames: int = 0
    face_frames: int = 0
    face_video_s: float = 0.0
    faces: Annotated[list[int], Meta(description="Faces by size, 16 bins")] = []


class CoverageBody(msgspec.Struct, frozen=True, kw_only=True):
    """What the device watched of a slot: sums since the slot began, not what is new."""

    slot: Annotated[Milliseconds, Meta(description="Number of the quarter of an hour since 1970")]
    revision: int
    watched_s: float = 0.0
    blind_s: Annotated[dict[str, float], Meta(description="Seconds by fault of the picture")] = {}
    refused: Annotated[dict[str, int], Meta(description="Frames that were not computed, by reason")] = {}
    quality: list[QualityBody] = []


class DeviceBatch(msgspec.Struct, frozen=True, kw_only=True):
    """What a device has computed and not yet handed over."""

    device: Annotated[uuid.UUID, Meta(description="Of its journal")]
    sent_at: Annotated[str, Meta(max_length=40, description="The device's clock")] = ""
    visits: Annotated[list[VisitBody], Meta(max_length=ITEMS_LIMIT)] = []
    coverage: Annotated[list[CoverageBody], Meta(max_length=ITEMS_LIMIT)] = []
    whole: Annotated[bool, Meta(description="Whether the device has nothing else that waits")] = False


_decode = msgspec.json.Decoder(DeviceBatch).decode


def decode_batch(data: bytes) -> DeviceBatch:
    """The batch, or a bad request that says what is wrong. Fields that only a newer device knows are ignored."""
    data = data.removeprefix(BOM_UTF8)
    if data.count(b",") + data.count(b"[") + data.count(b"{") > VALUES_LIMIT:
        raise bad_request(f"The batch has more than {VALUES_LIMIT} values. Send a smaller one.")
    try:
        return _decode(data)
    except RecursionError:
        raise bad_request("The JSON is nested too deep.") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise bad_request(f"{error}. /openapi.json describes a batch and its limits.") from None


@dataclass(frozen=True)
class BatchTimes:
    """Between which moments something may lie."""

    now_s: float
    retention_days: int

    @property
    def oldest_s(self) -> float:
        """The recorder deletes what began before, by whole slots."""
        return self.now_s // SLOT_S * SLOT_S - self.retention_days * 86_400

    @property
    def latest_s(self) -> float:
        return self.now_s + LATEST_S


def check_visit(told: VisitBody, times: BatchTimes) -> Fault | None:
    """Why it is refused for good; None if it is plausible."""
    wrong = next(_wrong_values(told), "")
    if wrong:
        return DeviceRefusal.BAD_VALUE, f"`{wrong}` is out of range."
    wrong = next(_wrong_intervals(told), "")
    if wrong:
        return DeviceRefusal.BAD_INTERVALS, wrong
    began_ms, end_ms = told.present[0][0], told.present[-1][1]
    if end_ms - began_ms > LONGEST_VISIT_S * 1000:
        return DeviceRefusal.TOO_LONG, "A visit lasts at most 24 hours."
    if end_ms > times.latest_s * 1000:
        return DeviceRefusal.IN_FUTURE, "It ends in the future. Set the device's clock."
    if began_ms < times.oldest_s * 1000:
        return DeviceRefusal.TOO_OLD, f"This stream keeps visits for {times.retention_days} days."
    return None


def _wrong_values(told: VisitBody) -> Iterator[str]:
    """The names of fields that are out of range. What is not a number is in no range."""
    if not 1 <= told.revision <= LARGEST_REVISION:
        yield "revision"
    if told.age is not None and not 0 <= told.age <= OLDEST_YEARS:
        yield "age"
    if told.gender not in _GENDERS:
        yield "gender"
    shares = {name: getattr(told, name) for name in ("age_confidence", "gender_confidence", "confidence")}
    yield from (name for name, share in shares.items() if not 0 <= share <= 1)
    if told.expression and not all(0 <= share <= 1 for share in told.expression):
        yield "expression"


def _wrong_intervals(told: VisitBody) -> Iterator[str]:
    """Sentences."""
    if not told.present:
        yield "`present` has no interval."
    for name in ("present", "still", "looking"):
        pairs = getattr(told, name)
        if not _are_in_order(pairs):
            yield f"`{name}` must be ascending, apart and at most {INTERVALS_LIMIT}."
        elif pairs and not told.present[0][0] <= pairs[0][0] < pairs[-1][1] <= told.present[-1][1]:
            yield f"`{name}` reaches beyond `present`."


def _are_in_order(pairs: Sequence[Interval]) -> bool:
    """Ascending, and neither empty nor touching."""
    edges = [edge for pair in pairs for edge in pair]
    return len(pairs) <= INTERVALS_LIMIT and all(one < other for one, other in pairwise(edges))


def visit_slot(told: VisitBody) -> int:
    """The number of the slot in which it began."""
    return told.present[0][0] // (SLOT_S * 1000)


def take_visit(told: VisitBody, stream: StreamRecord, *, session: str, is_open: bool) -> Visit:
    """As a worker would publish it, without what the stream has switched off."""
    return Visit(
        id=bytes.fromhex(told.id),
        stream_id=stream.id,
        session=session,
        revision=told.revision,
        ended=not is_open,
        present=list(told.present),
        still=list(told.still),
        looking=list(told.looking) if stream.reads_faces else [],
        age=told.age if stream.reads_age else None,
        age_confidence=told.age_confidence if stream.reads_age else 0.0,
        gender=told.gender if stream.reads_gender else None,
        gender_confidence=told.gender_confidence if stream.reads_gender else 0.0,
        expression=told.expression if stream.reads_expression else None,
        confidence=told.confidence,
    )


def check_slot(told: CoverageBody, times: BatchTimes) -> Fault | None:
    """Why it is refused for good; None if it is plausible."""
    wrong = next(_wrong_sums(told), None)
    if wrong:
        return DeviceRefusal.BAD_VALUE, f"`{wrong}` is out of range."
    begins_s = told.slot * SLOT_S
    if begins_s > times.now_s:
        return DeviceRefusal.IN_FUTURE, "The slot has not begun. Set the device's clock."
    if begins_s < times.oldest_s:
        return DeviceRefusal.TOO_OLD, f"This stream keeps visits for {times.retention_days} days."
    if _cut(told.watched_s + sum(told.blind_s.values())) > times.latest_s - begins_s:
        return DeviceRefusal.IN_FUTURE, "The slot has not lasted that long. Set the device's clock."
    return None


def _wrong_sums(told: CoverageBody) -> Iterator[str]:
    if not 1 <= told.revision <= LARGEST_REVISION:
        yield "revision"
    if not 0 <= told.watched_s <= SUM_LIMIT_S:
        yield "watched_s"
    blind = told.blind_s
    if not all(fault_of(fault) and 0 <= seconds <= SUM_LIMIT_S for fault, seconds in blind.items()):
        yield "blind_s"
    refused = told.refused
    if len(refused) > REASONS_LIMIT or not all(0 <= frames <= FRAMES_LIMIT for frames in refused.values()):
        yield "refused"
    versions = {(one.models, one.pipeline) for one in told.quality}
    if len(versions) < len(told.quality) or len(versions) > VERSIONS_PER_SLOT:
        yield "quality"
    if not all(map(_is_plausible, told.quality)):
        yield "quality"


def _is_plausible(told: QualityBody) -> bool:
    return (
        bool(_VERSION.fullmatch(told.models) and _VERSION.fullmatch(told.pipeline))
        and 0 <= told.frames <= FRAMES_LIMIT
        and 0 <= told.dark_frames <= told.frames
        and 0 <= told.face_frames <= told.frames
        and 0 <= told.face_video_s <= told.video_s <= SUM_LIMIT_S
        and len(told.faces) in (0, FACE_BINS)
        and all(0 <= faces <= FACES_AT_MOST * told.frames for faces in told.faces)
    )


def take_slot(told: CoverageBody) -> ToldSlot:
    """Without what is longer than the slot: what was watched comes first, as where coverage is read."""
    watched_s = _cut(told.watched_s)
    blind_s, room_s = sum(told.blind_s.values()), SLOT_S - watched_s
    part = min(1.0, room_s / blind_s) if blind_s else 0.0
    refused: dict[str, int] = {}
    for name, frames in told.refused.items():
        reason = reason_of(name).value
        refused[reason] = refused.get(reason, 0) + frames
    sums = SlotSums(
        watched_s=watched_s,
        blind_s={fault: kept_s for fault, seconds in told.blind_s.items() if (kept_s := _cut(seconds * part))},
        refused={reason: frames for reason, frames in refused.items() if frames},
        quality=[_take_quality(one) for one in told.quality],
    )
    return ToldSlot(told.slot, told.revision, sums)


def _take_quality(told: QualityBody) -> QualityTotals:
    return QualityTotals(
        told.models,
        told.pipeline,
        told.frames,
        _cut(told.video_s),
        told.dark_frames,
        told.face_frames,
        _cut(told.face_video_s),
        list(told.faces) or [0] * FACE_BINS,
    )


def _cut(seconds: float) -> float:
    """Whole milliseconds, at most a slot."""
    return math.floor(min(seconds, SLOT_S) * 1000) / 1000
