"""Random worlds through the data endpoint: every number must be the one that plain Python reckons from the visits."""

import argparse
import asyncio
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from bench import interface_request
from bench.metrics_storm import ride_out_storm
from bench.product import conclude, say
from onlooker.testing import fresh_database
from onlooker.testing.worlds.playing import Player
from onlooker.testing.worlds.trying import running_player, try_worlds
from onlooker.testing.worlds.world import World

WORLDS = 2000
EXPIRING_SHARE = 10
"""Of every so many worlds one has visits that are deleted after their time."""
PROGRESS_EVERY = 100
MUST_NOT_HAPPEN = ("disagreements", "interface_fields_wrong", "storm_wrong")
MUST_HAPPEN = (
    "storm_readings",
    "buckets",
    "filled_slots",
    "expired_streams",
    "inexact_pages",
    "exact_pages_of_expired",
)
"""Else the worlds did not show what they are for; so many of them do."""
ENOUGH = 500


@contextmanager
def migrated_database() -> Iterator[str]:
    with fresh_database() as url:
        environment = os.environ | {"ONLOOKER_DATABASE_URL": url}
        subprocess.run([sys.executable, "-m", "onlooker", "migrate"], check=True, env=environment)
        yield url


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
        wrong_fields = runner.run(interface_request.wrong_fields(player))
        storm = runner.run(ride_out_storm(player, seed=seed))
        play = Progress(runner, player, total=count).play
        expiring = count // EXPIRING_SHARE
        found = [try_worlds(play, count=expiring, seed=seed, expiring=True)]
        found.append(try_worlds(play, count=count - expiring, seed=seed))
    disagreements = [one for one in found if one]
    for text in (*wrong_fields, *storm.wrong, *disagreements):
        say(str(text))
    figures = {
        "disagreements": len(disagreements),
        "interface_fields_wrong": len(wrong_fields),
        "storm_readings": len(storm.counts),
        "storm_wrong": len(storm.wrong),
        "seed": seed,
        "worlds_target": count,
        **asdict(player.tally),
        "seconds": round(time.perf_counter() - started, 1),
    }
    return {"ok": is_ok(figures)} | figures


def is_ok(figures: dict[str, Any]) -> bool:
    return (
        figures["worlds"] >= figures["worlds_target"]
        and not any(figures[name] for name in MUST_NOT_HAPPEN)
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
