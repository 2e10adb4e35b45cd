"""Sums of hours are those of their slots, whatever statements write the slots."""

import asyncio
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from onlooker.database import Pool, open_pool
from onlooker.settings import Settings
from recorder_process import create_stream

pytest_plugins = ["migrated"]
NOON = datetime(2026, 5, 31, 12, tzinfo=UTC)
SLOT = timedelta(minutes=15)
VERSIONS = ("0.1.0", "0.2.0")

ADD_COVERAGE = """INSERT INTO streams_coverage AS known (stream_id, slot_at, video_s)
SELECT %s, * FROM unnest(%s::timestamptz[], %s::float8[]) ORDER BY 2
ON CONFLICT (stream_id, slot_at) DO UPDATE SET video_s = known.video_s + excluded.video_s"""
ADD_QUALITY = """INSERT INTO streams_quality AS known (stream_id, slot_at, models_version, pipeline_version,
    frames, video_s, dark_frames, face_frames, face_video_s, faces)
SELECT %s, slot_at, %s, '0.1.0', 7, amount, 1, 2, amount / 2, array_fill(3, ARRAY[15]) || frames::int
FROM unnest(%s::timestamptz[], %s::float8[]) WITH ORDINALITY given (slot_at, amount, frames) ORDER BY 2
ON CONFLICT (stream_id, slot_at, models_version, pipeline_version) DO UPDATE SET
    frames = known.frames + excluded.frames, video_s = known.video_s + excluded.video_s, faces = excluded.faces"""

COVERAGE_OF_SLOTS = """SELECT date_trunc('hour', slot_at, 'UTC') AS hour_at, count(*)::int,
    round(sum(least(video_s, 900))::numeric, 6)
FROM streams_coverage WHERE stream_id = %s GROUP BY 1 ORDER BY 1"""
COVERAGE_OF_HOURS = """SELECT hour_at, slots, round(covered_s::numeric, 6)
FROM metrics_coveragehour WHERE stream_id = %s ORDER BY 1"""
QUALITY_OF_SLOTS = """SELECT date_trunc('hour', slot_at, 'UTC') AS hour_at, models_version, min(slot_at), count(*)::int,
    sum(frames)::int, round(sum(video_s)::numeric, 6), sum(dark_frames)::int, sum(face_frames)::int,
    round(sum(face_video_s)::numeric, 6), sum(faces[1])::int, sum(faces[16])::int
FROM streams_quality WHERE stream_id = %s GROUP BY 1, 2 ORDER BY 1, 2"""
QUALITY_OF_HOURS = """SELECT hour_at, models_version, since_at, slots, frames, round(video_s::numeric, 6), dark_frames,
    face_frames, round(face_video_s::numeric, 6), faces_1, faces_16
FROM metrics_qualityhour WHERE stream_id = %s ORDER BY 1, 2"""


async def write_at_random(pool: Pool, stream_id: int, *, seed: int) -> None:
    """As meters do, some slots at a time; what is over a slot's length counts as the slot."""
    drawing = random.Random(seed)
    for _ in range(20):
        slots = [NOON + number * SLOT for number in drawing.sample(range(-9, 9), 4)]
        amounts = [drawing.choice([0.5, 250.0, 800.25]) for _ in slots]
        async with pool.connection() as connection:
            await connection.execute(ADD_COVERAGE, (stream_id, slots, amounts))
            await connection.execute(ADD_QUALITY, (stream_id, drawing.choice(VERSIONS), slots, amounts))


def check_sums(connection: psycopg.Connection, stream_id: int) -> list[tuple[Any, ...]]:
    def read(query: str) -> list[tuple[Any, ...]]:
        return connection.execute(query, (stream_id,)).fetchall()  # type: ignore[arg-type]

    assert read(COVERAGE_OF_HOURS) == read(COVERAGE_OF_SLOTS)
    assert read(QUALITY_OF_HOURS) == read(QUALITY_OF_SLOTS)
    return read(COVERAGE_OF_HOURS)


@pytest.mark.parametrize("seed", [1, 2])
def test_hours_are_the_sums_of_their_slots_though_two_processes_write_side_by_side(database: str, seed: int) -> None:
    stream_id = create_stream(database)

    async def write() -> None:
        async with open_pool(Settings(database_url=database)) as pool:
            await asyncio.gather(*(write_at_random(pool, stream_id, seed=10 * seed + one) for one in range(3)))

    asyncio.run(write())
    with psycopg.connect(database, autocommit=True) as connection:
        assert len(check_sums(connection, stream_id)) == 6
        for table in ("streams_coverage", "streams_quality"):
            connection.execute(f"DELETE FROM {table} WHERE stream_id = %s AND slot_at >= %s", (stream_id, NOON + SLOT))
        assert len(check_sums(connection, stream_id)) == 4
        for table in ("streams_coverage", "streams_quality"):
            connection.execute(f"DELETE FROM {table} WHERE stream_id = %s", (stream_id,))
        assert check_sums(connection, stream_id) == []
