"""A page from the middle of a range is read off the roll-up, but never at the cost of a visit that is not in it."""

import time
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from onlooker.database import Pool
from onlooker.metrics.buckets import page_buckets
from onlooker.metrics.execution import run_query
from onlooker.metrics.query import PAGE_BUCKETS, Query, Time
from onlooker.metrics.rollup import fill_slots
from onlooker.metrics.statements import is_quick
from onlooker.visits.partitions import Partitions
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.visits.visit import Visit
from recorder_process import create_stream, visit, with_pool

pytest_plugins = ["migrated"]

HOUR_MS = 3_600_000
BEGIN_MS = int(time.time() * 1000) // 86_400_000 * 86_400_000 - 10 * 86_400_000
"""A midnight some days ago."""
HOUR = PAGE_BUCKETS + 10
"""An hour of the second page."""


def asked(stream_id: int, *, zone: str = "UTC") -> Query:
    """Three pages of hours; the range begins and ends inside a slot."""
    from_at = datetime.fromtimestamp(BEGIN_MS / 1000, UTC) + timedelta(minutes=5)
    to_at = from_at + timedelta(hours=3 * PAGE_BUCKETS - 1)
    return Query(stream_id, ("interested", "passing_by"), from_at, to_at, ZoneInfo(zone), Time.BY_HOUR)


def passing(stream_id: int, *, hour: float) -> Visit:
    return visit(stream_id, began_ms=BEGIN_MS + int(hour * HOUR_MS), revision=5)


async def count_by_hour(pool: Pool, query: Query, page: int = 2) -> list[int]:
    entities = (await run_query(pool, query, page)).entities
    return [int(metrics["passing_by"]["value"] or 0) for metrics in entities.values()]


def test_only_a_page_from_the_middle_without_cut_slots_is_quick() -> None:
    def quick(query: Query, page: int) -> bool:
        buckets = page_buckets(query, first=(page - 1) * PAGE_BUCKETS, count=PAGE_BUCKETS)
        return is_quick(query, buckets.edges_s)

    assert [quick(asked(1), page) for page in (1, 2, 3)] == [False, True, False]
    assert quick(asked(1, zone="Asia/Kathmandu"), 2)
    long_ago = datetime(1971, 1, 1, tzinfo=UTC)
    odd = Query(1, ("interested",), long_ago, long_ago + timedelta(days=9), ZoneInfo("Africa/Monrovia"), Time.BY_HOUR)
    assert not quick(odd, 2)


def test_visits_that_are_rolled_up_are_counted_where_they_begin(url: str) -> None:
    stream_id = create_stream(url)

    async def act(pool: Pool) -> None:
        await VisitWriter(pool, Partitions(pool)).write(
            [passing(stream_id, hour=HOUR), passing(stream_id, hour=HOUR + 2)]
        )
        await fill_slots(pool, due_s=0)
        counts = await count_by_hour(pool, asked(stream_id))
        assert [hour for hour, count in enumerate(counts) if count] == [10, 12]

    with_pool(url, act)


def test_visits_that_are_not_rolled_up_yet_are_counted_too(url: str) -> None:
    stream_id = create_stream(url)

    async def act(pool: Pool) -> None:
        writer = VisitWriter(pool, Partitions(pool))
        await writer.write([passing(stream_id, hour=HOUR)])
        assert (await count_by_hour(pool, asked(stream_id)))[10] == 1
        await fill_slots(pool, due_s=0)
        await writer.write([passing(stream_id, hour=HOUR)])
        assert (await count_by_hour(pool, asked(stream_id)))[10] == 2

    with_pool(url, act)


def test_somebody_who_comes_back_within_the_range_is_counted_when_they_do(url: str) -> None:
    """They left before the range begins, so their part inside it begins on its second page."""
    stream_id = create_stream(url)
    began_ms, back_ms = BEGIN_MS - HOUR_MS, BEGIN_MS + HOUR * HOUR_MS
    one = visit(stream_id, began_ms=began_ms, present=[(began_ms, began_ms + 2000), (back_ms, back_ms + 2000)])

    async def act(pool: Pool) -> None:
        await VisitWriter(pool, Partitions(pool)).write([one])
        await fill_slots(pool, due_s=0)
        assert (await count_by_hour(pool, asked(stream_id)))[10] == 1
        assert sum(await count_by_hour(pool, asked(stream_id), page=1)) == 0

    with_pool(url, act)


def test_of_somebody_who_stays_beyond_the_range_only_the_part_inside_is_judged(url: str) -> None:
    stream_id = create_stream(url)
    began_ms, stops_ms = BEGIN_MS + HOUR * HOUR_MS, BEGIN_MS + 4 * PAGE_BUCKETS * HOUR_MS
    stop = (stops_ms, stops_ms + 5000)
    parts = [(began_ms, began_ms + 2000), stop]
    one = visit(stream_id, began_ms=began_ms, present=parts, still=[stop], looking=[stop])

    async def act(pool: Pool) -> None:
        await VisitWriter(pool, Partitions(pool)).write([one])
        await fill_slots(pool, due_s=0)
        found = list((await run_query(pool, asked(stream_id), 2)).entities.values())[10]
        assert found == {"interested": {"value": 0}, "passing_by": {"value": 1}}

    with_pool(url, act)


def test_metrics_come_in_the_order_in_which_they_were_asked_for(url: str) -> None:
    stream_id = create_stream(url)

    async def act(pool: Pool) -> None:
        await VisitWriter(pool, Partitions(pool)).write([passing(stream_id, hour=HOUR)])
        query = asked(stream_id)
        names = ("gender", "passing_by", "stop_time", "interested")
        answer = await run_query(pool, Query(stream_id, names, query.from_at, query.to_at, query.zone))
        assert list(answer.entities["global"].items()) == [
            ("gender", {"?": 0, "female": 0, "male": 0}),
            ("passing_by", {"value": 1}),
            ("stop_time", {"value": None}),
            ("interested", {"value": 0}),
        ]

    with_pool(url, act)
