"""A pool of connections after the database was away for longer than the pool tries by itself."""

import asyncio
import time
from collections.abc import Iterator

import pytest

from onlooker import database
from onlooker.database import DATABASE_UNAVAILABLE, open_pool
from onlooker.settings import Settings
from testkit import Cluster, own_cluster

AWAY_S = 4.0
BACK_LIMIT_S = 3.0


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with own_cluster("fsync=off") as running:
        yield running


@pytest.mark.alone
def test_a_pool_is_back_soon_after_its_database(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody asks for a connection meanwhile."""
    monkeypatch.setattr(database, "RECONNECT_S", 0.5)

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
