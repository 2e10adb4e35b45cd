"""Comparisons: random worlds get the oracle's numbers; the endpoint refuses what can't be compared."""

import asyncio
import random
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

import pytest

from onlooker.metrics.changes import ChangeDirection, compare_counts, compare_metric
from onlooker.metrics.definitions import METRICS
from testkit.worlds.comparisons import ComparisonCounts, compare_world, describe_compared, draw_world
from testkit.worlds.data_reader import Refused
from testkit.worlds.player import Player
from testkit.worlds.search import running_player

pytest_plugins = ["migrated"]

WORLDS = 60
SEED = 20261117
RANGE = "metrics=passing_by&from_date=2026-01-12T00:00:00Z&to_date=2026-01-19T00:00:00Z"


@pytest.fixture(scope="module")
def played(database: str) -> Iterator[tuple[asyncio.Runner, Player]]:
    with asyncio.Runner() as runner, running_player(runner, database) as player:
        yield runner, player


def test_comparisons_of_random_worlds_are_the_oracles(played: tuple[asyncio.Runner, Player]) -> None:
    runner, player = played
    chance, tally = random.Random(SEED), ComparisonCounts()
    for _ in range(WORLDS):
        world = draw_world(chance)
        wrong = runner.run(compare_world(player, world, tally))
        assert not wrong, "\n".join([describe_compared(world), *wrong])
    assert all(asdict(tally).values()), tally


def test_nothing_is_added_to_an_answer_that_asks_for_no_comparison(played: tuple[asyncio.Runner, Player]) -> None:
    runner, player = played
    [stream] = runner.run(player.reader.make_streams(["UTC"]))
    plain = runner.run(player.reader.get(stream, RANGE))
    compared = runner.run(player.reader.get(stream, f"{RANGE}&compare=previous"))
    assert "comparison" not in plain
    assert list(compared) == [*plain, "comparison"]
    assert {name: value for name, value in compared.items() if name != "comparison"} == plain
    assert compared["comparison"] == {
        "from_date": "2026-01-05T00:00:00+00:00",
        "to_date": "2026-01-12T00:00:00+00:00",
        "hours": 168.0,
        "compared_hours": 0.0,
        "reason": "not_watched",
        "metrics": {},
    }


def test_what_was_watched_is_no_number_to_compare(played: tuple[asyncio.Runner, Player]) -> None:
    runner, player = played
    [stream] = runner.run(player.reader.make_streams(["UTC"]))
    asked = RANGE.replace("passing_by", "{}") + "&compare=previous"
    alone = runner.run(player.reader.get(stream, asked.format("passing_by")))
    beside = runner.run(player.reader.get(stream, asked.format("watched,passing_by,gaps,in_view")))
    assert beside["comparison"] == alone["comparison"]
    with pytest.raises(Refused, match="Add a metric of visits"):
        runner.run(player.reader.get(stream, asked.format("watched")))


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("compare=last", "can only be `previous`"),
        ("compare=previous&compare_from=2026-01-01", "either with the previous period or with a range"),
        ("compare_from=2026-01-01", "either with the previous period or with a range"),
        ("compare_from=2026-01-02&compare_to=2026-01-01", "must lie before `compare_to`"),
        ("compare_from=2026-01-01&compare_to=2026-01-13", "must not overlap"),
        ("compare_from=nonsense&compare_to=2026-01-13", "`compare_from` is not an ISO 8601 date-time"),
    ],
)
def test_a_comparison_that_makes_no_sense_is_refused(
    played: tuple[asyncio.Runner, Player], asked: str, says: str
) -> None:
    runner, player = played
    [stream] = runner.run(player.reader.make_streams(["UTC"]))
    with pytest.raises(Refused, match=says):
        runner.run(player.reader.get(stream, f"{RANGE}&{asked}"))


def compare_weeks_of_a_camera_that_was_off(
    runner: asyncio.Runner, player: Player, hours: str = ""
) -> dict[str, object]:
    """On for two weeks, day and night, except for one day of the second."""
    begins = datetime(2026, 1, 5, tzinfo=UTC)
    off = {begins + timedelta(days=9, minutes=15 * number) for number in range(96)}
    slots = [begins + timedelta(minutes=15 * number) for number in range(14 * 96)]

    async def act() -> dict[str, object]:
        [stream] = await player.reader.make_streams(["UTC"])
        async with player.reader.pool.connection() as connection, connection.cursor() as cursor:
            await cursor.executemany(
                "INSERT INTO streams_coverage (stream_id, slot_at, video_s) VALUES (%s, %s, 900)",
                [(stream.id, slot) for slot in slots if slot not in off],
            )
            await cursor.execute(
                "INSERT INTO streams_openinghours (stream_id, since_at, hours, time_zone) VALUES (%s, %s, %s, 'UTC')",
                (stream.id, begins - timedelta(days=1), hours),
            )
        body = await player.reader.get(stream, f"{RANGE}&compare=previous")
        found: dict[str, object] = body["comparison"]
        return found

    return runner.run(act())


def test_hours_watched_while_closed_are_a_part_of_what_could_be_compared(played: tuple[asyncio.Runner, Player]) -> None:
    """56 h open, and 96 h watched while closed."""
    found = compare_weeks_of_a_camera_that_was_off(*played, hours="mo-su 09:00-17:00")
    assert (found["hours"], found["compared_hours"], found["reason"]) == (152.0, 144.0, None)


def test_days_of_two_weeks_with_a_camera_that_was_off_on_one_are_about_the_same(
    played: tuple[asyncio.Runner, Player],
) -> None:
    """As many people in every hour of both weeks: the total is a seventh less, the comparison says no change."""
    found = compare_weeks_of_a_camera_that_was_off(*played)
    assert (found["hours"], found["compared_hours"], found["reason"]) == (168.0, 144.0, None)
    metrics = found["metrics"]
    assert isinstance(metrics, dict)
    assert metrics["passing_by"]["value"]["direction"] == "same"


def test_a_change_beyond_chance_has_a_direction() -> None:
    assert compare_counts(200, 100, exposure=1.0).direction is ChangeDirection.UP
    assert compare_counts(100, 200, exposure=1.0).direction is ChangeDirection.DOWN
    assert compare_counts(200, 100, exposure=2.0).direction is ChangeDirection.SAME


def test_a_mean_of_one_slot_is_not_compared() -> None:
    change = compare_metric(METRICS["stop_time"], [(9_000_000, 3)], [(9_000_000, 3), (4_000_000, 1)], exposure=1.0)
    assert change["value"].direction is ChangeDirection.UNKNOWN
    assert (change["value"].now, change["value"].before, change["value"].size) == (3.0, 3.25, None)
