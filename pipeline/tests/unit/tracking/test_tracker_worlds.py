"""The tracker in made-up worlds: each person is one track, in any crowd, with frames at any pace."""

from dataclasses import replace
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from walkers import HEIGHT, WIDTH, Walker, World

LENGTH_S = 6.0
KNOWN_AFTER_S = 2.5
"""By then everybody has been there for a second and a half: from here on sightings may fail."""
INSIDE = 2.0
"""Sizes of the head from the edge: nearer, who goes unseen has left."""


class Play(NamedTuple):
    """A world and how a camera sees it."""

    walkers: list[Walker]
    moments_ms: list[int]
    missed: frozenset[tuple[int, int]] = frozenset()
    unsure: frozenset[tuple[int, int]] = frozenset()

    def run(self) -> World:
        world = World()
        world.walk(self.walkers, self.moments_ms, missed=self.missed, unsure=self.unsure)
        return world


@st.composite
def crowds(draw: st.DrawFn) -> list[Walker]:
    """Up to three people, each on a line of their own, one and a half heads above the next; they pass one another."""
    scale = draw(st.floats(30, 50))
    walkers = []
    for number in range(draw(st.integers(1, 3))):
        size = scale * draw(st.floats(0.8, 1.25))
        speed = draw(st.sampled_from([0.0, 0.3]) | st.floats(0.5, 2.5)) * draw(st.sampled_from([-1, 1]))
        slow = abs(speed) < 0.5
        x = draw(st.floats(0.3, 0.7)) if slow else (0.02 if speed > 0 else 0.98)
        begins_s = draw(st.floats(0, 1))
        y = scale + number * 1.5 * 1.25 * scale
        walkers.append(Walker(x * WIDTH, y, size, speed * size, begins_s))
    assert walkers[-1].y < HEIGHT
    return walkers


@st.composite
def cameras(draw: st.DrawFn) -> list[int]:
    """Moments of frames, 2 to 15 a second, at no steady rate."""
    gaps = draw(st.lists(st.integers(67, 500), min_size=90, max_size=90))
    moments = [sum(gaps[:count]) for count in range(len(gaps))]
    return [moment for moment in moments if moment < 1000 * LENGTH_S]


def may_fail(walker: Walker, at_ms: int) -> bool:
    head = walker.head(at_ms / 1000)
    return at_ms > 1000 * KNOWN_AFTER_S and INSIDE * head.size < head.x < WIDTH - INSIDE * head.size


@st.composite
def poor_plays(draw: st.DrawFn) -> Play:
    """Some sightings are missed, some unsure, and people are hidden for up to a second."""
    walkers, moments = draw(crowds()), draw(cameras())
    random = draw(st.randoms(use_true_random=False))
    missed: set[tuple[int, int]] = set()
    unsure: set[tuple[int, int]] = set()
    for who, walker in enumerate(walkers):
        start_s = random.uniform(KNOWN_AFTER_S, 3.5)
        end_s = start_s + random.uniform(0.2, 1.0)
        if all(may_fail(walker, round(1000 * moment_s)) for moment_s in (start_s, end_s)):
            walkers[who] = replace(walker, hidden=((start_s, end_s),))
        for frame, at_ms in enumerate(moments):
            near_hidden = start_s - 0.5 < at_ms / 1000 < end_s + 0.5
            if not may_fail(walker, at_ms):
                continue
            if random.random() < 0.1 and not near_hidden and (frame - 1, who) not in missed:
                missed.add((frame, who))
            elif random.random() < 0.1:
                unsure.add((frame, who))
    return Play(walkers, moments, frozenset(missed), frozenset(unsure))


def assert_everybody_is_one_person(play: Play) -> None:
    world = play.run()
    people = []
    for who, walker in enumerate(play.walkers):
        seen_ms = [at_ms for at_ms in play.moments_ms if walker.is_seen(at_ms / 1000)]
        confirmed = world.confirmed_of(who)
        assert len(confirmed) <= 1
        if seen_ms and seen_ms[-1] - seen_ms[0] > 1_500:
            assert len(confirmed) == 1
        people += confirmed
    assert len(set(people)) == len(people)
    assert world.confirmed == set(people)


@settings(max_examples=150, deadline=None)
@given(walkers=crowds(), moments_ms=cameras())
def test_everybody_is_one_person_at_any_rate(walkers: list[Walker], moments_ms: list[int]) -> None:
    assert_everybody_is_one_person(Play(walkers, moments_ms))


@settings(max_examples=150, deadline=None)
@given(play=poor_plays())
def test_everybody_is_one_person_though_some_sightings_fail(play: Play) -> None:
    assert_everybody_is_one_person(play)


@settings(max_examples=50, deadline=None)
@given(walkers=crowds(), moments_ms=cameras())
def test_another_order_of_the_faces_changes_nothing(walkers: list[Walker], moments_ms: list[int]) -> None:
    one, other = Play(walkers, moments_ms).run(), Play(walkers[::-1], moments_ms).run()
    numbers = range(len(walkers))
    assert [len(one.confirmed_of(who)) for who in numbers] == [len(other.confirmed_of(who)) for who in numbers][::-1]
    assert len(one.confirmed) == len(other.confirmed)
