"""Health of devices: what they report each minute, stored for a day, and read as a day."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

import msgspec
from django.db import connection
from django.utils import timezone
from msgspec import Meta

from onlooker.database import load_queries
from onlooker.devices.configuration import (
    LONGEST_REASON,
    NOTHING_SET,
    Level,
    offered_document,
    report_configuration,
    write_versions,
)
from onlooker.devices.models import Device, DeviceHealth

REPORT_EVERY_S = 60
REASONS_AT_MOST = 40
"""For which frames are dropped; the agent has about a dozen."""
KEPT = timedelta(days=1)

_queries = load_queries("onlooker.devices")

Word = Annotated[str, Meta(max_length=40)]
Line = Annotated[str, Meta(max_length=500)]
Count = Annotated[int, Meta(ge=0, le=2**53)]
Amount = Annotated[float, Meta(ge=0, le=1e12)]


class CameraHealth(msgspec.Struct, frozen=True):
    """What the agent says of its camera."""

    name: Line = ""
    state: Word = ""
    since_s: Amount = 0.0


class FrameTotals(msgspec.Struct, frozen=True):
    """Since the agent started."""

    grabbed: Count = 0
    answered: Count = 0


class LineHealth(msgspec.Struct, frozen=True):
    """The way to the server."""

    latency_ms: Amount | None = None
    kbytes_s: Amount | None = None


class JournalHealth(msgspec.Struct, frozen=True):
    """Of a device that computes by itself."""

    waiting: Count = 0
    bytes: Count = 0
    lost: Count = 0


class ConfigurationReport(msgspec.Struct, frozen=True):
    """What became of a version."""

    etag: Annotated[str, Meta(max_length=24)] = ""
    state: Literal["", "trying", "applied", "refused", "rolled_back"] = ""
    reason: Annotated[str, Meta(max_length=1000)] = ""


class Health(msgspec.Struct, frozen=True):
    """A report. Members that are not known are ignored: agents may be newer."""

    version: Line = ""
    machine: Line = ""
    uptime_s: Amount = 0.0
    state: Annotated[Word, Meta(description="The agent's own word for how it is")] = ""
    camera: CameraHealth = CameraHealth()
    frames: FrameTotals = FrameTotals()
    dropped: Annotated[dict[Word, Count], Meta(max_length=REASONS_AT_MOST, description="Frames by reason")] = {}
    light: Annotated[float, Meta(ge=0, le=255, description="Mean luma of the picture")] | None = None
    condition: Annotated[Word, Meta(description="Of the picture: fine, black, frozen, no_frame")] = ""
    temperature_c: Annotated[float, Meta(ge=-273, le=1000)] | None = None
    disk_free_mb: Amount | None = None
    disk_total_mb: Amount | None = None
    memory_mb: Amount | None = None
    clock_off_s: Annotated[float, Meta(ge=-1e12, le=1e12)] | None = None
    line: LineHealth | None = None
    journal: JournalHealth | None = None
    configuration: ConfigurationReport | None = None


@dataclass(frozen=True)
class RecordedHealth:
    """What the database says to a report."""

    device_id: int
    is_revoked: bool
    etag: str
    """Of the document that is offered now."""
    news: str = ""
    """What became of a version, if this report is the first to say so."""


def record_health(key_sha256: bytes, health: Health) -> RecordedHealth | None:
    """In one statement, unless something changed. None where no device has this key."""
    reported = health.configuration or ConfigurationReport()
    reason = printable(reported.reason, LONGEST_REASON)
    with connection.cursor() as cursor:
        cursor.execute(_queries["record_health"], _values(key_sha256, health, reported, reason))
        row = cursor.fetchone()
    if row is None:
        return None
    device_id, is_revoked, is_current, etag, is_news = row
    if is_revoked:
        return RecordedHealth(device_id, True, "")
    news = reported.state if is_news and report_configuration(device_id, reported.etag, reported.state, reason) else ""
    if not is_current:
        write_versions([device_id], Level.STREAM)
    if news or not is_current:
        etag = offered_document(device_id).etag
    return RecordedHealth(device_id, False, etag or NOTHING_SET.etag, news)


def printable(text: str, longest: int) -> str:
    """What a page may show, on one line."""
    return "".join(one for one in text if one.isprintable()).strip()[:longest]


def _values(key_sha256: bytes, health: Health, reported: ConfigurationReport, reason: str) -> dict[str, Any]:
    line, journal = health.line or LineHealth(), health.journal
    dropped = {printable(name, 40): count for name, count in health.dropped.items()}
    return {
        "key_sha256": key_sha256,
        "version": printable(health.version, 40),
        "machine": printable(health.machine, 100),
        "uptime_s": health.uptime_s,
        "state": printable(health.state, 40),
        "condition": printable(health.condition, 40),
        "camera_name": printable(health.camera.name, 100),
        "camera_state": printable(health.camera.state, 40),
        "configuration_etag": printable(reported.etag, 24),
        "configuration_state": reported.state,
        "configuration_reason": reason,
        "health": _printable_json(health),
        "grabbed": health.frames.grabbed,
        "answered": health.frames.answered,
        "dropped": msgspec.json.encode(dropped).decode(),
        **{name: getattr(health, name) for name in _OF_THE_BOX},
        "latency_ms": line.latency_ms,
        "kbytes_s": line.kbytes_s,
        "journal_waiting": journal.waiting if journal else None,
        "journal_bytes": journal.bytes if journal else None,
        "journal_lost": journal.lost if journal else None,
    }


_OF_THE_BOX = ("light", "temperature_c", "disk_free_mb", "disk_total_mb", "memory_mb", "clock_off_s")


def _printable_json(health: Health) -> str:
    """The database takes no NUL in JSON."""
    return msgspec.json.encode(health).decode().replace("\\u0000", "")


@dataclass(frozen=True)
class HealthMinute:
    """A report, with counts as rates of the time since the one before."""

    at: datetime
    uptime_s: float
    state: str
    condition: str
    grabbed_s: float | None
    """Frames a second; None where that is not known."""
    answered_s: float | None
    dropped: dict[str, int]
    """Frames since the report before, by reason."""
    light: float | None
    temperature_c: float | None
    disk_free_mb: float | None
    disk_total_mb: float | None
    memory_mb: float | None
    clock_off_s: float | None
    latency_ms: float | None
    kbytes_s: float | None
    journal_waiting: int | None
    journal_bytes: int | None
    journal_lost: int | None


_AS_THEY_ARE = (
    *("at", "uptime_s", "state", "condition", *_OF_THE_BOX, "latency_ms", "kbytes_s"),
    *("journal_waiting", "journal_bytes", "journal_lost"),
)


def read_day(device: Device, now: datetime | None = None) -> list[HealthMinute]:
    """Reports of the last 24 hours, oldest first; minutes without a report are missing."""
    since = (now or timezone.now()) - KEPT
    rows = list(DeviceHealth.objects.filter(device=device, at__gt=since).order_by("at"))
    return [_minute(row, before) for row, before in zip(rows, [None, *rows], strict=False)]


def _minute(row: DeviceHealth, before: DeviceHealth | None) -> HealthMinute:
    """An agent that started since counts from its start. The first report of a day alone says no rate."""
    has_restarted = before is not None and (row.uptime_s < before.uptime_s or row.grabbed < before.grabbed)
    span_s = 0.0
    grabbed, answered, dropped = row.grabbed, row.answered, dict(row.dropped)
    if has_restarted:
        span_s = row.uptime_s
    elif before is not None:
        span_s = (row.at - before.at).total_seconds()
        grabbed, answered = grabbed - before.grabbed, max(answered - before.answered, 0)
        dropped = {name: count - before.dropped.get(name, 0) for name, count in dropped.items()}
    return HealthMinute(
        **{name: getattr(row, name) for name in _AS_THEY_ARE},
        grabbed_s=grabbed / span_s if span_s else None,
        answered_s=answered / span_s if span_s else None,
        dropped={name: count for name, count in dropped.items() if count > 0} if span_s else {},
    )
