"""Counting in memory: exact whatever the database does meanwhile, and within bounds."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from onlooker.database import Pool, open_pool
from onlooker.gateway.meters import StreamMeters
from onlooker.settings import Settings
from onlooker.slots import SLOT_S
from onlooker.streams import meter
from onlooker.streams.coverage import CoverageMeter, QualityMeter, Reason, slot_number_of
from onlooker.streams.usage import UsageMeter
from onlooker_pipeline.face_size import FACE_BINS
from onlooker_pipeline.service_call import FrameQuality, PictureFault
from onlooker_pipeline.versions import Versions
from recorder_process import create_stream
from testkit import migrated_database, own_cluster

DAY_S = 86_400


@pytest.fixture(scope="module")
def tables() -> Iterator[str]:
    """URL of a database with tables and nobody who writes to them."""
    with migrated_database() as url:
        yield url


class FlakyPool:
    """A pool that is away when it is told to be."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.is_away = False

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Any]:
        if self.is_away:
            raise psycopg.OperationalError("away")
        async with self._pool.connection() as connection:
            yield connection


def read(url: str, query: str, *values: object) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(query, values).fetchall()


AMOUNTS = st.tuples(st.integers(0, 2), st.sampled_from([None, *Reason, *PictureFault]), st.integers(0, 3))
STEPS = st.lists(st.one_of(AMOUNTS, st.sampled_from(["flush", "away", "back"])), max_size=40)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_coverage_is_exact_whenever_it_is_flushed_and_the_database_is_away(tables: str, steps: list[Any]) -> None:
    """Oracle: a counter of what was added."""
    streams = [create_stream(tables) for _ in range(3)]
    now = time.time()
    expected: Counter[tuple[int, int, Reason | PictureFault | None]] = Counter()

    async def run() -> None:
        async with open_pool(Settings(database_url=tables)) as pool:
            flaky = FlakyPool(pool)
            coverage = CoverageMeter(flaky)  # type: ignore[arg-type]
            for step in steps:
                if step == "flush":
                    await coverage.flush()
                elif step in ("away", "back"):
                    flaky.is_away = step == "away"
                else:
                    which, reason, slots_ago = step
                    at = now - slots_ago * SLOT_S
                    if reason is None:
                        coverage.add_computed(streams[which], 0.5, at=at)
                    elif isinstance(reason, PictureFault):
                        coverage.add_blind(streams[which], reason, 0.5, at=at)
                    else:
                        coverage.add_refused(streams[which], reason, at=at)
                    expected[streams[which], int(at // SLOT_S), reason] += 1
            flaky.is_away = False
            await coverage.flush()

    asyncio.run(run())
    slot = f"(extract(epoch FROM slot_at) / {SLOT_S})::int"
    computed = read(
        tables, f"SELECT stream_id, {slot}, video_s * 2 FROM streams_coverage WHERE stream_id = ANY(%s)", streams
    )
    refused = read(
        tables, f"SELECT stream_id, {slot}, reason, frames FROM streams_refusal WHERE stream_id = ANY(%s)", streams
    )
    blind = read(
        tables,
        f"SELECT stream_id, {slot}, fault, video_s * 2 FROM streams_blindness WHERE stream_id = ANY(%s)",
        streams,
    )
    found = {(stream_id, slot, None): count for stream_id, slot, count in computed}
    found |= {(stream_id, slot, Reason(reason)): count for stream_id, slot, reason, count in refused}
    found |= {(stream_id, slot, PictureFault(fault)): count for stream_id, slot, fault, count in blind}
    assert found == dict(expected)


FRAMES = st.tuples(
    st.integers(0, 1),
    st.sampled_from([Versions("0.1.0", "0.1.0"), Versions("0.2.0", "0.1.0")]),
    st.builds(FrameQuality, is_dark=st.booleans(), face_bins=st.lists(st.integers(0, FACE_BINS - 1), max_size=3)),
    st.sampled_from([0.0, 0.5]),
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.one_of(FRAMES, st.sampled_from(["flush", "away", "back"])), max_size=30))
@example(steps=[(0, Versions(), FrameQuality(), 0.5), (1, Versions(), FrameQuality(face_bins=[3]), 0.5)])
def test_quality_is_exact_whenever_it_is_flushed_and_the_database_is_away(tables: str, steps: list[Any]) -> None:
    """Oracle: a list of frames. One that counts no video was counted before."""
    streams, now = [create_stream(tables) for _ in range(2)], time.time()
    frames: dict[tuple[Any, ...], list[FrameQuality]] = {}

    async def run() -> None:
        async with open_pool(Settings(database_url=tables)) as pool:
            flaky = FlakyPool(pool)
            meter = QualityMeter(flaky)  # type: ignore[arg-type]
            for step in steps:
                if step == "flush":
                    await meter.flush()
                elif step in ("away", "back"):
                    flaky.is_away = step == "away"
                else:
                    which, versions, quality, video_s = step
                    meter.add_frame(streams[which], quality, versions, video_s, at=now)
                    if video_s:
                        frames.setdefault((streams[which], *versions), []).append(quality)
            flaky.is_away = False
            await meter.flush()

    asyncio.run(run())
    rows = read(
        tables,
        """SELECT stream_id, models_version, pipeline_version, frames, video_s * 2, dark_frames, face_frames,
                  face_video_s * 2, faces FROM streams_quality WHERE stream_id = ANY(%s)""",
        streams,
    )
    expected = {}
    for key, seen in frames.items():
        shown = sum(bool(one.face_bins) for one in seen)
        counts = [sum(one.face_bins.count(number) for one in seen) for number in range(FACE_BINS)]
        expected[key] = (len(seen), len(seen), sum(one.is_dark for one in seen), shown, shown, counts)
    assert {row[:3]: row[3:] for row in rows} == expected


def test_what_is_counted_while_postgresql_restarts_is_written_afterwards() -> None:
    with own_cluster("fsync=off") as cluster, migrated_database(cluster.url) as url:
        stream_id = create_stream(url)

        async def run() -> None:
            async with open_pool(Settings(database_url=url)) as pool:
                coverage, usage = CoverageMeter(pool), UsageMeter(pool)
                await asyncio.to_thread(cluster.control, "stop", "-m", "fast")
                coverage.add_computed(stream_id, 0.5, at=time.time())
                coverage.add_refused(stream_id, Reason.OVERLOADED)
                usage.add(stream_id, 0.5)
                await asyncio.gather(coverage.flush(), usage.flush())
                await asyncio.to_thread(cluster.control, "start")
                coverage.add_computed(stream_id, 0.25, at=time.time())
                for _ in range(20):
                    await asyncio.gather(coverage.flush(), usage.flush())
                    await asyncio.sleep(0.1)

        asyncio.run(run())
        assert read(url, "SELECT sum(video_s) FROM streams_coverage") == [(0.75,)]
        assert read(url, "SELECT frames FROM streams_refusal") == [(1,)]
        assert read(url, "SELECT video_s FROM streams_usage") == [(0.5,)]


def test_a_flush_that_is_broken_off_loses_nothing(tables: str) -> None:
    stream_id = create_stream(tables)

    async def run() -> None:
        async with open_pool(Settings(database_url=tables)) as pool, pool.connection() as other:
            usage = UsageMeter(pool)
            usage.add(stream_id, 0.5)
            await usage.flush()
            async with other.transaction():
                await other.execute("LOCK streams_usage")
                usage.add(stream_id, 0.25)
                stuck = asyncio.create_task(usage.flush())
                await asyncio.sleep(0.3)
                stuck.cancel()
                await asyncio.wait([stuck])
            assert usage.used_s(stream_id, known_s=0) == 0.75
            await usage.flush()

    asyncio.run(run())
    assert read(tables, "SELECT video_s FROM streams_usage WHERE stream_id = %s", stream_id) == [(0.75,)]


def test_a_stream_that_was_removed_holds_up_no_other(tables: str) -> None:
    stream_id, gone = create_stream(tables), 999_999_999

    async def run() -> None:
        async with open_pool(Settings(database_url=tables)) as pool:
            coverage, usage = CoverageMeter(pool), UsageMeter(pool)
            for one in (gone, stream_id):
                coverage.add_computed(one, 0.5, at=time.time())
                coverage.add_refused(one, Reason.FAILED)
                usage.add(one, 0.5)
            await asyncio.gather(coverage.flush(), usage.flush())

    asyncio.run(run())
    for table in ("coverage", "refusal", "usage"):
        rows = read(tables, f"SELECT stream_id FROM streams_{table} WHERE stream_id = ANY(%s)", [gone, stream_id])
        assert rows == [(stream_id,)], table


def test_what_can_never_be_written_holds_up_no_other_meter(tables: str) -> None:
    """And the next time comes, though it failed."""
    stream_id = create_stream(tables)

    async def run() -> None:
        async with open_pool(Settings(database_url=tables)) as pool:
            meters = StreamMeters(pool, Settings(database_url=tables))
            meters.usage._count((stream_id, "no date"), 0.5)  # type: ignore[arg-type]
            for _ in range(2):
                meters.coverage.add_computed(stream_id, 0.5, at=time.time())
                await meters.flush()

    asyncio.run(run())
    assert read(tables, "SELECT sum(video_s) FROM streams_coverage WHERE stream_id = %s", stream_id) == [(1.0,)]


def test_what_is_new_is_written_without_delay_and_then_rarely(tables: str) -> None:
    """A first frame shows at once; a row that is there already waits for the next full write."""
    stream_id, now = create_stream(tables), time.time()
    versions, quality = Versions("1", "2"), FrameQuality(is_dark=False, face_bins=[3])
    seconds = """SELECT (SELECT video_s FROM streams_usage WHERE stream_id = stream.id),
                        (SELECT sum(video_s) FROM streams_coverage WHERE stream_id = stream.id),
                        (SELECT sum(video_s) FROM streams_quality WHERE stream_id = stream.id),
                        (SELECT sum(video_s) FROM streams_blindness WHERE stream_id = stream.id)
                 FROM streams_stream stream WHERE id = %s"""

    async def run() -> None:
        async with open_pool(Settings(database_url=tables)) as pool:
            meters = StreamMeters(pool, Settings(database_url=tables))

            def count_second() -> None:
                meters.usage.add(stream_id, 1.0)
                meters.coverage.add_computed(stream_id, 1.0, at=now)
                meters.quality.add_frame(stream_id, quality, versions, 1.0, at=now)

            count_second()
            await meters.flush_urgent()
            assert read(tables, seconds, stream_id) == [(1.0, 1.0, 1.0, None)]
            count_second()
            meters.coverage.add_blind(stream_id, PictureFault.BLACK, 0.5, at=now)
            quality_of_another_face = FrameQuality(is_dark=True, face_bins=[5])
            meters.quality.add_frame(stream_id, quality_of_another_face, versions, 1.0, at=now)
            await meters.flush_urgent()
            assert read(tables, seconds, stream_id) == [(1.0, 1.0, 1.0, 0.5)]
            await meters.flush()
            assert read(tables, seconds, stream_id) == [(2.0, 2.0, 3.0, 0.5)]

    asyncio.run(run())


def test_gateways_write_the_use_of_a_stream_near_its_quota_without_delay(tables: str) -> None:
    """Three of them, each with a third of the frames, refuse it after at most two looks of each."""
    stream_id, quota_s = create_stream(tables), 100.0

    async def look(gateways: list[UsageMeter]) -> list[bool]:
        """Each is asked, computes, writes, and says whether it would go on."""
        for gateway in gateways:
            gateway.is_used_up(stream_id, known_s=66.0, quota_s=quota_s)
            gateway.add(stream_id, 12.0)
            await gateway.flush_urgent()
        return [gateway.is_used_up(stream_id, known_s=66.0, quota_s=quota_s) for gateway in gateways]

    async def run() -> None:
        async with open_pool(Settings(database_url=tables)) as pool:
            gateways = [UsageMeter(pool) for _ in range(3)]
            for gateway in gateways:
                gateway.add(stream_id, 10.0)
                await gateway.flush_urgent()
                assert not gateway.is_used_up(stream_id, known_s=0, quota_s=quota_s)
            for gateway in gateways:  # far from the quota: nothing is written in between
                gateway.add(stream_id, 12.0)
                await gateway.flush_urgent()
            assert read(tables, "SELECT video_s FROM streams_usage WHERE stream_id = %s", stream_id) == [(30.0,)]
            for gateway in gateways:
                await gateway.flush()
            looks = [await look(gateways) for _ in range(3)]
            assert looks == [[False, False, True], [True] * 3, [True] * 3]

    asyncio.run(run())


def test_rows_that_a_meter_remembers_are_bounded(tables: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meter, "ROWS_REMEMBERED", 2)
    streams = [create_stream(tables) for _ in range(4)]

    async def run() -> None:
        async with open_pool(Settings(database_url=tables)) as pool:
            usage = UsageMeter(pool)
            for stream_id in streams:
                usage.add(stream_id, 1.0)
            await usage.flush()
            assert len(usage._rows) == 2

    asyncio.run(run())


def test_two_processes_that_write_the_same_streams_do_not_deadlock(tables: str) -> None:
    streams = [create_stream(tables) for _ in range(50)]

    async def run() -> None:
        async with open_pool(Settings(database_url=tables)) as pool:

            async def write(order: list[int]) -> None:
                usage = UsageMeter(pool)
                for _ in range(20):
                    for stream_id in order:
                        usage.add(stream_id, 1.0)
                    await usage.flush()

            await asyncio.gather(write(streams), write(streams[::-1]), write(streams[25:] + streams[:25]))

    asyncio.run(run())
    rows = read(tables, "SELECT video_s FROM streams_usage WHERE stream_id = ANY(%s)", streams)
    assert rows == [(60.0,)] * 50


def test_the_memory_of_a_meter_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meter, "KEYS_AT_MOST", 100)
    usage = UsageMeter(None)  # type: ignore[arg-type]
    for stream_id in range(1000):
        usage.add(stream_id, 0.5)
    usage.add(0, 0.5)
    assert len(usage._unwritten) == 100
    assert usage.used_s(0, known_s=0) == 1.0


@pytest.mark.parametrize("offset_s", [-3651 * DAY_S, 301, 1e12, -1e12, float("inf"), float("nan")])
def test_a_time_no_camera_could_mean_counts_now(offset_s: float) -> None:
    assert slot_number_of(time.time() + offset_s) - time.time() // SLOT_S in (0, 1)


@given(ago_s=st.floats(0, 3649 * DAY_S))
def test_a_frames_own_time_names_its_slot(ago_s: float) -> None:
    at = time.time() - ago_s
    assert slot_number_of(at) * SLOT_S <= at < (slot_number_of(at) + 1) * SLOT_S


def test_counting_a_frame_costs_next_to_nothing() -> None:
    """A gateway does so for every frame: a dictionary and a clock."""
    coverage = CoverageMeter(None)  # type: ignore[arg-type]
    now = time.time()
    started = time.perf_counter()
    for _ in range(10_000):
        coverage.add_computed(1, 0.1, at=now)
    assert (time.perf_counter() - started) / 10_000 < 20e-6
