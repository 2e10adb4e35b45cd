"""Trying worlds, as many as asked for, until one disagrees; then shrinking it to one that people can read."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

import hypothesis
from hypothesis import HealthCheck, Phase, given

from testkit.coverage_oracle import CameraLog
from testkit.worlds.player import Disagreement, Player, open_player
from testkit.worlds.strategies import worlds
from testkit.worlds.week_worlds import week_worlds
from testkit.worlds.world import Arrival, GroupPlan, World

SHRINK_LIMIT_S = 60.0

Play = Callable[[World], None]
Said = TypeVar("Said")


@contextmanager
def running_player(runner: asyncio.Runner, database_url: str) -> Iterator[Player]:
    """One event loop for all worlds."""
    opened = open_player(database_url)
    player = runner.run(opened.__aenter__())
    try:
        yield player
    finally:
        runner.run(opened.__aexit__(None, None, None))


def try_worlds(
    play: Play, *, count: int, seed: int, expiring: bool = False, weekly: bool = False
) -> Disagreement | None:
    """The first disagreement, shrunk. `expiring`: only worlds in which visits are deleted after their retention.

    `weekly`: only those of streams that tell about people in groups, of which whole weeks are asked.
    """

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
    @given(week_worlds() if weekly else worlds(expiring=expiring))
    def play_all(world: World) -> None:
        play(world)

    try:
        play_all()
    except Disagreement as disagreement:
        return shrink_world(disagreement, play)
    return None


def shrink_world(disagreement: Disagreement, play: Play) -> Disagreement:
    """The same disagreement in a smaller world, if one is found in time."""
    give_up_at = time.monotonic() + SHRINK_LIMIT_S
    found: Disagreement | None = disagreement
    while found:
        disagreement, found = found, _first(_disagreement_in(world, play) for world in _smaller_worlds(found.world))
        if time.monotonic() > give_up_at:
            break
    return disagreement


def _disagreement_in(world: World, play: Play) -> Disagreement | None:
    try:
        play(world)
    except Disagreement as disagreement:
        return disagreement
    return None


def _first(found: Iterator[Disagreement | None]) -> Disagreement | None:
    return next(filter(None, found), None)


def _smaller_worlds(world: World) -> Iterator[World]:
    """Every world with one thing less."""
    for number, arrival in enumerate(world.arrivals):
        for less in _smaller_arrivals(arrival):
            yield replace(world, arrivals=(*world.arrivals[:number], less, *world.arrivals[number + 1 :]))
    for number, plan in enumerate(world.plans):
        for simpler_plan in _smaller_plans(plan):
            yield replace(world, plans=(*world.plans[:number], simpler_plan, *world.plans[number + 1 :]))
    for number, log in enumerate(world.cameras):
        for simpler in _smaller_logs(log):
            yield replace(world, cameras=(*world.cameras[:number], simpler, *world.cameras[number + 1 :]))


def _smaller_plans(plan: GroupPlan) -> Iterator[GroupPlan]:
    if plan.grid:
        yield replace(plan, grid=False)
    for k in {1, plan.ks[0], plan.ks[-1]}:
        if set(plan.ks) != {k}:
            yield replace(plan, ks=(k,) * len(plan.ks))


def _smaller_logs(log: CameraLog) -> Iterator[CameraLog]:
    """Every log that says one thing less."""
    for moment in {*log.videos, *log.refusals, *log.states}:
        yield replace(
            log,
            videos=_without(log.videos, moment),
            refusals=_without(log.refusals, moment),
            states=_without(log.states, moment),
        )
    for key in log.quality:
        yield replace(log, quality={one: said for one, said in log.quality.items() if one != key})
    for fault in log.blind:
        yield replace(log, blind={one: blind_s for one, blind_s in log.blind.items() if one != fault})
    if log.created_us:
        yield replace(log, created_us=0)
    if log.known_us:
        yield replace(log, known_us=0)


def _without(said: dict[int, Said], moment: int) -> dict[int, Said]:
    return {at_us: value for at_us, value in said.items() if at_us != moment}


def _smaller_arrivals(arrival: Arrival) -> Iterator[Arrival]:
    for number in range(len(arrival.visits)):
        yield replace(arrival, visits=arrival.visits[:number] + arrival.visits[number + 1 :])
    for number in range(len(arrival.questions)):
        yield replace(arrival, questions=arrival.questions[:number] + arrival.questions[number + 1 :])
    if arrival.fills:
        yield replace(arrival, fills=0)
    if arrival.meanwhile:
        yield replace(arrival, meanwhile=False)
