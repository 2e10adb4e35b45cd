"""A removed stream leaves nothing behind, neither rows nor bytes, even if processes die meanwhile."""

import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from clients import client_of
from coverage_frames import run_cli
from onlooker.database import Pool
from onlooker.visits.partitions import Partitions
from onlooker.visits.writer import VisitWriter
from recorder_process import visit, with_pool
from testkit import Stack, migrated_database, running_stack
from wire import finished, measure, store_blob, wait_for

TABLES = """SELECT c.table_name FROM information_schema.columns c JOIN information_schema.tables t
            USING (table_schema, table_name)
            WHERE c.column_name = 'stream_id' AND t.table_schema = 'public' AND t.table_type = 'BASE TABLE'"""

WRITTEN = {"visits_visit", "gateway_job", "gateway_blob", "streams_usage", "streams_statechange"}


@pytest.fixture(scope="module")
def mortal_stack() -> Iterator[Stack]:
    services = {"extra_services": "extra.measure,extra.trouble", "worker_services": "measure,trouble"}
    with migrated_database() as url, running_stack(url, **services) as running:
        yield running


def rows_of(stack: Stack, stream_id: int) -> dict[str, int]:
    with psycopg.connect(stack.setting("database_url"), autocommit=True) as connection:
        tables = [row[0] for row in connection.execute(TABLES).fetchall()]
        counts = {}
        for table in tables:
            row = connection.execute(f"SELECT count(*) FROM {table} WHERE stream_id = %s", [stream_id]).fetchone()
            assert row
            counts[table] = row[0]
    return {table: count for table, count in counts.items() if count}


def files_of(stack: Stack) -> list[Path]:
    return [path for path in (stack.home / "blobs").rglob("*") if path.is_file()]


def write_visits(stack: Stack, stream_id: int) -> None:
    """Some of them began a little in the future, as a camera's clock may have it."""

    async def act(pool: Pool) -> None:
        now_ms = int(time.time() * 1000)
        visits = [visit(stream_id, began_ms=now_ms + offset_s * 1000) for offset_s in (-86_400 * 40, -60, 0, 240)]
        assert await VisitWriter(pool, Partitions(pool)).write(visits) == []

    with_pool(stack.setting("database_url"), act)


def test_a_removed_stream_leaves_no_row_and_no_bytes(mortal_stack: Stack) -> None:
    stack = mortal_stack
    stream, other = stack.create_stream(), stack.create_stream()
    for one in (stream, other):
        write_visits(stack, one.id)
        with client_of(stack, one) as client:
            assert store_blob(client).status_code == 201
            assert finished(client, measure(client, **{"async": True}).json()["url"]).status_code == 200
    with client_of(stack, stream) as client:  # one computes for long, the others wait behind it with their pictures
        client.post("/services/trouble/1/jobs", json={"sleep_s": 12})
        for _ in range(5):
            assert measure(client, **{"async": True}).status_code == 202
    for one in (stream, other):  # use is written every two seconds
        wait_for(lambda one=one: rows_of(stack, one.id).keys(), lambda tables: tables >= WRITTEN)
    kept, files = rows_of(stack, other.id), len(files_of(stack))
    assert files >= 7

    run_cli(stack, "stream", "remove", stream.client_id, "--yes")
    stack.execute("UPDATE streams_stream SET removed_at = removed_at - interval '5 minutes' WHERE id = %s", stream.id)
    stack.execute("UPDATE gateway_blob SET created_at = created_at - interval '5 minutes'")
    assert stack.kill("console")
    assert stack.kill("dispatcher")

    query = "SELECT count(*) FROM streams_stream WHERE id = %s"
    wait_for(lambda: stack.execute(query, stream.id), lambda found: found == [(0,)], limit_s=90, every_s=0.5)
    assert rows_of(stack, stream.id) == {}
    wait_for(lambda: len(files_of(stack)), lambda count: count == 1)  # the other stream's blob
    assert rows_of(stack, other.id) == kept
