"""The oracle: what the database must have of a stream after all that it was sent, and whether it has that."""

import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from bench.abuse.visits.items import SLOT_S, Json
from testkit import Stack, TestStream

SETTLE_LIMIT_S = 120.0
Rows = dict[Any, Any]
_SLOT = "(extract(epoch FROM slot_at) / 900)::bigint"


@dataclass
class TakenItems:
    """The newest revision of each visit, and of each slot of each device, that was taken."""

    visits: dict[str, Json] = field(default_factory=dict)
    slots: dict[tuple[str, int], Json] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, device: str, visits: list[Json], slots: list[Json]) -> None:
        with self._lock:
            for one in visits:
                _keep_newest(self.visits, one["id"], one)
            for one in slots:
                _keep_newest(self.slots, (device, one["slot"]), one)


def _keep_newest(known: dict[Any, Json], key: object, told: Json) -> None:
    if key not in known or told["revision"] > known[key]["revision"]:
        known[key] = told


def expected_rows(accepted: TakenItems) -> dict[str, Rows]:
    """By table. Everything that honest devices tell is old, so each visit has ended."""
    found: dict[str, Rows] = {name: defaultdict(float) for name in ("coverage", "blindness", "refusals", "use")}
    quality: Rows = defaultdict(lambda: (0, 0.0, 0))
    for (_, slot), told in accepted.slots.items():
        found["coverage"][slot] += told["watched_s"]
        found["use"][_month_of(slot)] += told["watched_s"] + sum(told["blind_s"].values())
        for fault, blind_s in told["blind_s"].items():
            found["blindness"][slot, fault] += blind_s
        for reason, frames in told["refused"].items():
            found["refusals"][slot, reason] += frames
        for one in told["quality"]:
            key = (slot, one["models"], one["pipeline"])
            more = (one["frames"], one["video_s"], one["faces"][0])
            quality[key] = tuple(known + added for known, added in zip(quality[key], more, strict=True))
    visits = {name: _visit_row(told) for name, told in accepted.visits.items()}
    return {name: dict(rows) for name, rows in found.items()} | {"quality": dict(quality), "visits": visits}


def _month_of(slot: int) -> date:
    return datetime.fromtimestamp(slot * SLOT_S, UTC).date().replace(day=1)


def _visit_row(told: Json) -> tuple[Any, ...]:
    present = told["present"]
    expression = told["expression"]
    return (
        told["revision"],
        True,
        present[0][0],
        present[-1][1],
        len(present),
        sum(end - start for start, end in told["looking"]),
        sum(end - start for start, end in told["still"]),
        told["age"],
        told["gender"],
        None if expression is None else expression[0],
    )


def stored_rows(stack: Stack, stream: TestStream) -> dict[str, Rows]:
    """The same, from the database, without what is zero."""

    def read(columns: str, table: str, keys: int) -> Rows:
        rows = stack.execute(f"SELECT {columns} FROM {table} WHERE stream_id = %s", stream.id)
        return {row[0] if keys == 1 else row[:keys]: row[keys] if len(row) == keys + 1 else row[keys:] for row in rows}

    length = "(SELECT coalesce(sum(extract(epoch FROM upper(one) - lower(one)) * 1000), 0)::int FROM unnest({}) one)"
    visit = ", ".join(
        [
            "replace(id::text, '-', ''), revision, ended, (extract(epoch FROM lower(present)) * 1000)::bigint",
            "(extract(epoch FROM upper(present)) * 1000)::bigint, (SELECT count(*)::int FROM unnest(present))",
            *(length.format(name) for name in ("looking", "still")),
            "age::float8, gender, neutral::float8",
        ]
    )
    return {
        "coverage": read(f"{_SLOT}, video_s", "streams_coverage", 1),
        "blindness": read(f"{_SLOT}, fault, video_s", "streams_blindness", 2),
        "refusals": read(f"{_SLOT}, reason, frames", "streams_refusal", 2),
        "quality": read(f"{_SLOT}, models_version, pipeline_version, frames, video_s, faces[1]", "streams_quality", 3),
        "use": {month: used for month, used in read("month, video_s", "streams_usage", 1).items() if used},
        "visits": read(visit, "visits_visit", 1),
    }


def count_differences(expected: Rows, found: Rows) -> int:
    """Rows that are missing, too many or different."""
    return sum(not _is_same(expected.get(key), found.get(key)) for key in {**expected, **found})


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, float) and isinstance(other, int | float):
        return abs(one - other) < 1e-6 * max(1.0, abs(one))
    return bool(one == other)


def await_rows(stack: Stack, stream: TestStream, expected: dict[str, Rows]) -> dict[str, int]:
    """Differences by table, once the recorder has written all that it will."""
    give_up_at = time.monotonic() + SETTLE_LIMIT_S
    while True:
        found = stored_rows(stack, stream)
        differences = {name: count_differences(rows, found[name]) for name, rows in expected.items()}
        if not any(differences.values()) or time.monotonic() > give_up_at:
            return differences
        time.sleep(1)


def snapshot(stack: Stack, stream: TestStream) -> dict[str, list[str]]:
    """All rows of a stream in all tables, as text."""
    tables = stack.execute(
        """SELECT DISTINCT columns.table_name FROM information_schema.columns JOIN pg_class ON relname = table_name
           WHERE column_name = 'stream_id' AND table_schema = current_schema() AND NOT relispartition"""
    )

    def read(name: str, key: str = "stream_id") -> list[str]:
        rows = stack.execute(f"SELECT t::text FROM {name} t WHERE {key} = %s ORDER BY 1", stream.id)
        return [text for (text,) in rows]

    return {name: read(name) for (name,) in sorted(tables)} | {"streams_stream": read("streams_stream", "id")}


def await_rest(stack: Stack, stream: TestStream) -> dict[str, list[str]]:
    """The same, once nothing more happens to it."""
    before: dict[str, list[str]] = {}
    give_up_at = time.monotonic() + SETTLE_LIMIT_S
    while (now := snapshot(stack, stream)) != before or now["visits_mark"]:
        if time.monotonic() > give_up_at:
            break
        before = now
        time.sleep(5)
    return now
