"""How long people who go unseen are waited for."""

import pytest

from walkers import Walker, World, every


def test_hidden_person_is_waited_for() -> None:
    behind = Walker(320, 150, 40, hidden=((2.4, 9.6),))
    comes = Walker(20, 170, 70, across=100.0, ends_s=3.0)
    stands = Walker(320, 170, 70, begins_s=3.0, ends_s=9.0)
    goes = Walker(320, 170, 70, across=100.0, begins_s=9.0)
    world = World()
    world.walk([behind, comes, stands, goes], every(130, until_ms=14_000))
    assert len(set(world.ids[0])) == 1


@pytest.mark.parametrize("gap_ms", [100, 250, 333, 400, 500])
def test_one_missed_sighting_near_the_edge_is_no_second_person(gap_ms: int) -> None:
    walker = Walker(480, 200, 50, across=40.0)
    moments = every(gap_ms, until_ms=6_000)
    missed = next(frame for frame, at_ms in enumerate(moments) if walker.head(at_ms / 1000).x > 640 - 55)
    world = World()
    world.walk([walker], moments, missed=frozenset({(missed, 0)}))
    assert len(world.confirmed) == 1


@pytest.mark.parametrize("gap_ms", [100, 250, 333, 400, 500])
def test_tentative_person_survives_one_missed_sighting(gap_ms: int) -> None:
    world = World()
    moments = every(gap_ms, until_ms=3_000)
    world.walk([Walker(320, 200)], moments, missed=frozenset({(1, 0)}))
    assert len({track.id for track in world.tracks}) == 1
    assert len(world.confirmed) == 1
