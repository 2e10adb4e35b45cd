"""Numbers are read from a standby as long as it is known to be up to date; its lag against an oracle."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import LiteralString

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker import standby
from onlooker.database import DATABASE_UNAVAILABLE
from onlooker.demo.postgresql import Cluster
from onlooker.settings import Settings
from onlooker.standby import NumbersPool, StandbyLag, open_numbers_pool
from testkit.postgresql import own_cluster, own_standby

LOOKS = st.lists(
    st.tuples(st.integers(1, 5), st.none() | st.integers(0, 3), st.none() | st.integers(0, 9)), min_size=1, max_size=30
)


@given(looks=LOOKS)
def test_lag_is_the_age_of_the_newest_moment_that_the_standby_has_reached(
    looks: list[tuple[int, int | None, int | None]],
) -> None:
    lag, now, written = StandbyLag(0.0), 0.0, 0
    seen: list[tuple[float, int]] = []
    complete_at = 0.0
    for waited, grown, reached in looks:
        now += waited
        written += grown or 0
        if grown is not None:
            seen.append((now, written))
        if reached is not None:
            complete_at = max([complete_at, *(at for at, position in seen if position <= reached)])
        assert lag.note(now, primary=None if grown is None else written, standby=reached) == now - complete_at


@pytest.fixture
def clusters() -> Iterator[tuple[Cluster, Cluster]]:
    """A primary and its standby."""
    with own_cluster("fsync=off") as primary, own_standby(primary) as copy:
        yield primary, copy


@pytest.mark.alone
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


def _execute(cluster: Cluster, statement: LiteralString) -> None:
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        connection.execute(statement)
