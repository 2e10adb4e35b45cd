"""PgBouncer in transaction mode before PostgreSQL: what goes through it, and what goes past it."""

import asyncio
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from onlooker.database import Pool, direct_url, open_direct_pool, open_pool
from onlooker.demo.postgresql import Cluster
from onlooker.settings import Settings
from testkit.ports import free_ports
from testkit.postgresql import own_cluster

pytestmark = pytest.mark.skipif(not shutil.which("pgbouncer"), reason="PgBouncer is not installed (Debian: pgbouncer)")
REPEATS = 20
"""From the sixth time on, psycopg would name a statement, which the next connection of a pooler does not know."""


@contextmanager
def pooler_of(cluster: Cluster, folder: Path) -> Iterator[str]:
    """The URL of the same database through a pooler that has two connections to it."""
    port, users = free_ports(1)[0], folder / "users.txt"
    users.write_text('"postgres" ""\n')
    settings = folder / "pgbouncer.ini"
    settings.write_text(
        f"[databases]\npostgres = host=127.0.0.1 port={cluster.port}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = trust\n"
        f"auth_file = {users}\npool_mode = transaction\ndefault_pool_size = 2\n"
    )
    for path in (folder, users, settings):
        shutil.chown(path, cluster.user)
    process = subprocess.Popen(
        ["pgbouncer", settings], user=cluster.user, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/"
    )
    url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
    try:
        give_up_at = time.monotonic() + 20
        while time.monotonic() < give_up_at:
            with suppress(psycopg.OperationalError):
                psycopg.connect(url).close()
                break
            time.sleep(0.1)
        yield url
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def pooled() -> Iterator[Settings]:
    """PgBouncer is not root either, so its folder is none of pytest's."""
    with (
        tempfile.TemporaryDirectory() as folder,
        own_cluster("fsync=off") as cluster,
        pooler_of(cluster, Path(folder)) as url,
    ):
        yield Settings(database_url=url, database_direct_url=cluster.url, database_pool_size=6)


def test_statements_that_repeat_go_through_whichever_connection_there_is(pooled: Settings) -> None:
    async def ask(pool: Pool, number: int) -> int:
        async with pool.connection() as connection, connection.transaction():
            row = await (await connection.execute("SELECT %s::int + 1 AS found", [number])).fetchone()
            await asyncio.sleep(0.001)
        return int(row["found"]) if row else -1

    async def run() -> list[int]:
        async with open_pool(pooled) as pool:
            return [
                found
                for start in range(REPEATS)
                for found in await asyncio.gather(*(ask(pool, start + number) for number in range(6)))
            ]

    assert asyncio.run(run()) == [start + number + 1 for start in range(REPEATS) for number in range(6)]


def test_numbers_go_past_it_with_plans_and_a_limit_of_time(pooled: Settings) -> None:
    async def run() -> tuple[str, str]:
        async with open_direct_pool(pooled, statement_limit_s=0.2) as pool, pool.connection() as connection:
            row = await (await connection.execute("SHOW plan_cache_mode")).fetchone()
            try:
                await connection.execute("SELECT pg_sleep(5)")
            except psycopg.errors.QueryCanceled as error:
                return str(row and row["plan_cache_mode"]), str(error)
        return "", ""

    plan, reason = asyncio.run(run())
    assert plan == "force_generic_plan"
    assert "statement timeout" in reason


def test_who_listens_past_it_hears_what_is_said_through_it(pooled: Settings) -> None:
    async def run() -> list[str]:
        async with (
            await psycopg.AsyncConnection.connect(direct_url(pooled), autocommit=True) as listener,
            open_pool(pooled) as pool,
        ):
            await listener.execute("LISTEN jobs")
            async with pool.connection() as connection:
                await connection.execute("SELECT pg_notify('jobs', 'one')")
            return [notice.payload async for notice in listener.notifies(timeout=5, stop_after=1)]

    assert asyncio.run(run()) == ["one"]
