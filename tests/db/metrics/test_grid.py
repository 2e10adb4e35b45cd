"""On the grid an answer is that of whole slots, and changes once a minute."""

import time
from datetime import timedelta
from zoneinfo import ZoneInfo

from grouped_stream import DAY, OVER, GroupedStream, slot
from onlooker.database import Pool
from onlooker.metrics.block_release import release_blocks
from onlooker.metrics.execution import run_query
from onlooker.metrics.query import Query, parse_query
from onlooker.metrics.rollup import fill_slots

pytest_plugins = ["migrated"]

MINUTE = timedelta(minutes=1)


def test_a_range_is_rounded_to_the_slots_that_its_ends_lie_in() -> None:
    query = Query(1, (), slot(4) + MINUTE, slot(8), ZoneInfo("UTC"))
    assert (query.on_grid().from_at, query.on_grid().to_at) == (slot(4), slot(8))
    later = Query(1, (), slot(4), slot(8) + timedelta(microseconds=1), ZoneInfo("UTC")).on_grid()
    assert (later.from_at, later.to_at, later.grid) == (slot(4), slot(9), True)
    asked = {"metrics": "passing_by", "from_date": (slot(4) + MINUTE).isoformat()}
    parsed, _ = parse_query(asked, stream_id=1, time_zone="UTC", now=slot(8) + MINUTE, grid=True)
    assert (parsed.from_at, parsed.to_at) == (slot(4), slot(9))


def test_all_ranges_within_the_same_slots_have_the_same_answer(url: str) -> None:
    """Somebody who stays from one slot into the next is counted once, where they came."""
    stream = GroupedStream.create(url, groups_of=2, grid=True)

    async def act(pool: Pool) -> None:
        await stream.write(pool, [*stream.people({40: 2, 41: 2}), stream.person(41, lasts_s=900)], fill=False)
        await fill_slots(pool, due_s=0, now=time.time() + 60)
        await release_blocks(pool, OVER)
        answers = [
            await stream.ask(pool, slot(41) + begin, slot(42) - end, grid=True)
            for begin in (0 * MINUTE, MINUTE, 6 * MINUTE)
            for end in (0 * MINUTE, 5 * MINUTE)
        ]
        assert all(answer.entities == answers[0].entities for answer in answers)
        assert not any(answer.exact for answer in answers)
        assert answers[0].entities["global"]["interested"] == {"value": 3}
        assert answers[0].entities["global"]["gender"]["?"] == 3  # one of them reaches into the next slot
        after = (await stream.ask(pool, slot(42), slot(43), grid=True)).entities["global"]
        assert after["interested"] == {"value": 0}
        both = (await stream.ask(pool, slot(40), slot(43), grid=True)).entities["global"]
        assert both["gender"]["?"] == 0

    stream.run(act)


def test_a_slot_changes_with_the_first_pass_after_a_full_minute(url: str) -> None:
    stream = GroupedStream.create(url, grid=True)

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({40: 1}), fill=False)
        now = time.time()
        assert await fill_slots(pool, due_s=0, now=now - 60) == 0
        assert (await stream.ask(pool, grid=True)).entities["global"]["interested"] == {"value": 0}
        assert await fill_slots(pool, due_s=0, now=now + 60) == 1
        assert (await stream.ask(pool, grid=True)).entities["global"]["interested"] == {"value": 1}

    stream.run(act)


def test_nobody_is_told_who_is_in_view(url: str) -> None:
    stream = GroupedStream.create(url)

    async def act(pool: Pool) -> None:
        query = Query(stream.id, ("in_view",), DAY, DAY + timedelta(days=30), ZoneInfo("UTC"))
        nobody = (await run_query(pool, query)).entities["global"]["in_view"]
        hidden = (await run_query(pool, query.on_grid())).entities["global"]["in_view"]
        assert nobody == {"value": 0, "looking": 0}
        assert hidden == {"value": None, "looking": None}

    stream.run(act)
