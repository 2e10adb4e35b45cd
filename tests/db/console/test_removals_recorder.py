"""A recorder keeps nothing of a stream that is being removed, whatever its visits' times say."""

import time
from typing import Any

import psycopg

from onlooker.database import Pool
from onlooker.visits.partitions import Partitions
from onlooker.visits.retention import remove_expired
from onlooker.visits.writer import VisitRefusal, VisitWriter, put_visit_aside
from recorder_process import create_stream, visit, with_pool

pytest_plugins = ["migrated"]


def execute(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(query)
        return cursor.fetchall() if cursor.description else []


def remove(url: str, stream_id: int) -> None:
    execute(url, f"UPDATE streams_stream SET removed_at = now(), owner_id = NULL WHERE id = {stream_id}")


def test_visits_of_a_removed_stream_go_even_those_that_began_in_the_future(url: str) -> None:
    removed, kept = create_stream(url), create_stream(url)
    now_ms = int(time.time() * 1000)

    async def act(pool: Pool) -> None:
        partitions = Partitions(pool)
        visits = [visit(one, began_ms=now_ms + s * 1000) for one in (removed, kept) for s in (-90_000, 0, 290)]
        assert await VisitWriter(pool, partitions).write(visits) == []
        remove(url, removed)
        await remove_expired(pool, partitions, now=time.time())

    with_pool(url, act)
    assert execute(url, "SELECT stream_id, count(*) FROM visits_visit GROUP BY 1") == [(kept, 3)]


def test_what_comes_late_for_a_removed_stream_is_neither_written_nor_put_aside(url: str) -> None:
    removed = create_stream(url)
    remove(url, removed)

    async def act(pool: Pool) -> None:
        late = visit(removed)
        assert await VisitWriter(pool, Partitions(pool)).write([late]) == []
        await put_visit_aside(pool, VisitRefusal(late, "refused", ""))

    with_pool(url, act)
    assert execute(url, "SELECT (SELECT count(*) FROM visits_visit), (SELECT count(*) FROM visits_putaside)") == [
        (0, 0)
    ]
