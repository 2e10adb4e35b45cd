"""Months of visits: made ahead and on demand, by several recorders at once, and dropped when nobody keeps them."""

import asyncio
from datetime import UTC, date, datetime

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.database import Pool
from onlooker.streams.video_time import month_after
from onlooker.visits.partitions import OutOfRange, Partitions, month_in, partition_of
from recorder_process import create_stream, with_pool

pytest_plugins = ["migrated"]

NOW = datetime(2026, 11, 15, tzinfo=UTC).timestamp()


def partitions_in(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT relid::text FROM pg_partition_tree('visits_visit') WHERE isleaf").fetchall()
    return sorted(row[0].removeprefix("visits_visit_") for row in rows)


def months(*words: str) -> set[date]:
    return {date(int(word[:4]), int(word[5:]), 1) for word in words}


@given(st.dates(date(1, 1, 1), date(9000, 1, 1)), st.integers(0, 100))
def test_months_follow_one_another(day: date, count: int) -> None:
    month = day.replace(day=1)
    after = month_after(month, count)
    assert (after.year - month.year) * 12 + after.month - month.month == count
    assert month_after(after, -count) == month
    if month.year > 999:
        assert month_in(partition_of(month)) == month


def test_this_month_and_the_next_two_are_made_ahead(url: str) -> None:
    async def act(pool: Pool) -> None:
        for _ in range(2):
            await Partitions(pool).make_ahead(NOW)

    with_pool(url, act)
    assert partitions_in(url) == ["y2026m11", "y2026m12", "y2027m01"]


def test_recorders_that_make_the_same_months_at_once_do_not_fight(url: str) -> None:
    create_stream(url, retention_days=400)
    wanted = months(*(f"2026-{number:02}" for number in range(1, 13)))

    async def act(pool: Pool) -> None:
        await asyncio.gather(*(Partitions(pool).require(set(wanted), NOW) for _ in range(6)))

    with_pool(url, act)
    assert partitions_in(url) == [f"y2026m{number:02}" for number in range(1, 13)]


@pytest.mark.parametrize(
    ("month", "is_kept"), [("2026-09", True), ("2026-08", False), ("2026-12", True), ("2027-01", False)]
)
def test_a_month_is_made_where_a_stream_keeps_it_and_one_more(url: str, month: str, is_kept: bool) -> None:
    create_stream(url, retention_days=3)
    create_stream(url, retention_days=40)

    async def act(pool: Pool) -> None:
        if is_kept:
            await Partitions(pool).require(months(month), NOW)
        else:
            with pytest.raises(OutOfRange, match=r"2026-09 and 2026-12"):
                await Partitions(pool).require(months(month), NOW)

    with_pool(url, act)
    assert partitions_in(url) == ([f"y{month.replace('-', 'm')}"] if is_kept else [])


def test_making_a_month_does_not_wait_for_readers_or_writers_of_others(url: str) -> None:
    create_stream(url)

    async def act(pool: Pool) -> None:
        await Partitions(pool).make_ahead(NOW)
        async with pool.connection() as reader, reader.transaction():
            await reader.execute("SELECT count(*) FROM visits_visit")
            await reader.execute("DELETE FROM visits_visit WHERE began_at > now()")
            await Partitions(pool).require(months("2026-10"), NOW)

    with_pool(url, act)
    assert "y2026m10" in partitions_in(url)


def test_a_month_is_dropped_once_it_is_past_every_retention(url: str) -> None:
    create_stream(url, retention_days=3)
    create_stream(url, retention_days=40)

    async def act(pool: Pool) -> None:
        partitions = Partitions(pool)
        await partitions.require(months("2026-09", "2026-10", "2026-11"), NOW)
        await partitions.drop_expired(NOW)
        await partitions.drop_expired(NOW)

    with_pool(url, act)
    assert partitions_in(url) == ["y2026m10", "y2026m11"]
