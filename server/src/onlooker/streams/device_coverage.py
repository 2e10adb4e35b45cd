"""What devices computed by themselves, slot by slot: only what is new of it is added to coverage, quality and use."""

import enum
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

import msgspec
from psycopg import AsyncConnection
from psycopg.rows import DictRow

from onlooker.database import Pool, load_queries
from onlooker.slots import SLOT_S
from onlooker.streams.coverage import QUALITY_COLUMNS, array_text, columns_by_name
from onlooker.streams.video_time import month_of
from onlooker_pipeline.versions import Versions

DEVICES_PER_SLOT = 8
"""A stream is one camera. A device that was replaced or lost its journal has another name, seldom twice in a slot."""
VERSIONS_PER_SLOT = 4
"""Of models and pipeline together, that a device may name for a slot over all revisions: each is a row of its own."""

_queries = load_queries("onlooker.streams")


class DeviceRefusal(enum.StrEnum):
    """Why something that a device computed is not taken, now or later. A closed list: devices count by it."""

    TOO_OLD = "too_old"
    """Beyond the stream's retention."""
    IN_FUTURE = "in_future"
    BAD_INTERVALS = "bad_intervals"
    TOO_LONG = "too_long"
    TOO_MANY = "too_many"
    QUOTA_EXCEEDED = "quota_exceeded"
    CLOSED = "closed"
    """Outside the stream's opening hours."""
    BAD_VALUE = "bad_value"


class QualityTotals(msgspec.Struct, frozen=True, array_like=True):
    """How well the frames of a slot could be looked at, by what computed them."""

    models: str
    pipeline: str
    frames: int
    video_s: float
    dark_frames: int
    face_frames: int
    face_video_s: float
    faces: list[int]
    """By bin."""

    @property
    def versions(self) -> Versions:
        return Versions(self.models, self.pipeline)

    def minus(self, known: "QualityTotals") -> "QualityTotals":
        return QualityTotals(
            self.models,
            self.pipeline,
            self.frames - known.frames,
            self.video_s - known.video_s,
            self.dark_frames - known.dark_frames,
            self.face_frames - known.face_frames,
            self.face_video_s - known.face_video_s,
            [one - other for one, other in zip(self.faces, known.faces, strict=True)],
        )

    def nothing(self) -> "QualityTotals":
        """The same versions without frames."""
        return QualityTotals(self.models, self.pipeline, 0, 0.0, 0, 0, 0.0, [0] * len(self.faces))


class SlotSums(msgspec.Struct, frozen=True):
    """All that is added up of a slot. Keys are text: an earlier release may not know what a later one stored."""

    watched_s: float = 0.0
    blind_s: dict[str, float] = {}
    refused: dict[str, int] = {}
    quality: list[QualityTotals] = []

    @property
    def video_s(self) -> float:
        """What counts towards the month."""
        return self.watched_s + sum(self.blind_s.values())

    @property
    def versions(self) -> set[Versions]:
        return {one.versions for one in self.quality}

    def minus(self, known: "SlotSums") -> "SlotSums":
        """What is new; below zero where a sum shrank, but never below what was added for `known`."""
        before = {one.versions: one for one in known.quality}
        now = {one.versions: one for one in self.quality}
        both = {**before, **now}
        return SlotSums(
            self.watched_s - known.watched_s,
            {
                key: self.blind_s.get(key, 0.0) - known.blind_s.get(key, 0.0)
                for key in {**known.blind_s, **self.blind_s}
            },
            {key: self.refused.get(key, 0) - known.refused.get(key, 0) for key in {**known.refused, **self.refused}},
            [now.get(key, one.nothing()).minus(before.get(key, one.nothing())) for key, one in both.items()],
        )


@dataclass(frozen=True)
class ToldSlot:
    """A slot as a device tells it."""

    number: int
    """Since 1970."""
    revision: int
    sums: SlotSums


@dataclass(frozen=True)
class KnownSlot:
    """What is stored of it."""

    revision: int = 0
    counted_s: float = 0.0
    sums: SlotSums = field(default_factory=SlotSums)


@dataclass(frozen=True)
class SlotChange:
    """A revision that is taken."""

    told: ToldSlot
    sums: SlotSums
    """To be stored: versions that were told before stay, with nothing."""
    counted_s: float
    added: SlotSums
    added_s: float
    """To the month."""


@dataclass(frozen=True)
class SlotVerdicts:
    """What becomes of the slots of a batch."""

    changes: list[SlotChange]
    refused: dict[int, DeviceRefusal]
    """By number. Slots that are neither changed nor refused were known already."""


@dataclass(frozen=True)
class StoredSlots:
    """What the database knows before a batch."""

    known: Mapping[int, KnownSlot]
    """Of the device itself, by number."""
    others: Mapping[int, int]
    """How many other devices told something of a slot."""
    used_s: dict[date, float]
    """Of the months in question."""


def judge_slots(told: Iterable[ToldSlot], stored: StoredSlots, *, quota_s: float | None) -> SlotVerdicts:
    """Oldest slots first, as they were computed; the highest revision of each. A month is filled up to its quota."""
    newest: dict[int, ToldSlot] = {}
    for one in sorted(told, key=lambda one: (one.number, one.revision)):
        newest[one.number] = one
    used_s, verdicts = dict(stored.used_s), SlotVerdicts([], {})
    for number, one in newest.items():
        known = stored.known.get(number, KnownSlot())
        if one.revision <= known.revision:
            continue
        change = _change_of(one, known)
        month = month_of(number * SLOT_S)
        is_another = not known.revision and stored.others.get(number, 0) >= DEVICES_PER_SLOT
        if is_another or len(change.sums.quality) > VERSIONS_PER_SLOT:
            verdicts.refused[number] = DeviceRefusal.TOO_MANY
        elif quota_s is not None and change.added_s and used_s.get(month, 0.0) >= quota_s:
            verdicts.refused[number] = DeviceRefusal.QUOTA_EXCEEDED
        else:
            used_s[month] = used_s.get(month, 0.0) + change.added_s
            verdicts.changes.append(change)
    return verdicts


def _change_of(told: ToldSlot, known: KnownSlot) -> SlotChange:
    gone = [one.nothing() for one in known.sums.quality if one.versions not in told.sums.versions]
    sums = msgspec.structs.replace(told.sums, quality=[*told.sums.quality, *gone])
    counted_s = max(known.counted_s, sums.video_s)
    return SlotChange(told, sums, counted_s, sums.minus(known.sums), counted_s - known.counted_s)


@dataclass(frozen=True)
class DeviceReport:
    """What a batch says of slots, and in which slots its visits began."""

    stream_id: int
    device: uuid.UUID
    slots: Sequence[ToldSlot]
    visit_slots: frozenset[int]
    quota_s: float | None
    """None: no limit."""
    whole: bool = False
    """Whether the device had nothing else."""


@dataclass(frozen=True)
class RecordedReport:
    """What became of it."""

    verdicts: SlotVerdicts
    taken: frozenset[int]
    """Slots of which the device's coverage is stored, now or before."""
    used_s: Mapping[date, float]
    """Of the months in question, afterwards."""
    quota_s: float | None

    def has_room(self, slot: int) -> bool:
        """Whether visits of a slot are taken: its month has some of its quota left, or what was watched is taken."""
        used_s = self.used_s.get(month_of(slot * SLOT_S), 0.0)
        return self.quota_s is None or used_s < self.quota_s or slot in self.taken


async def record_report(pool: Pool, report: DeviceReport) -> RecordedReport:
    """In one transaction, one batch of a stream at a time: sent again, it changes nothing."""
    async with pool.connection() as connection, connection.transaction():
        await connection.execute(_queries["lock_stream"], {"stream_id": report.stream_id})
        stored = await _read_stored(connection, report)
        verdicts = judge_slots(report.slots, stored, quota_s=report.quota_s)
        if verdicts.changes:
            await _write_changes(connection, report, verdicts.changes)
        used_s = await _add_use(connection, report, verdicts)
    taken = {*stored.known, *(change.told.number for change in verdicts.changes)}
    return RecordedReport(verdicts, frozenset(taken), {**stored.used_s, **used_s}, report.quota_s)


async def _read_stored(connection: AsyncConnection[DictRow], report: DeviceReport) -> StoredSlots:
    wanted = {one.number for one in report.slots} | (report.visit_slots if report.quota_s is not None else set())
    months = {month_of(number * SLOT_S) for number in wanted}
    values = {"stream_id": report.stream_id, "slots": list(wanted), "months": list(months)}
    known: dict[int, KnownSlot] = {}
    others: dict[int, int] = {}
    for row in await (await connection.execute(_queries["read_device_slots"], values)).fetchall():
        if row["device"] == report.device:
            sums = msgspec.convert({**row["sums"], "watched_s": row["watched_s"]}, SlotSums)
            known[row["slot"]] = KnownSlot(row["revision"], row["counted_s"], sums)
        else:
            others[row["slot"]] = others.get(row["slot"], 0) + 1
    used = await (await connection.execute(_queries["read_usage"], values)).fetchall()
    return StoredSlots(known, others, {row["month"]: row["video_s"] for row in used})


async def _write_changes(
    connection: AsyncConnection[DictRow], report: DeviceReport, changes: Sequence[SlotChange]
) -> None:
    """In the order in which meters write, so that neither waits for the other."""
    rows = [
        (one.told.number, one.told.revision, one.sums.watched_s, one.counted_s, _encode_sums(one.sums))
        for one in changes
    ]
    values = columns_by_name(rows, "slots", "revisions", "watched_s", "counted_s", "sums")
    whose = {"stream_id": report.stream_id, "device": report.device, "whole": report.whole}
    await connection.execute(_queries["put_device_slots"], {**values, **whose})
    for name, added in _added_rows(report.stream_id, changes).items():
        if added:
            await connection.execute(_queries[name], columns_by_name(added, *_ADDED_COLUMNS[name]))


_ADDED_COLUMNS = {
    "add_coverage": ("stream_ids", "slots", "video_s"),
    "add_blindness": ("stream_ids", "slots", "faults", "video_s"),
    "add_refusals": ("stream_ids", "slots", "reasons", "frames"),
    "add_quality": QUALITY_COLUMNS,
}
"""The queries that add to what meters write, and their values."""


def _added_rows(stream_id: int, changes: Sequence[SlotChange]) -> dict[str, list[tuple[object, ...]]]:
    """By query, in the order in which meters write."""
    rows: dict[str, list[tuple[object, ...]]] = {name: [] for name in _ADDED_COLUMNS}
    coverage, blind, refused, quality = rows.values()
    for change in changes:
        slot, added = (stream_id, change.told.number), change.added
        coverage += [(*slot, added.watched_s)] if added.watched_s else []
        blind += [(*slot, fault, blind_s) for fault, blind_s in added.blind_s.items() if blind_s]
        refused += [(*slot, reason, frames) for reason, frames in added.refused.items() if frames]
        for one in added.quality:
            sums = (one.frames, one.video_s, one.dark_frames, one.face_frames, one.face_video_s)
            if any((*sums, *one.faces)):
                quality.append((*slot, *one.versions, *sums, array_text(one.faces)))
    return rows


def _encode_sums(sums: SlotSums) -> str:
    members = msgspec.structs.asdict(sums)
    del members["watched_s"]  # a column of its own
    return msgspec.json.encode(members).decode()


async def _add_use(
    connection: AsyncConnection[DictRow], report: DeviceReport, verdicts: SlotVerdicts
) -> dict[date, float]:
    """Each second counts towards the month in which it was computed; what comes shows that a camera is there."""
    if not verdicts.changes and not report.visit_slots:
        return {}
    added_s = {month_of(time.time()): 0.0}
    for change in verdicts.changes:
        month = month_of(change.told.number * SLOT_S)
        added_s[month] = added_s.get(month, 0.0) + change.added_s
    rows = [(report.stream_id, month, video_s, True) for month, video_s in added_s.items()]
    values = columns_by_name(rows, "stream_ids", "months", "video_s", "seen")
    found = await (await connection.execute(_queries["add_usage"], values)).fetchall()
    return {row["month"]: row["video_s"] for row in found}
