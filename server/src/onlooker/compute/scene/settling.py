"""From samples to settled sightings: a moment is judged once it is a second old."""

from collections.abc import Mapping, Sequence

from onlooker.compute.scene.attention import is_looking
from onlooker.compute.scene.options import Options
from onlooker.compute.scene.person import Person
from onlooker.compute.scene.samples import DENSEST_MS, Sample, around
from onlooker.compute.scene.state import Pending, SceneState
from onlooker.compute.scene.stillness import DWELL_MS, is_still
from onlooker.compute.sightings import Expression, Seen, SeenFrame, Sighting

SETTLED_AFTER_MS = 1000
KEPT_MS = SETTLED_AFTER_MS + DWELL_MS + 100


def judge_frame(
    samples_of: Mapping[bytes, Sequence[Sample]], moods: Mapping[bytes, Expression], at_ms: int
) -> SeenFrame:
    """Everyone who was there at a moment: seen in its frame, or before and after it."""
    sightings = []
    for person, samples in samples_of.items():
        before, after = around(samples, at_ms)
        if before is None or after is None:
            continue
        looking = is_looking(samples, at_ms)
        mood = moods.get(person) if looking else None
        sightings.append(Sighting(person, is_still(samples, at_ms), looking, mood))
    return SeenFrame(at_ms, sightings)


def drop_old(samples: Sequence[Sample], now_ms: int) -> list[Sample]:
    """What no later verdict needs; the last one stays, to bridge a time in which nothing was seen."""
    recent = [sample for sample in samples if sample.at_ms >= now_ms - KEPT_MS]
    return recent or list(samples[-1:])


def settle(state: SceneState, options: Options, *, everything: bool = False) -> Seen:
    """Take what is old enough out of the state; with `everything`, the scene is over and all have left."""
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


def add_frame(state: SceneState, options: Options) -> None:
    """Frames that follow at once add nothing to what is judged, but they would cost as much."""
    state.stores = state.stores or options.stored
    if state.pending and state.at_ms - state.pending[-1].at_ms < DENSEST_MS:
        return
    state.pending.append(Pending(state.at_ms, options.stored))


def _is_over(person: Person, horizon_ms: int) -> bool:
    """Has left, and all that was seen of them is settled."""
    return person.ended and person.samples[-1].at_ms <= horizon_ms


def _forget(state: SceneState, horizon_ms: int, *, everything: bool) -> None:
    state.people = {
        id: person for id, person in state.people.items() if not (everything or _is_over(person, horizon_ms))
    }
    for person in state.people.values():
        person.samples = drop_old(person.samples, state.at_ms)
