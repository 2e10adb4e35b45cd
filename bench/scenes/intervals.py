"""Half-open intervals of seconds: ascending and apart."""

from collections.abc import Iterable, Sequence

Interval = tuple[float, float]
Intervals = Sequence[Interval]


def as_intervals(pairs: Iterable[Sequence[float]]) -> list[Interval]:
    """Sorted; what touches or overlaps becomes one."""
    joined: list[Interval] = []
    for start, end in sorted((float(pair[0]), float(pair[1])) for pair in pairs):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def total(intervals: Intervals) -> float:
    return sum(end - start for start, end in intervals)


def longest(intervals: Intervals) -> float:
    return max((end - start for start, end in intervals), default=0.0)


def shared(one: Intervals, other: Intervals) -> list[Interval]:
    """What lies in both."""
    cuts = ((max(a, c), min(b, d)) for a, b in one for c, d in other)
    return [(start, end) for start, end in cuts if start < end]


def without(intervals: Intervals, taken: Intervals) -> list[Interval]:
    """What is left of the intervals outside the taken ones."""
    left = list(intervals)
    for start, end in taken:
        left = [piece for a, b in left for piece in ((a, min(b, start)), (max(a, end), b)) if piece[0] < piece[1]]
    return left


def likeness(one: Intervals, other: Intervals) -> float:
    """Time in both over time in either; two that are both empty are alike."""
    both = total(shared(one, other))
    either = total(one) + total(other) - both
    return both / either if either > 0 else 1.0


def covers(intervals: Intervals, seconds: float) -> bool:
    return any(start <= seconds < end for start, end in intervals)
