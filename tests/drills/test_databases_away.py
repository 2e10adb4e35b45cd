"""Numbers are read from a standby until it lags or stops; a pool is back soon after a database that was away."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import LiteralString

import psycopg
import pytest

from onlooker import database, standby
from onlooker.database import DATABASE_UNAVAILABLE, open_pool
from onlooker.demo.postgresql import Cluster
from onlooker.settings import Settings
from onlooker.standby import NumbersPool, open_numbers_pool
from testkit.postgresql import own_cluster, own_standby

AWAY_S = 2.0
"""Longer than a pool tries by itself."""
BACK_LIMIT_S = 3.0


@pytest.fixture(scope="module")
def clusters() -> Iterator[tuple[Cluster, Cluster]]:
    """A primary and its standby."""
    with own_cluster("fsync=off") as primary, own_standby(primary) as copy:
        yield primary, copy


def test_numbers_come_from_a_standby_until_it_lags(
    clusters: tuple[Cluster, Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standby, "CHECK_EVERY_S", 0.1)

    async def port_becomes(numbers: NumbersPool, port: int) -> bool:
        give_up_at = time.monotonic() + 30
        while time.monotonic() < give_up_at:
            with suppress(*DATABASE_UNAVAILABLE):
                async with numbers.pool.connection() as connection:
                    row = await (await connection.execute("SELECT current_setting('port')::int AS port")).fetchone()
                if row and row["port"] == port:
                    return True
            await asyncio.sleep(0.1)
        return False

    async def follow(primary: Cluster, copy: Cluster) -> None:
        settings = Settings(database_url=primary.url, database_read_url=copy.url, database_read_lag_s=1)
        async with open_numbers_pool(settings, size=2) as numbers:
            assert await port_becomes(numbers, copy.port)
            _execute(copy, "SELECT pg_wal_replay_pause()")
            _execute(primary, "CREATE TABLE later (number int)")
            assert await port_becomes(numbers, primary.port)
            _execute(copy, "SELECT pg_wal_replay_resume()")
            assert await port_becomes(numbers, copy.port)
            async with numbers.pool.connection() as connection:
                await connection.execute("SELECT number FROM later")
                limit = await (await connection.execute("SHOW statement_timeout")).fetchone()
            assert limit == {"statement_timeout": "10s"}
            copy.control("stop", "-m", "immediate")
            try:
                assert await port_becomes(numbers, primary.port)
            finally:
                copy.control("start")

    asyncio.run(follow(*clusters))


def test_a_pool_is_back_soon_after_its_database(
    clusters: tuple[Cluster, Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody asks for a connection meanwhile."""
    monkeypatch.setattr(database, "RECONNECT_S", 0.5)
    _, cluster = clusters

    async def run(settings: Settings) -> float:
        async with open_pool(settings, size=2) as pool:
            async with pool.connection() as connection:
                await connection.execute("SELECT 1")
            cluster.control("stop", "-m", "immediate")
            with pytest.raises(DATABASE_UNAVAILABLE):
                async with pool.connection() as connection:
                    await connection.execute("SELECT 1")
            await asyncio.sleep(AWAY_S)
            await asyncio.to_thread(cluster.control, "start")
            back_at = time.monotonic()
            while not pool.get_stats().get("pool_available", 0):
                assert time.monotonic() < back_at + 30
                await asyncio.sleep(0.05)
            return time.monotonic() - back_at

    assert asyncio.run(run(Settings(database_url=cluster.url))) < BACK_LIMIT_S


def _execute(cluster: Cluster, statement: LiteralString) -> None:
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        connection.execute(statement)
