"""What the journal's rows hold, and how they are dated. Pure."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onlooker_client.device.coverage_sums import SLOT_MS, CoverageSums

MINUTE_MS = 60_000
INTERVALS = ("present", "still", "looking")


@dataclass(frozen=True)
class Epoch:
    """A stretch of time in which frames are stamped with one offset. Times in rows count from the machine's start."""

    id: int
    boot: str
    began_ms: int
    """By the stamps of its frames."""
    session_ms: int
    """What stamps are ahead of the time since the start of the machine."""
    battery_ms: int | None
    """The same for the clock that runs on a battery, where there is one."""
    true_ms: int | None
    """The same for Unix time; None while unknown."""


@dataclass(frozen=True)
class SavedState:
    """A session's state, and the stamp of the frame after which it was saved."""

    body: bytes
    at_ms: int
    epoch: int


@dataclass(frozen=True)
class VisitChange:
    """A new revision of a visit; its times count from the start of the machine."""

    id: str
    epoch: int
    revision: int
    ended: bool
    began_ms: int
    body: str
    """The rest of it, as JSON."""

    @classmethod
    def of_wire(cls, visit: Mapping[str, Any], epoch: Epoch) -> VisitChange:
        """Raises LookupError, TypeError or ValueError where it is none."""
        said = {name: value for name, value in visit.items() if name not in ("id", "revision", "ended")}
        body = shift_visit(said, -epoch.session_ms)
        return cls(
            id=str(visit["id"]),
            epoch=epoch.id,
            revision=int(visit["revision"]),
            ended=bool(visit["ended"]),
            began_ms=int(body["present"][0][0]),
            body=json.dumps(body, separators=(",", ":"), allow_nan=False),
        )


@dataclass
class Entry:
    """What is written in one transaction."""

    state: SavedState | None = None
    visits: dict[str, VisitChange] = field(default_factory=dict)
    slots: dict[int, CoverageSums] = field(default_factory=dict)
    """Coverage by the number of its quarter hour since 1970."""
    minutes: dict[tuple[int, int], CoverageSums] = field(default_factory=dict)
    """Coverage before the time is known: by epoch and minute since the start of the machine."""
    dropped: Counter[tuple[str, str]] = field(default_factory=Counter)
    """What was lost, and why."""

    def __bool__(self) -> bool:
        return bool(self.state or self.visits or self.slots or self.minutes or self.dropped)


@dataclass(frozen=True)
class WaitingVisit:
    """A visit that the server has not acknowledged in this revision."""

    id: str
    revision: int
    wire: dict[str, Any]


@dataclass(frozen=True)
class WaitingSlot:
    """The same for coverage."""

    slot: int
    revision: int
    wire: dict[str, Any]


def shift_visit(body: Mapping[str, Any], by_ms: int) -> dict[str, Any]:
    moved = {name: [[start + by_ms, end + by_ms] for start, end in body.get(name) or []] for name in INTERVALS}
    return {**body, **moved}


def checksum(*parts: object) -> int:
    """SQLite checks the structure of its pages, not what is in them."""
    return zlib.crc32("|".join(map(str, parts)).encode())


def slot_of(unix_ms: int) -> int:
    return unix_ms // SLOT_MS


def slot_of_minute(minute: int, true_ms: int) -> int:
    """By the middle of the minute: so each slot gets fifteen of them."""
    return slot_of(minute * MINUTE_MS + MINUTE_MS // 2 + true_ms)


def read_sums(body: str | None, crc: int, *key: object) -> CoverageSums | None:
    """None where it is damaged, or erased."""
    if body is None or checksum(*key, body) != crc:
        return None
    try:
        return CoverageSums.of_json(body)
    except ValueError:
        return None


def read_waiting(row: sqlite3.Row) -> WaitingVisit | None:
    """None where it is damaged."""
    if row["crc"] != visit_checksum(row["id"], row["epoch"], row["ended"], row["body"]):
        return None
    try:
        body = shift_visit(json.loads(row["body"]), row["offset_ms"])
    except (ValueError, TypeError, AttributeError):
        return None
    said = {"id": row["id"], "revision": row["revision"], "ended": bool(row["ended"]), **body}
    wire = {name: value for name, value in said.items() if value not in (None, [], {})}
    return WaitingVisit(row["id"], row["revision"], wire)


def visit_checksum(visit_id: str, epoch: int, ended: int, body: str) -> int:
    return checksum(visit_id, epoch, int(ended), body)


def wire_of_slot(row: sqlite3.Row) -> WaitingSlot | None:
    """None where it is damaged."""
    sums = read_sums(row["body"], row["crc"], row["slot"])
    if sums is None:
        return None
    return WaitingSlot(
        row["slot"], row["revision"], {"slot": row["slot"], "revision": row["revision"], **sums.to_wire()}
    )
