"""From samples to sightings: the verdict on a moment is final once it is a second old."""

from collections.abc import Mapping, Sequence

from onlooker_pipeline.expressions import Expression
from onlooker_pipeline.scene.behaviour import DENSEST_MS, DWELL_MS, Sample, is_looking, is_still, samples_around
from onlooker_pipeline.scene.request_options import SceneOptions
from onlooker_pipeline.scene.state import PendingFrame, SceneState, TrackedPerson
from onlooker_pipeline.visits.sightings import Seen, SeenFrame, Sighting

SETTLED_AFTER_MS = 1000
KEPT_MS = SETTLED_AFTER_MS + DWELL_MS + 100


def judge_frame(
    samples_of: Mapping[bytes, Sequence[Sample]], moods: Mapping[bytes, Expression], at_ms: int
) -> SeenFrame:
    """Everybody who was there at a moment: seen in its frame, or before and after it."""
    sightings = []
    for person, samples in samples_of.items():
        before, after = samples_around(samples, at_ms)
        if before is None or after is None:
            continue
        looking = is_looking(samples, at_ms)
        mood = moods.get(person) if looking else None
        sightings.append(Sighting(person, is_still(samples, at_ms), looking, mood))
    return SeenFrame(at_ms, sightings)


def drop_old_samples(samples: Sequence[Sample], now_ms: int) -> list[Sample]:
    """Drop what no later verdict needs; the last sample stays, to bridge a time without sightings."""
    recent = [sample for sample in samples if sample.at_ms >= now_ms - KEPT_MS]
    return recent or list(samples[-1:])


def finalise_sightings(state: SceneState, options: SceneOptions, *, everything: bool = False) -> Seen:
    """Take what is old enough out of the state; with `everything`, the scene is over and everybody has left."""
    horizon_ms = state.at_ms if everything else state.at_ms - SETTLED_AFTER_MS
    known = {id: person for id, person in state.people.items() if person.confirmed}
    samples_of = {id: person.samples for id, person in known.items()}
    moods = {
        id: person.mood.shares for id, person in known.items() if person.mood.readings and options.reads_expression
    }
    frames = [(frame.at_ms, judge_frame(samples_of, moods, frame.at_ms)) for frame in state.pending if frame.stored]
    state.pending = [frame for frame in state.pending if frame.at_ms > horizon_ms]
    estimates = {
        id: person.estimate(
            reads_age=options.reads_age,
            reads_gender=options.reads_gender,
            reads_expression=options.reads_expression,
        )
        for id, person in known.items()
    }
    ended = [id for id, person in known.items() if everything or _is_over(person, horizon_ms)]
    _forget(state, horizon_ms, everything=everything)
    return Seen(
        settled=[frame for at_ms, frame in frames if at_ms <= horizon_ms],
        unsettled=[frame for at_ms, frame in frames if at_ms > horizon_ms],
        estimates=estimates,
        ended=ended,
    )


def add_pending_frame(state: SceneState, options: SceneOptions) -> None:
    """Skips frames that follow too closely: they add nothing and would cost as much."""
    state.stores = state.stores or options.stored
    if state.pending and state.at_ms - state.pending[-1].at_ms < DENSEST_MS:
        return
    state.pending.append(PendingFrame(state.at_ms, options.stored))


def _is_over(person: TrackedPerson, horizon_ms: int) -> bool:
    """Has left, and every sighting of them is final."""
    return person.ended and person.samples[-1].at_ms <= horizon_ms


def _forget(state: SceneState, horizon_ms: int, *, everything: bool) -> None:
    state.people = {
        id: person for id, person in state.people.items() if not (everything or _is_over(person, horizon_ms))
    }
    for person in state.people.values():
        person.samples = drop_old_samples(person.samples, state.at_ms)
