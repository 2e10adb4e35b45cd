"""How well people could be seen in each bucket, and what changed."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onlooker.database import Pool
from onlooker.metrics.buckets import count_buckets, page_buckets
from onlooker.metrics.extension_values import shape_quality
from onlooker.metrics.quality import BucketQuality, ChangeSource, QualityChange, read_quality, read_quality_and_changes
from onlooker.metrics.query import Query, Time
from recorder_process import create_stream, with_pool
from testkit.quality_oracle import SECOND_US, SLOT_US, QualityLog, SlotQuality, expect_quality
from testkit.worlds.cameras import QUALITIES, VERSIONS, is_same_quality

pytest_plugins = ["migrated"]
NOON = datetime(2026, 5, 31, 12, tzinfo=UTC)
SLOT = timedelta(minutes=15)
NOBODY: dict[str, Any] = {name: {"?": 0} for name in ("age", "gender", "emotion")}
INSERT = """INSERT INTO streams_quality (stream_id, slot_at, models_version, pipeline_version,
    frames, video_s, dark_frames, face_frames, face_video_s, faces) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"""


@dataclass
class SeenStream:
    """A stream, and what the table has of its frames."""

    url: str
    connection: psycopg.Connection
    stream_id: int
    log: QualityLog = field(default_factory=dict)

    def sees(self, at: datetime, quality: SlotQuality, versions: tuple[str, str] = VERSIONS[0]) -> None:
        values = (*list(vars(quality).values())[:-1], list(quality.faces))
        self.connection.execute(INSERT, (self.stream_id, at, *versions, *values))
        self.log[_us(at), *versions] = quality

    def read(self, from_at: datetime, to_at: datetime, *, now: datetime, by: Time = Time.BY_HOUR) -> list[Any]:
        """What the data endpoint gives, beside what the oracle wants."""
        query = Query(self.stream_id, ("quality",), from_at, to_at, ZoneInfo("UTC"), by)
        buckets = page_buckets(query, first=0, count=count_buckets(query))
        found: list[Any] = []

        async def act(pool: Pool) -> None:
            found.extend(shape_quality(one, NOBODY) for one in await read_quality(pool, query, buckets, now=now))

        with_pool(self.url, act)
        clipped = [(max(begin, from_at), min(end, to_at)) for begin, end in pairwise(buckets.edges)]
        wanted = [expect_quality(self.log, _us(one), _us(other), now_us=_us(now)) for one, other in clipped]
        return list(zip(found, wanted, strict=True))

    def changes(self, from_at: datetime, to_at: datetime) -> list[QualityChange]:
        query = Query(self.stream_id, ("quality",), from_at, to_at, ZoneInfo("UTC"))
        found: list[QualityChange] = []

        async def act(pool: Pool) -> None:
            buckets = page_buckets(query, first=0, count=1)
            found.extend((await read_quality_and_changes(pool, query, buckets, now=to_at))[1])

        with_pool(self.url, act)
        return found


def _us(at: datetime) -> int:
    return round(at.timestamp() * SECOND_US)


@pytest.fixture
def stream(database: str) -> Iterator[SeenStream]:
    with psycopg.connect(database, autocommit=True) as connection:
        yield SeenStream(database, connection, create_stream(database))


SLOTS = st.tuples(st.integers(-6, 6), st.sampled_from(VERSIONS))
MINUTES = st.integers(-100, 100)


@settings(max_examples=25, deadline=None)
@given(
    rows=st.dictionaries(SLOTS, st.sampled_from(QUALITIES), max_size=8), ends=st.tuples(MINUTES, MINUTES), now=MINUTES
)
def test_any_range_has_the_quality_of_its_slots_in_proportion(
    database: str, rows: dict[tuple[int, tuple[str, str]], SlotQuality], ends: tuple[int, int], now: int
) -> None:
    from_at, to_at = (NOON + timedelta(minutes=minutes) for minutes in sorted(ends))
    to_at += timedelta(seconds=1)
    now_at = NOON + timedelta(minutes=now, seconds=30)
    with psycopg.connect(database, autocommit=True) as connection:
        stream = SeenStream(database, connection, create_stream(database))
        for (number, versions), quality in rows.items():
            stream.sees(NOON + number * SLOT, quality, versions)
        for by in (Time.GLOBAL, Time.BY_HOUR):
            for found, wanted in stream.read(from_at, to_at, now=now_at, by=by):
                read = dict.fromkeys(("age_read", "gender_read", "expression_read"))
                versions = {name: wanted.pop(name) for name in ("models", "pipeline")}
                assert is_same_quality(found, wanted | read | versions), (found, wanted, versions)


def test_a_slot_is_as_long_as_the_oracle_says() -> None:
    assert SLOT.total_seconds() * SECOND_US == SLOT_US


def test_shares_of_people_come_from_the_breakdowns(stream: SeenStream) -> None:
    counted = {"age": {"25-34": 1, "?": 3}, "gender": {"?": 0, "male": 4}, "emotion": {"neutral": 0, "?": 4}}
    [(found, _)] = stream.read(NOON, NOON + SLOT, now=NOON + SLOT, by=Time.GLOBAL)
    assert set(found.values()) == {None}
    shaped = shape_quality(BucketQuality(), counted)
    assert (shaped["age_read"], shaped["gender_read"], shaped["expression_read"]) == (0.25, 1.0, 0.0)


def test_a_version_and_a_view_that_change_are_marked(stream: SeenStream) -> None:
    small, large = QUALITIES[2], QUALITIES[0]
    stream.sees(NOON, large, ("0.1.0", "0.1.0"))
    stream.sees(NOON + SLOT, small, ("0.2.0", "0.1.0"))  # a worker was updated late in the slot
    stream.sees(NOON + SLOT, large, ("0.1.0", "0.1.0"))
    stream.sees(NOON + 2 * SLOT, large, ("0.2.0", "0.2.0"))
    stream.connection.execute(
        "INSERT INTO streams_blindness (stream_id, slot_at, fault, video_s) VALUES (%s, %s, 'moved', 3)",
        (stream.stream_id, NOON + SLOT),
    )
    assert stream.changes(NOON, NOON + 4 * SLOT) == [
        QualityChange(NOON + SLOT, ChangeSource.VIEW),
        QualityChange(NOON + 2 * SLOT, ChangeSource.MODELS, "0.2.0"),
        QualityChange(NOON + 2 * SLOT, ChangeSource.PIPELINE, "0.2.0"),
    ]
    assert stream.changes(NOON + 2 * SLOT, NOON + 4 * SLOT) == []
