"""Timestamps are the sender's: however dense they are, what is kept and judged stays bounded."""

from staging import Actor, Stage

from onlooker.compute.scene.samples import DENSEST_MS
from onlooker.compute.scene.settling import KEPT_MS, SETTLED_AFTER_MS


def test_frames_a_millisecond_apart_are_judged_no_more_than_others() -> None:
    stage = Stage()
    for at_ms in range(2_500):
        stage.show(at_ms, Actor())
    assert stage.state is not None
    (person,) = stage.state.people.values()
    assert len(stage.state.pending) <= SETTLED_AFTER_MS / DENSEST_MS + 1
    assert len(person.samples) <= KEPT_MS / DENSEST_MS + 1
    assert sum(len(seen.settled) for seen in stage.seen) <= 2_500 / DENSEST_MS + 1
