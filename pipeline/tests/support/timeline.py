"""What the supplement says of visits, evaluated moment by moment on a grid: slow, and plainly right."""

from collections.abc import Callable

from onlooker_pipeline.visits.sightings import PersonId, SeenFrame, Sighting

GRID_MS = 10
State = Callable[[Sighting], bool]


def looks_of(frames: list[SeenFrame], person: PersonId) -> list[Sighting | None]:
    """One for each frame; between two sightings a person was there, still if still on both sides, not looking."""
    looks = [next((one for one in frame.sightings if one.person == person), None) for frame in frames]
    filled = list(looks)
    for index, look in enumerate(looks):
        before = next((one for one in reversed(looks[:index]) if one), None)
        after = next((one for one in looks[index:] if one), None)
        if look is None and before and after:
            filled[index] = Sighting(person, before.still and after.still, looking=False)
    return filled


def moments_of(frames: list[SeenFrame], looks: list[Sighting | None], state: State) -> set[int]:
    """The moments of the grid at which a person is in a state."""
    times = [frame.at_ms for frame in frames]
    is_so = [look is not None and state(look) for look in looks]
    last_gap = times[-1] - times[-2] if len(times) > 1 else 0
    moments: set[int] = set()
    for moment in range(times[0], times[-1] + 1_000, GRID_MS):
        index = max(i for i, at_ms in enumerate(times) if at_ms <= moment)
        held_ms = moment - times[index]
        if index == len(times) - 1:
            holds = held_ms < min(last_gap, 1_000)
        else:
            bridged = times[index + 1] - times[index] <= 3_000 and is_so[index + 1]
            holds = held_ms < 1_000 or bridged
        if is_so[index] and holds:
            moments.add(moment)
    return moments


def intervals_at(moments: set[int]) -> list[tuple[int, int]]:
    starts = sorted(moment for moment in moments if moment - GRID_MS not in moments)
    ends = sorted(moment + GRID_MS for moment in moments if moment + GRID_MS not in moments)
    return list(zip(starts, ends, strict=True))


def join_nearby(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Less than 1 s apart become one, gap included."""
    joined: list[tuple[int, int]] = []
    for start, end in intervals:
        if joined and start - joined[-1][1] < 1_000:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined
