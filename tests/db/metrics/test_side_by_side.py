"""Rows side by side and weeks before and after a day: random worlds get the oracle's numbers."""

import asyncio
import random
from collections.abc import Iterator
from dataclasses import asdict
from datetime import date
from zoneinfo import ZoneInfo

import pytest

from onlooker.metrics.before_after import Watershed
from onlooker.metrics.side_by_side import ClockSpan, watched_by
from testkit.worlds.compared_rows import RowCounts, compare_row_world, describe_row_world, draw_row_world
from testkit.worlds.player import Player
from testkit.worlds.search import running_player

pytest_plugins = ["migrated"]

WORLDS = 40
SEED = 20261118


@pytest.fixture(scope="module")
def played(database: str) -> Iterator[tuple[asyncio.Runner, Player]]:
    with asyncio.Runner() as runner, running_player(runner, database) as player:
        yield runner, player


def test_rows_of_random_worlds_are_the_oracles(played: tuple[asyncio.Runner, Player]) -> None:
    runner, player = played
    chance, tally = random.Random(SEED), RowCounts()
    for _ in range(WORLDS):
        world = draw_row_world(chance)
        wrong = runner.run(compare_row_world(player, world, tally))
        assert not wrong, "\n".join([describe_row_world(world), *wrong])
    assert all(asdict(tally).values()), tally


def test_time_counts_where_enough_parties_watched() -> None:
    parties = [
        [ClockSpan(0, 0, 40), ClockSpan(1, 0, 10)],
        [ClockSpan(0, 0, 20), ClockSpan(0, 20, 30)],
        [ClockSpan(0, 10, 50)],
    ]
    assert watched_by(parties, 3) == [ClockSpan(0, 10, 30)]
    assert watched_by(parties, 2) == [ClockSpan(0, 0, 40)]
    assert watched_by(parties, 1) == [ClockSpan(0, 0, 50), ClockSpan(1, 0, 10)]
    assert watched_by([], 1) == []


def test_the_day_itself_belongs_to_after() -> None:
    watershed, paris = Watershed(date(2026, 3, 29), 1), ZoneInfo("Europe/Paris")
    after, before = watershed.after(paris), watershed.before(paris)
    assert after.from_at == before.to_at
    assert after.from_at.astimezone(paris).date() == date(2026, 3, 29)
    assert (after.to_at - after.from_at).total_seconds() == 167 * 3600  # clocks go on that day
