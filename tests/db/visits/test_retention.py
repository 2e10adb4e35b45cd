"""Visits go when their stream's retention says so, stream by stream, in batches."""

import time
from typing import Any

import psycopg

from onlooker.database import Pool
from onlooker.metrics.rollup import fill_slots
from onlooker.visits import counters
from onlooker.visits.partitions import Partitions
from onlooker.visits.retention import delete_expired_visits, remove_expired
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.visits.visit import Visit
from recorder_process import create_stream, visit, with_pool

pytest_plugins = ["migrated"]


def execute(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(query)
        return cursor.fetchall() if cursor.description else []


def aged(stream_id: int, days: float) -> Visit:
    return visit(stream_id, began_ms=int((time.time() - days * 86_400) * 1000))


def kept(url: str) -> dict[bytes, int]:
    return {row[0].bytes: row[1] for row in execute(url, "SELECT id, stream_id FROM visits_visit")}


def test_each_stream_keeps_its_own_days(url: str) -> None:
    short, long = create_stream(url, retention_days=2), create_stream(url, retention_days=100)
    young = [aged(short, 1.99), aged(long, 99.9), aged(long, 2.1)]
    old = [aged(short, 2.02), aged(short, 50), aged(long, 100.1)]  # by whole slots of 15 minutes

    async def act(pool: Pool) -> None:
        partitions = Partitions(pool)
        assert await VisitWriter(pool, partitions).write(young + old) == []
        await fill_slots(pool, due_s=0)
        await remove_expired(pool, partitions, now=time.time())

    with_pool(url, act)
    assert kept(url) == {one.id: one.stream_id for one in young}


def test_many_rows_go_in_several_batches(url: str) -> None:
    stream_id = create_stream(url, retention_days=1)
    old, young = [aged(stream_id, 1.5) for _ in range(25)], aged(stream_id, 0.5)

    async def act(pool: Pool) -> None:
        await VisitWriter(pool, Partitions(pool)).write([*old, young])
        await fill_slots(pool, due_s=0)
        await delete_expired_visits(pool, now=time.time(), at_once=10)

    with_pool(url, act)
    assert kept(url) == {young.id: stream_id}


def test_a_month_that_was_dropped_elsewhere_is_made_again_when_it_is_needed(url: str) -> None:
    first = aged(create_stream(url, retention_days=100), 90)

    async def act(pool: Pool) -> None:
        writer = VisitWriter(pool, Partitions(pool))
        await writer.write([first])
        await fill_slots(pool, due_s=0)
        execute(url, "UPDATE streams_stream SET retention_days = 1")
        await remove_expired(pool, Partitions(pool), now=time.time())
        assert kept(url) == {}
        second = aged(create_stream(url, retention_days=100), 90)
        assert await writer.write([second]) == []
        assert kept(url) == {second.id: second.stream_id}

    with_pool(url, act)


def test_visits_stay_until_their_slot_is_rolled_up(url: str) -> None:
    old = aged(create_stream(url, retention_days=1), 1.5)
    older = aged(create_stream(url, retention_days=100), 300)

    async def act(pool: Pool) -> None:
        partitions = Partitions(pool)
        await VisitWriter(pool, partitions).write([old])
        execute(url, "UPDATE streams_stream SET retention_days = 365")
        await VisitWriter(pool, partitions).write([older])
        execute(url, "UPDATE streams_stream SET retention_days = 1")
        await remove_expired(pool, partitions, now=time.time())
        assert set(kept(url)) == {old.id, older.id}
        await fill_slots(pool, due_s=0)
        await remove_expired(pool, partitions, now=time.time())
        assert kept(url) == {}

    with_pool(url, act)
    assert execute(url, "SELECT sum(passing_by) FROM metrics_slot") == [(2,)]


def test_what_comes_after_its_slot_was_given_up_is_not_written(url: str) -> None:
    stream_id = create_stream(url, retention_days=1)
    late = aged(stream_id, 1.5)

    async def act(pool: Pool) -> None:
        writer = VisitWriter(pool, Partitions(pool))
        await writer.write([aged(stream_id, 1.4)])
        await fill_slots(pool, due_s=0)
        await remove_expired(pool, Partitions(pool), now=time.time())
        execute(url, "UPDATE streams_stream SET retention_days = 100")
        before = counters.visits("expired")._value.get()
        assert await writer.write([late]) == []
        assert counters.visits("expired")._value.get() == before + 1

    with_pool(url, act)
    assert kept(url) == {}
    assert execute(url, "SELECT count(*) FROM visits_mark") == [(0,)]


def test_what_was_put_aside_goes_after_thirty_days_or_sooner_where_the_stream_keeps_less(url: str) -> None:
    short, long = create_stream(url, retention_days=2), create_stream(url, retention_days=100)
    execute(
        url,
        f"""INSERT INTO visits_putaside (stream_id, reason, detail, payload, put_aside_at)
            SELECT stream_id, 'refused', coalesce(stream_id, 0) || ':' || days, '', now() - days * interval '1 day'
            FROM unnest(ARRAY[1, 3, 29, 31]) days, unnest(ARRAY[NULL, {short}, {long}]) stream_id""",
    )

    async def act(pool: Pool) -> None:
        await remove_expired(pool, Partitions(pool), now=time.time())

    with_pool(url, act)
    left = {row[0] for row in execute(url, "SELECT detail FROM visits_putaside")}
    assert left == {f"{short}:1", *(f"{stream}:{days}" for stream in (0, long) for days in (1, 3, 29))}


def test_what_devices_told_of_slots_goes_with_the_visits_and_coverage_stays(url: str) -> None:
    short, gone = create_stream(url, retention_days=2), create_stream(url)
    tell = """INSERT INTO streams_devicecoverage
                     (stream_id, slot_at, device, revision, watched_s, counted_s, sums, first_at, last_at)
              SELECT {}, date_bin('15 minutes', now(), 'epoch') - {} * interval '1 hour', gen_random_uuid(), 1, 9, 9,
                     '{{}}', now(), now()"""
    for stream_id, hours in ((short, 1), (short, 47), (short, 49), (gone, 1)):
        execute(url, tell.format(stream_id, hours))
    execute(
        url,
        f"INSERT INTO streams_coverage (stream_id, slot_at, video_s) VALUES ({short}, now() - interval '3 days', 9)",
    )
    execute(url, f"UPDATE streams_stream SET removed_at = now() WHERE id = {gone}")

    async def act(pool: Pool) -> None:
        await delete_expired_visits(pool, now=time.time(), at_once=1)

    with_pool(url, act)
    assert execute(url, "SELECT stream_id, count(*) FROM streams_devicecoverage GROUP BY 1") == [(short, 2)]
    assert execute(url, "SELECT count(*) FROM streams_coverage") == [(1,)]
