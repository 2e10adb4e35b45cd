"""From a world that disagrees to one that people can read: what can be left out is left out."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from onlooker.testing.worlds.playing import Disagreement
from onlooker.testing.worlds.world import Arrival, World

TIME_LIMIT_S = 60.0


def lessen(disagreement: Disagreement, play: Callable[[World], None]) -> Disagreement:
    """The same with a smaller world, as far as one is found in time."""
    give_up_at = time.monotonic() + TIME_LIMIT_S
    found: Disagreement | None = disagreement
    while found:
        disagreement, found = found, _first(disagreement_of(world, play) for world in _smaller(found.world))
        if time.monotonic() > give_up_at:
            break
    return disagreement


def disagreement_of(world: World, play: Callable[[World], None]) -> Disagreement | None:
    try:
        play(world)
    except Disagreement as disagreement:
        return disagreement
    return None


def _first(found: Iterator[Disagreement | None]) -> Disagreement | None:
    return next(filter(None, found), None)


def _smaller(world: World) -> Iterator[World]:
    """Every world that has one thing less."""
    for number, arrival in enumerate(world.arrivals):
        for less in _less(arrival):
            yield replace(world, arrivals=(*world.arrivals[:number], less, *world.arrivals[number + 1 :]))


def _less(arrival: Arrival) -> Iterator[Arrival]:
    for number in range(len(arrival.visits)):
        yield replace(arrival, visits=arrival.visits[:number] + arrival.visits[number + 1 :])
    for number in range(len(arrival.questions)):
        yield replace(arrival, questions=arrival.questions[:number] + arrival.questions[number + 1 :])
    if arrival.fills:
        yield replace(arrival, fills=0)
    if arrival.meanwhile:
        yield replace(arrival, meanwhile=False)
