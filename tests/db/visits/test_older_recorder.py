"""Recorders of the release before write beside ours to the same tables: no visit is doubled, lost or left open."""

import random
import time

import psycopg
import pytest

from bench.cost.visit_writes import draw_revisions
from bench.cost.visit_writes_before import WriterBefore
from onlooker.database import Pool, load_queries
from onlooker.metrics.rollup import fill_slots, restart_rollup
from onlooker.streams.video_time import month_of
from onlooker.visits.partitions import Partitions
from onlooker.visits.writer import VisitWriter
from recorder_process import create_stream, with_pool

pytest_plugins = ["migrated"]
BATCH = 7


def read(url: str, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(query).fetchall()


@pytest.mark.parametrize("seed", range(3))
def test_recorders_of_both_releases_write_each_visit_once(url: str, seed: int) -> None:
    """In any order, some twice, while slots are filled in between."""
    drawing = random.Random(seed)
    revisions = draw_revisions([create_stream(url) for _ in range(3)], 60)
    newest = {visit.id: visit.revision for visit in sorted(revisions, key=lambda visit: visit.revision)}
    delivered = revisions + drawing.sample(revisions, 30)
    drawing.shuffle(delivered)

    async def act(pool: Pool) -> None:
        await restart_rollup(pool, senior_age=50)
        partitions = Partitions(pool)
        await partitions.require({month_of(visit.began_ms / 1000) for visit in revisions}, revisions[0].began_ms / 1000)
        writers = [WriterBefore(pool), VisitWriter(pool, partitions)]
        for first in range(0, len(delivered), BATCH):
            assert not await drawing.choice(writers).write(delivered[first : first + BATCH])
            if drawing.random() < 0.3:
                await fill_slots(pool, due_s=0)
        while await fill_slots(pool, due_s=0):
            pass

    with_pool(url, act)
    rows = read(url, "SELECT id, revision, ended FROM visits_visit")
    found = {row[0].bytes: row[1:] for row in rows}  # type: ignore[attr-defined]
    assert len(found) == len(rows)
    assert {key: found[key] for key in newest} == {key: (revision, True) for key, revision in newest.items()}
    truth = """SELECT stream_id, date_bin('15 minutes', began_at, 'epoch'), count(*), max(upper(present))
               FROM visits_visit GROUP BY 1, 2 ORDER BY 1, 2"""
    filled = "SELECT stream_id, slot_at, passing_by, reaches_at FROM metrics_slot ORDER BY 1, 2"
    assert read(url, truth) == read(url, filled)


@pytest.mark.parametrize("name", ["end_visits", "silent_sessions", "quiet_sessions"])
def test_open_visits_are_found_by_the_index_that_stays(url: str, name: str) -> None:
    """These statements are the same in both releases."""
    with_pool(url, lambda pool: Partitions(pool).make_ahead(time.time()))
    values = {"session": "x", "silent_s": 75, "quiet_s": 40, "limit": 5, "sessions": [], "written": []}
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET enable_seqscan = off")
        query = load_queries("onlooker.visits")[name]
        plan = "\n".join(row[0] for row in connection.execute("EXPLAIN " + query, values).fetchall())
    assert "Index" in plan
    assert "stream_id_idx" in plan or "visits_in_view" in plan
    assert "Seq Scan" not in plan
