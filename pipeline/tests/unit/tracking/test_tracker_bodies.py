"""People without a face, followed by the boxes of a detector that misses and jitters."""

import random
from collections.abc import Iterator

import pytest

from onlooker_pipeline.tracking.boxes import Box, head_of_body
from onlooker_pipeline.tracking.tracks import BodyFound
from walkers import HEIGHT, WIDTH, World

EVERYWHERE = (Box(0, 0, WIDTH, HEIGHT),)
TALL = 90.0


def body(x: float, *, height: float = TALL) -> BodyFound:
    """Somebody who stands on the same line of the floor, a third as wide as high."""
    half = height / 6
    return BodyFound(Box(x - half, 300 - height, x + half, 300), 0.7)


def shaken(found: BodyFound, chance: random.Random, share: float) -> BodyFound:
    sides = [side + chance.gauss(0, share * found.box.height) for side in found.box]
    return BodyFound(Box(*sides), found.confidence)


def searches(until_s: float, every_s: float = 0.3) -> Iterator[float]:
    return (number * every_s for number in range(round(until_s / every_s)))


@pytest.mark.parametrize("seed", range(12))
def test_walker_who_is_missed_and_jittered_is_one_person(seed: int) -> None:
    chance = random.Random(seed)
    world = World()
    for at_s in searches(6.0):
        found = [] if chance.random() < 0.15 else [shaken(body(80 + 80 * at_s), chance, 0.04)]
        world.show(round(at_s * 1000), bodies=found, moved=EVERYWHERE)
    assert len(world.confirmed) == 1


def test_walker_who_is_a_width_farther_at_the_next_search_is_the_same() -> None:
    world = World()
    for at_s in searches(4.0):
        world.show(round(at_s * 1000), bodies=[body(100 + 90 * at_s)], moved=EVERYWHERE)
    assert len({track.id for track in world.tracks} | world.confirmed) == 1


def test_two_who_walk_side_by_side_stay_two() -> None:
    world = World()
    for at_s in searches(5.0):
        pair = [body(100 + 50 * at_s), body(145 + 50 * at_s)]
        world.show(round(at_s * 1000), bodies=pair, moved=EVERYWHERE)
    assert len(world.confirmed) == 2
    left, right = sorted(world.tracks, key=lambda track: track.head.x)
    assert right.head.x - left.head.x == pytest.approx(45, abs=8)


def test_walker_behind_a_column_for_two_seconds_is_the_same() -> None:
    world = World()
    for at_s in searches(6.0):
        hidden = 2.0 < at_s < 4.0
        world.show(round(at_s * 1000), bodies=[] if hidden else [body(60 + 70 * at_s)], moved=EVERYWHERE)
    assert len({track.id for track in world.tracks} | world.confirmed) == 1


def test_head_of_a_walker_does_not_swing_with_the_arms() -> None:
    narrow, wide = head_of_body(Box(100, 50, 130, 150)), head_of_body(Box(90, 50, 140, 150))
    assert narrow == wide


def test_head_of_a_torso_follows_from_its_width() -> None:
    """Who stands near the camera is cut off by the picture's lower edge."""
    whole, torso = head_of_body(Box(100, 0, 300, 480)), head_of_body(Box(100, 0, 300, 200))
    assert whole.size == pytest.approx(72)
    assert torso.size == pytest.approx(58, abs=1)
