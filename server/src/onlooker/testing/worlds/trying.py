"""Trying worlds, as many as are asked for, until one disagrees."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import hypothesis
from hypothesis import HealthCheck, Phase, given

from onlooker.testing.worlds.drawing import worlds
from onlooker.testing.worlds.lessening import lessen
from onlooker.testing.worlds.playing import Disagreement, Player, open_player
from onlooker.testing.worlds.world import World

Play = Callable[[World], None]


@contextmanager
def running_player(runner: asyncio.Runner, database_url: str) -> Iterator[Player]:
    """One event loop for all worlds."""
    opened = open_player(database_url)
    player = runner.run(opened.__aenter__())
    try:
        yield player
    finally:
        runner.run(opened.__aexit__(None, None, None))


def try_worlds(play: Play, *, count: int, seed: int, expiring: bool = False) -> Disagreement | None:
    """The first that disagrees, made small; `expiring`: of worlds in which visits are deleted after their time."""

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        derandomize=False,
        report_multiple_bugs=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(worlds(expiring=expiring))
    def play_all(world: World) -> None:
        play(world)

    try:
        play_all()
    except Disagreement as disagreement:
        return lessen(disagreement, play)
    return None
