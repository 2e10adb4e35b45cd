"""The interface document's request to the data endpoint, and the whole answer that it must get."""

import argparse
import asyncio
import json
import random
import time
import uuid
from dataclasses import asdict
from typing import Any

from bench.accuracy.interval_coverage import measure_coverage
from bench.accuracy.metrics_concurrency import ride_out_storm
from bench.lib.product import conclude, say
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.visits.visit import Visit
from testkit import migrated_database
from testkit.worlds.clocks import unix_s
from testkit.worlds.compared_rows import RowCounts, compare_row_world, describe_row_world, draw_row_world
from testkit.worlds.comparisons import ComparisonCounts, compare_world, describe_compared, draw_world
from testkit.worlds.player import Player
from testkit.worlds.search import running_player, try_worlds
from testkit.worlds.world import World

METRICS = "interested,passing_by,stop_time,attention_time,category,gender,satisfaction,age,emotion,stopped"
REQUEST = (
    f"metrics={METRICS}&from_date=2026-01-13T00%3A00%3A00%2B0100&to_date=2026-01-15T00%3A00%3A00%2B01%3A00&time=by_day"
)
NOBODY: dict[str, Any] = {
    "interested": {"value": 0},
    "passing_by": {"value": 0},
    "stop_time": {"value": None},
    "attention_time": {"value": None},
    "category": {"senior_female": 0, "senior_male": 0, "young_female": 0, "young_male": 0},
    "gender": {"?": 0, "female": 0, "male": 0},
    "satisfaction": {"value": None},
    "age": {"0-14": 0, "15-24": 0, "25-34": 0, "35-44": 0, "45-54": 0, "55-64": 0, "65+": 0, "?": 0},
    "emotion": {"neutral": 0, "happiness": 0, "surprise": 0, "anger": 0, "sadness": 0, "?": 0},
    "stopped": {"value": 0},
}
SOMEBODY: dict[str, Any] = {
    "interested": {"value": 3},
    "passing_by": {"value": 4},
    "stop_time": {"value": 6.0},
    "attention_time": {"value": 3.0},
    "category": {"senior_female": 1, "senior_male": 0, "young_female": 0, "young_male": 1},
    "gender": {"?": 1, "female": 1, "male": 1},
    "satisfaction": {"value": 0.5625},
    "age": {"0-14": 0, "15-24": 0, "25-34": 1, "35-44": 0, "45-54": 0, "55-64": 0, "65+": 1, "?": 1},
    "emotion": {"neutral": 1, "happiness": 1, "surprise": 0, "anger": 0, "sadness": 0, "?": 1},
    "stopped": {"value": 3},
}
ANSWER = {
    "entities": {"2026-01-13T00:00:00+01:00": NOBODY, "2026-01-14T00:00:00+01:00": SOMEBODY},
    "time": "by_day",
    "from_date": "2026-01-13T00:00:00+01:00",
    "to_date": "2026-01-15T00:00:00+01:00",
    "total_results": 2,
    "nb_of_pages": 1,
    "page": 1,
    "next_page": "",
}


async def wrong_fields(player: Player) -> list[str]:
    """What differs, before the roll-up is filled and after; the order counts, too."""
    (stream,) = await player.reader.make_streams(["Europe/Paris"])
    await VisitWriter(player.reader.pool, player.partitions).write(_visits(stream.id))
    answers = [await player.reader.get(stream, REQUEST)]
    await player.fill(1000)
    answers.append(await player.reader.get(stream, REQUEST))
    return [line for answer in answers for line in _differing(answer)]


def _differing(answer: dict[str, Any]) -> list[str]:
    if list(answer) != list(ANSWER):
        return [f"the members are {list(answer)}"]
    return [f"{name}: {answer[name]}" for name in ANSWER if json.dumps(answer[name]) != json.dumps(ANSWER[name])]


def _visits(stream_id: int) -> list[Visit]:
    """A lady who is happy, a young man who is neither, somebody who is not known, and one who goes by."""
    happy, neutral = (0.25, 0.5, 0.0, 0.25, 0.0), (0.5, 0.25, 0.0, 0.125, 0.125)
    sure = {"age_confidence": 0.9, "gender_confidence": 0.9}
    return [
        _visit(stream_id, still_s=9, looking_s=5, age=70.0, gender="female", expression=happy, **sure),
        _visit(stream_id, still_s=6, looking_s=2, age=30.0, gender="male", expression=neutral, **sure),
        _visit(stream_id, still_s=3, looking_s=2),
        _visit(stream_id, still_s=0, looking_s=1),
    ]


def _visit(stream_id: int, *, still_s: int, looking_s: int, **person: Any) -> Visit:
    began_ms = 1000 * unix_s("2026-01-14T10:07:30")
    return Visit(
        id=uuid.uuid4().bytes,
        stream_id=stream_id,
        session="interface",
        revision=1,
        ended=True,
        present=[(began_ms, began_ms + 10_000)],
        still=[(began_ms, began_ms + 1000 * still_s)] if still_s else [],
        looking=[(began_ms, began_ms + 1000 * looking_s)],
        **person,
    )


WORLDS = 2000
COMPARED_SHARE = 4
"""One world about comparisons for so many others."""
ROWS_SHARE = 10
"""Likewise about rows side by side."""
WEEKLY_SHARE = 4
"""Every fourth world is of groups, and is asked for whole weeks by gender and age."""
EXPIRING_SHARE = 10
"""Of every so many worlds one has visits that are deleted after their time."""
PROGRESS_EVERY = 100
MUST_NOT_HAPPEN = ("disagreements", "interface_fields_wrong", "storm_wrong", "comparisons_wrong", "rows_wrong")
MUST_HAPPEN = (
    "storm_readings",
    "buckets",
    "filled_slots",
    "expired_streams",
    "inexact_pages",
    "exact_pages_of_expired",
    "watched_buckets",
    "gap_buckets",
    "unknown_buckets",
    "quality_buckets",
    "blocks",
    "told_buckets",
    "grid_pages",
    "quarter_hour_buckets",
    "week_buckets",
    "month_buckets",
    "broken_down",
    "cells",
    "refused_breakdowns",
    "compared_changes",
    "not_compared",
    "over_clock_changes",
    "past_retention",
    "compared_in_groups",
    "rows_compared",
    "rows_of_several",
    "rows_not_compared",
    "rows_in_groups",
    "rows_over_zones",
    "campaigns_compared",
    "campaigns_not_compared",
)
"""Else the worlds did not show what they are for; so many of them do."""
ENOUGH = 500


class Progress:
    """Plays worlds and says every now and then how far it has come."""

    def __init__(self, runner: asyncio.Runner, player: Player, *, total: int) -> None:
        self._runner = runner
        self._player = player
        self._total = total
        self._started = time.perf_counter()

    def play(self, world: World) -> None:
        self._runner.run(self._player.play(world))
        done = self._player.tally.worlds
        if done % PROGRESS_EVERY == 0:
            rate = done / (time.perf_counter() - self._started)
            say(f"  {done} of {self._total} worlds, {rate:.1f} a second, {self._player.tally.buckets} buckets")


def measure(url: str, *, count: int, seed: int) -> dict[str, Any]:
    """Every figure with its target; `ok` is computed from them."""
    started = time.perf_counter()
    with asyncio.Runner() as runner, running_player(runner, url) as player:
        wrong = runner.run(wrong_fields(player))
        storm = runner.run(ride_out_storm(player, seed=seed))
        play = Progress(runner, player, total=count).play
        expiring = count // EXPIRING_SHARE
        found = [try_worlds(play, count=expiring, seed=seed, expiring=True)]
        found.append(try_worlds(play, count=count // WEEKLY_SHARE, seed=seed, weekly=True))
        found.append(try_worlds(play, count=count - expiring - count // WEEKLY_SHARE, seed=seed))
        compared = ComparisonCounts()
        differing = runner.run(compare_worlds(player, compared, count=count // COMPARED_SHARE, seed=seed))
        rows = RowCounts()
        wrong_rows = runner.run(compare_row_worlds(player, rows, count=count // ROWS_SHARE, seed=seed))
    disagreements = [one for one in found if one]
    coverage = measure_coverage(seed)
    for text in (*wrong, *storm.wrong, *disagreements, *differing, *wrong_rows):
        say(str(text))
    figures = {
        "disagreements": len(disagreements),
        "interface_fields_wrong": len(wrong),
        "storm_readings": len(storm.counts),
        "storm_wrong": len(storm.wrong),
        "seed": seed,
        "worlds_target": count,
        **asdict(player.tally),
        "comparisons_wrong": len(differing),
        **asdict(compared),
        "rows_wrong": len(wrong_rows),
        **asdict(rows),
        **coverage.as_members(),
        "intervals_right": coverage.is_right,
        "seconds": round(time.perf_counter() - started, 1),
    }
    return {"ok": is_ok(figures)} | figures


async def compare_worlds(player: Player, tally: ComparisonCounts, *, count: int, seed: int) -> list[str]:
    """What differs from the oracle, up to the first world in which something does."""
    chance = random.Random(seed)
    for _ in range(count):
        world = draw_world(chance)
        if wrong := await compare_world(player, world, tally):
            return [describe_compared(world), *wrong]
    return []


async def compare_row_worlds(player: Player, tally: RowCounts, *, count: int, seed: int) -> list[str]:
    """The same of rows side by side, and of weeks before and after a day."""
    chance = random.Random(seed)
    for _ in range(count):
        world = draw_row_world(chance)
        if wrong := await compare_row_world(player, world, tally):
            return [describe_row_world(world), *wrong]
    return []


def is_ok(figures: dict[str, Any]) -> bool:
    return (
        figures["worlds"] >= figures["worlds_target"]
        and not any(figures[name] for name in MUST_NOT_HAPPEN)
        and figures["intervals_right"]
        and (figures["worlds"] < ENOUGH or all(figures[name] for name in MUST_HAPPEN))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("worlds", nargs="?", type=int, default=WORLDS)
    parser.add_argument("seed", nargs="?", type=int, default=random.randrange(2**32))
    arguments = parser.parse_args()
    say(f"seed {arguments.seed}")
    with migrated_database() as url:
        figures = measure(url, count=arguments.worlds, seed=arguments.seed)
    conclude(figures)


if __name__ == "__main__":
    main()
