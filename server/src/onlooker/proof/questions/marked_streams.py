"""Two streams whose numbers can't be mistaken for one another's, and whether an answer's numbers can be a stream's."""

import asyncio
import csv
import io
import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from onlooker.data.parquet_file import MAGIC
from onlooker.database import open_pool
from onlooker.metrics.definitions import UNKNOWN
from onlooker.metrics.dimensions import DIMENSIONS
from onlooker.metrics.execution import BY, CELLS
from onlooker.metrics.extensions import EXTENSIONS
from onlooker.settings import Settings
from onlooker.visits.partitions import Partitions
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.expressions import Expression
from onlooker_pipeline.visits.visit import Visit

HOUR_MS = 3_600_000
GROUPS = 12
"""People come so many times, each time all at the same moment."""
APART_H = 18
SPAN_H = GROUPS * APART_H
LEAST_STOP_S, LEAST_LOOK_S = 3.0, 1.0
NEAR = 1e-3
TOGETHER = ("category", "gender", "age", "emotion")
"""Metrics that count several kinds apart; all of a stream's people are of one kind."""


def begins_before(now_s: float) -> int:
    """From when on people come, in milliseconds, so that all are gone half a day ago."""
    return (int(now_s) // 3600 - SPAN_H - 12) * HOUR_MS


@dataclass(frozen=True)
class Signature:
    """What is true of every person of a stream."""

    name: str
    people: int
    """Who come at a time: any count is a multiple of it."""
    first_hour: int
    stop_s: float
    attention_s: float
    age: float
    gender: str
    expression: Expression
    kinds: Mapping[str, str]
    """Under which name each metric counts them."""

    @property
    def satisfaction(self) -> float:
        _, happiness, _, anger, sadness = self.expression
        return (1 + happiness - anger - sadness) / 2

    def visits(self, stream_id: int, *, begins_ms: int) -> Iterator[Visit]:
        for group, (start, _) in enumerate(self.spans(begins_ms)):
            for _ in range(self.people):
                yield self._visit(stream_id, start, looks=group % 3 != 2)

    def spans(self, begins_ms: int) -> list[tuple[int, int]]:
        """When there is somebody."""
        starts = [begins_ms + (self.first_hour + group * APART_H) * HOUR_MS + 600_000 for group in range(GROUPS)]
        return [(start, start + round(self.stop_s * 1000) + 2000) for start in starts]

    def _visit(self, stream_id: int, start: int, *, looks: bool) -> Visit:
        stop_ms, look_ms = round(self.stop_s * 1000), round(self.attention_s * 1000)
        return Visit(
            id=uuid.uuid4().bytes,
            stream_id=stream_id,
            session=f"{stream_id}.scene_analysis-1.{uuid.uuid4().hex}",
            revision=1,
            ended=True,
            present=[(start, start + stop_ms + 2000)],
            still=[(start + 1000, start + 1000 + stop_ms)],
            looking=[(start + 1500, start + 1500 + look_ms)] if looks else [],
            age=self.age,
            age_confidence=0.95,
            gender=self.gender,
            gender_confidence=0.95,
            expression=self.expression if looks else None,
            confidence=1.0,
        )


FEW = Signature(
    name="few",
    people=1,
    first_hour=2,
    stop_s=4.0,
    attention_s=2.0,
    age=20.0,
    gender="male",
    expression=(0.9, 0.05, 0.05, 0.0, 0.0),
    kinds={"category": "young_male", "gender": "male", "age": "15-24", "emotion": "neutral"},
)
MANY = Signature(
    name="many",
    people=40,
    first_hour=9,
    stop_s=400.0,
    attention_s=200.0,
    age=70.0,
    gender="female",
    expression=(0.1, 0.8, 0.1, 0.0, 0.0),
    kinds={"category": "senior_female", "gender": "female", "age": "65+", "emotion": "happiness"},
)


class StreamNames(Protocol):
    """By what a stream is known."""

    @property
    def id(self) -> int: ...

    @property
    def client_id(self) -> str: ...


@dataclass(frozen=True)
class Marked:
    """A stream that has been given its people."""

    signature: Signature
    stream: StreamNames
    begins_ms: int

    def objections(self, bucket: Mapping[str, Mapping[str, Any]], *, is_cut: bool) -> list[str]:
        """What of a bucket can't be this stream's; `is_cut` where the range may begin or end amid a visit."""
        return [
            f"{self.signature.name} can't have {metric} {dict(values)}"
            for metric, values in bucket.items()
            if metric not in EXTENSIONS and not self._is_possible(metric, values, is_cut=is_cut)
        ]

    def _is_possible(self, metric: str, values: Mapping[str, Any], *, is_cut: bool) -> bool:
        sign = self.signature
        if metric in TOGETHER:
            return all(self._is_count(count) and (not count or sign.kinds[metric] == k) for k, count in values.items())
        value = values["value"]
        if metric in ("passing_by", "interested", "stopped"):
            return self._is_count(value)
        if value is None:
            return True
        if metric == "satisfaction":
            return bool(abs(value - sign.satisfaction) < NEAR)
        whole, least = (sign.stop_s, LEAST_STOP_S) if metric == "stop_time" else (sign.attention_s, LEAST_LOOK_S)
        return bool(least <= value <= whole + NEAR if is_cut else abs(value - whole) < NEAR)

    def _is_count(self, value: Any) -> bool:
        people = self.signature.people
        return isinstance(value, int) and value % people == 0 and 0 <= value <= GROUPS * people

    def has_no(self, part: Mapping[str, str]) -> str:
        """An objection to anybody being in a part of a breakdown, or nothing; who does not look shows no expression."""
        kinds = self.signature.kinds
        strange = {name: kind for name, kind in part.items() if name in kinds and kind not in (kinds[name], UNKNOWN)}
        return f"{self.signature.name} can't have people with {strange}" if strange else ""

    def is_cut(self, from_date: str, to_date: str) -> bool:
        """Whether a range begins or ends amid a visit."""
        edges = [round(datetime.fromisoformat(text).timestamp() * 1000) for text in (from_date, to_date)]
        spans = self.signature.spans(self.begins_ms)
        return any(start < edge < end for start, end in spans for edge in edges)


def judge_json(body: bytes, marked: Marked) -> tuple[bool, list[str]]:
    """Whether an answer counts anybody, and what of it can't be this stream's."""
    answer = json.loads(body)
    is_cut = marked.is_cut(answer["from_date"], answer["to_date"])
    buckets = list(answer["entities"].values())
    cells = [cell for bucket in buckets for cell in bucket.pop(CELLS, ())]
    parts = [cell.pop(BY) for cell in cells]
    counted, objections = _judge([*buckets, *cells], marked, is_cut=is_cut)
    strange = [marked.has_no(part) for part, cell in zip(parts, cells, strict=True) if _counts_anybody(cell)]
    return counted, [*objections, *filter(None, strange)]


def _counts_anybody(cell: Mapping[str, Mapping[str, Any]]) -> bool:
    return any(value for metric, values in cell.items() if metric not in EXTENSIONS for value in values.values())


def judge_csv(body: bytes, marked: Marked) -> tuple[bool, list[str]]:
    return _judge(map(_bucket_of, csv.DictReader(io.StringIO(body.decode()))), marked, is_cut=True)


def judge_parquet(body: bytes, marked: Marked) -> tuple[bool, list[str]]:
    """By its footer alone, which names the stream in plain text: nothing of ours reads its numbers."""
    is_whole = body.startswith(MAGIC) and body.endswith(MAGIC)
    is_own = f"onlooker.client_id\x18\x24{marked.stream.client_id}".encode() in body
    return False, [] if is_whole and is_own else [f"{marked.signature.name} can't have this file of Parquet"]


def _judge(buckets: Any, marked: Marked, *, is_cut: bool) -> tuple[bool, list[str]]:
    counted, objections = False, []
    for bucket in buckets:
        counted = counted or any(value for values in bucket.values() for value in values.values())
        objections += marked.objections(bucket, is_cut=is_cut)
    return counted, objections


def _bucket_of(row: dict[str, str]) -> dict[str, dict[str, Any]]:
    """A row of the table as the other answer has it."""
    bucket: dict[str, dict[str, Any]] = {}
    for column, text in row.items():
        if column in ("bucket", "exact", *DIMENSIONS) or column.startswith(
            tuple(EXTENSIONS)
        ):  # nothing about people of the past
            continue
        metric = next((name for name in TOGETHER if column.startswith(f"{name}_")), column)
        kind = column.removeprefix(f"{metric}_") if metric in TOGETHER else "value"
        bucket.setdefault(metric, {})[kind] = json.loads(text) if text else None
    return bucket


def mark_stream(settings: Settings, stream: StreamNames, signature: Signature, *, begins_ms: int) -> Marked:
    """Give a new stream its people, written as the recorder writes them."""

    async def write() -> None:
        async with open_pool(settings, size=1) as pool:
            writer = VisitWriter(pool, Partitions(pool))
            refused = await writer.write(signature.visits(stream.id, begins_ms=begins_ms))
            assert not refused, refused

    asyncio.run(write())
    return Marked(signature, stream, begins_ms)
