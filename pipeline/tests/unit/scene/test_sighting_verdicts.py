"""Verdicts become final once, in order, and nobody ends before all of their sightings are reported."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onlooker_pipeline.scene.behaviour import DENSEST_MS, Sample
from onlooker_pipeline.scene.request_options import SceneOptions
from onlooker_pipeline.scene.sighting_verdicts import KEPT_MS, SETTLED_AFTER_MS, drop_old_samples, finalise_sightings
from staging import START_MS, Actor, Stage

Frame = tuple[int, bool, bool, bool]
"""Milliseconds since the last one, whether one and another person is there, whether it is to be stored."""
FRAMES = st.lists(
    st.tuples(st.integers(40, 1_200), st.booleans(), st.booleans(), st.sampled_from([True, True, True, False])),
    min_size=1,
    max_size=40,
)
ONE, AT_EDGE = Actor(x=150), Actor(x=610)
"""Who goes unseen at the edge is thought to have left sooner than their last sighting settles."""


def played(frames: list[Frame]) -> tuple[Stage, list[int]]:
    """A stage, and the moments that were to be stored."""
    stage = Stage()
    at_ms, stored_ms = 0, []
    for gap_ms, one, other, stored in frames:
        at_ms += gap_ms
        stage.options = SceneOptions(stored=stored)
        stage.show(at_ms, *[actor for actor, there in ((ONE, one), (AT_EDGE, other)) if there])
        stored_ms += [START_MS + at_ms] if stored else []
    return stage, stored_ms


@settings(max_examples=60, deadline=None)
@given(frames=FRAMES)
def test_every_frame_settles_once_and_in_order(frames: list[Frame]) -> None:
    stage, stored_ms = played(frames)
    settled: list[int] = []
    for number, seen in enumerate(stage.seen):
        now_ms = START_MS + sum(frame[0] for frame in frames[: number + 1])
        settled += [frame.at_ms for frame in seen.settled]
        unsettled = [frame.at_ms for frame in seen.unsettled]
        assert settled + unsettled == [moment for moment in stored_ms if moment <= now_ms]
        assert all(now_ms - moment < SETTLED_AFTER_MS for moment in unsettled)
        assert all(now_ms - moment >= SETTLED_AFTER_MS for moment in settled)
    assert stage.state is not None
    rest = finalise_sightings(stage.state, SceneOptions(stored=True), everything=True)
    assert settled + [frame.at_ms for frame in rest.settled] == stored_ms
    assert rest.unsettled == []


@settings(max_examples=60, deadline=None)
@given(frames=FRAMES)
def test_nobody_is_seen_after_their_end_and_everybody_ends_once(frames: list[Frame]) -> None:
    stage, _ = played(frames)
    assert stage.state is not None
    stage.seen.append(finalise_sightings(stage.state, SceneOptions(stored=True), everything=True))
    known: set[bytes] = set()
    ended: list[bytes] = []
    for seen in stage.seen:
        there = {sighting.person for frame in (*seen.settled, *seen.unsettled) for sighting in frame.sightings}
        assert not there & set(ended)
        assert there <= seen.estimates.keys()
        assert not {s.person for frame in seen.unsettled for s in frame.sightings} & set(seen.ended)
        known |= there
        ended += seen.ended
    assert len(set(ended)) == len(ended)
    assert known <= set(ended)
    assert stage.state.people == {}
    assert stage.state.pending == []


@pytest.mark.parametrize("actor", [ONE, AT_EDGE])
def test_person_ends_once_their_last_sighting_is_settled(actor: Actor) -> None:
    stage = Stage()
    stage.play(actor, until_ms=2_000)
    for at_ms in range(2_000, 12_000, 100):
        stage.show(at_ms)
    (when,) = [number for number, seen in enumerate(stage.seen) if seen.ended]
    (person,) = stage.seen[when].ended
    settled = [frame for seen in stage.seen[: when + 1] for frame in seen.settled]
    told = [frame.at_ms - START_MS for frame in settled if person in [s.person for s in frame.sightings]]
    assert told == list(range(0, 2_000, 100))
    assert when * 100 >= max(told) + SETTLED_AFTER_MS


def test_everybody_who_became_a_person_was_there_from_the_first_frame_on() -> None:
    stage = Stage()
    stage.play(ONE, until_ms=400)
    assert [len(frame.sightings) for frame in stage.seen[1].unsettled] == [0, 0]
    assert [len(frame.sightings) for frame in stage.seen[-1].unsettled] == [1, 1, 1, 1]


def test_who_was_missed_in_one_frame_was_there() -> None:
    stage = Stage()
    stage.play(ONE, until_ms=1_000)
    stage.show(1_000)
    stage.play(ONE, since_ms=1_100, until_ms=3_000)
    settled = {frame.at_ms - START_MS: frame.sightings for seen in stage.seen for frame in seen.settled}
    assert len(settled[1_000]) == 1
    assert settled[1_000][0].still


@pytest.mark.parametrize("gap_ms", [67, 200, 500, 1_000])
def test_still_and_looking_settle_as_they_were(gap_ms: int) -> None:
    stage = Stage()
    stage.play(ONE, until_ms=6_000, gap_ms=gap_ms)
    settled = [frame.sightings[0] for seen in stage.seen for frame in seen.settled]
    assert all(sighting.still and sighting.looking for sighting in settled)
    assert all(sighting.expression is not None for sighting in settled)


def test_expression_is_told_only_of_who_looks() -> None:
    stage = Stage()
    stage.play(Actor(yaw=30), until_ms=3_000)
    settled = [sighting for seen in stage.seen for frame in seen.settled for sighting in frame.sightings]
    assert settled
    assert all(sighting.expression is None and not sighting.looking for sighting in settled)


def test_samples_are_kept_as_long_as_a_verdict_needs_them() -> None:
    samples = [Sample(at_ms, 0, 0, 400) for at_ms in range(0, 5_000, 100)]
    assert [sample.at_ms for sample in drop_old_samples(samples, 5_000)] == list(range(5_000 - KEPT_MS, 5_000, 100))
    assert drop_old_samples(samples, 60_000) == samples[-1:]
    assert drop_old_samples([], 0) == []


def test_frames_a_millisecond_apart_are_judged_no_more_than_others() -> None:
    stage = Stage()
    for at_ms in range(2_500):
        stage.show(at_ms, Actor())
    assert stage.state is not None
    (person,) = stage.state.people.values()
    assert len(stage.state.pending) <= SETTLED_AFTER_MS / DENSEST_MS + 1
    assert len(person.samples) <= KEPT_MS / DENSEST_MS + 1
    assert sum(len(seen.settled) for seen in stage.seen) <= 2_500 / DENSEST_MS + 1
