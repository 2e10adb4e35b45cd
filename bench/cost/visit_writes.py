"""What a visit writes to the database in its life: rows, WAL, bytes of its table; now and as the release before did."""

import asyncio
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import psycopg

from bench.cost.data_ingest import draw_visit
from bench.cost.visit_writes_before import SCHEMA, WriterBefore
from onlooker.database import open_pool
from onlooker.settings import Settings
from onlooker.visits.partitions import Partitions
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.visits.fold import PUBLISHED_EVERY_MS, SHORTEST_VISIT_MS
from onlooker_pipeline.visits.visit import SHORTEST_LOOK_S, SHORTEST_STOP_S, Visit
from testkit import migrated_database, own_cluster

STREAMS = 300
LONGEST_MS = 28_000
"""Of a visit, beyond two seconds; most are far shorter."""
VISITS_PER_SECOND = 100
BATCH = 20
"""Revisions that a recorder finds waiting at that pace, roughly."""
TUNING = ("autovacuum=off", "max_wal_size=4GB", "checkpoint_timeout=30min")
"""So that nothing is measured twice in one run and once in the other."""
MAKE_STREAMS = """
WITH owner AS (INSERT INTO accounts_account (password, is_superuser, email, is_staff, is_active, created_at)
               VALUES ('!', false, 'owner@example.org', false, true, now()) RETURNING id)
INSERT INTO streams_stream (owner_id, name, client_id, kind, enabled, created_at)
SELECT owner.id, 'stream ' || number, gen_random_uuid(), 'enterprise', true, now()
FROM owner, generate_series(1, %s) number RETURNING id
"""
READ_ROWS = """
SELECT sum(n_tup_ins + n_tup_upd + n_tup_del), sum(n_tup_ins + n_tup_upd) FILTER (WHERE is_visit),
       sum(n_tup_upd) FILTER (WHERE is_visit), sum(n_tup_hot_upd) FILTER (WHERE is_visit)
FROM (SELECT *, relname ~ '^visits_visit_y' AS is_visit FROM pg_stat_user_tables WHERE relname ~ '^visits_') written
"""
READ_BYTES = """
SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'visits_visit'::regclass
"""


@dataclass(frozen=True)
class VisitCost:
    """Of one visit, on average."""

    revisions: float
    rows: float
    """Rows inserted, updated or deleted in all tables of visits."""
    wal_bytes: float
    table_bytes: float
    """Of the table with its indexes, before any vacuum."""
    hot_share: float
    """Of updates that touched no index."""


def revisions_of(visit: Visit) -> Iterator[tuple[int, Visit]]:
    """When each revision is published, and what it says: as `fold` does it, for a person seen all the time."""
    begins_ms, ends_ms = visit.began_ms, visit.present[-1][1]
    stops_ms = begins_ms + 500 + 1000 * max(SHORTEST_STOP_S, SHORTEST_LOOK_S)
    revision, due_ms = 0, begins_ms + SHORTEST_VISIT_MS
    is_interested = not (visit.still and visit.looking)
    while due_ms < ends_ms:
        revision += 1
        yield due_ms, _cut(visit, due_ms, revision)
        following_ms = due_ms + PUBLISHED_EVERY_MS
        if not is_interested and stops_ms < following_ms:
            following_ms, is_interested = stops_ms, True
        due_ms = following_ms
    yield ends_ms + 1000, msgspec.structs.replace(visit, revision=revision + 1)


def _cut(visit: Visit, at_ms: int, revision: int) -> Visit:
    """As much of it as was known at a moment."""
    parts = {
        name: [(start, min(end, at_ms)) for start, end in getattr(visit, name) if start < at_ms]
        for name in ("present", "still", "looking")
    }
    return msgspec.structs.replace(visit, revision=revision, ended=False, **parts)


def draw_revisions(streams: list[int], visits: int) -> list[Visit]:
    """In the order in which they come."""
    drawing = random.Random(1)
    begins_ms = int(time.time() * 1000) - 3_600_000
    published: list[tuple[int, Visit]] = []
    for number in range(visits):
        began_ms = begins_ms + 1000 * number // VISITS_PER_SECOND
        drawn = draw_visit(drawing, drawing.choice(streams), began_ms, longest_ms=LONGEST_MS)
        published += revisions_of(drawn)
    return [visit for _, visit in sorted(published, key=lambda one: one[0])]


def measure_visits(visits: int) -> dict[str, VisitCost]:
    """Of the same visits, before and after."""
    with own_cluster(*TUNING) as cluster:
        return {way: _measure(cluster.url, visits, before=way == "before") for way in ("before", "after")}


def _measure(server: str, visits: int, *, before: bool) -> VisitCost:
    with migrated_database(server) as url, psycopg.connect(url, autocommit=True) as connection:
        streams = [row[0] for row in connection.execute(MAKE_STREAMS, [STREAMS]).fetchall()]
        revisions = draw_revisions(streams, visits)
        asyncio.run(_write(url, [], before=False))
        if before:
            connection.execute(SCHEMA)
        connection.execute("CHECKPOINT")
        started_at = _one(connection, "SELECT pg_current_wal_insert_lsn()")[0]
        asyncio.run(_write(url, revisions, before=before))
        wal_bytes = _one(connection, "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), %s)", started_at)[0]
        time.sleep(1.5)  # until the connections that are closed have reported what they did
        rows, written, updated, hot = (float(value) for value in _one(connection, READ_ROWS))
        assert _one(connection, "SELECT count(*), count(*) FILTER (WHERE ended) FROM visits_visit") == (visits, visits)
        table_bytes = float(_one(connection, READ_BYTES)[0])
    return VisitCost(written / visits, rows / visits, float(wal_bytes) / visits, table_bytes / visits, hot / updated)


def _one(connection: psycopg.Connection[tuple[Any, ...]], query: str, *values: object) -> tuple[Any, ...]:
    found = connection.execute(query, values or None).fetchone()
    assert found
    return found


async def _write(url: str, revisions: list[Visit], *, before: bool) -> None:
    async with open_pool(Settings(database_url=url)) as pool:
        partitions = Partitions(pool)
        await partitions.make_ahead(time.time())
        writer = WriterBefore(pool) if before else VisitWriter(pool, partitions)
        for first in range(0, len(revisions), BATCH):
            assert not await writer.write(revisions[first : first + BATCH])
