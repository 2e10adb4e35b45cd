"""Ascending intervals as one flat list of their edges (from, to, from, to, ...): small when written. Pure."""

from onlooker_pipeline.visits.visit import Interval

INTERVALS_AT_MOST = 256


def add_interval(edges: list[int], start: int, end: int, *, apart: int = 1) -> None:
    """Append an interval that follows or touches the last one; they are joined if less than `apart` lies between."""
    if end <= start:
        return
    if edges and start - edges[-1] < apart:
        edges[-1] = max(edges[-1], end)
        return
    edges += (start, end)
    if len(edges) > 2 * INTERVALS_AT_MOST:
        _close_least_gap(edges)


def _close_least_gap(edges: list[int]) -> None:
    least = min(range(1, len(edges) - 1, 2), key=lambda index: edges[index + 1] - edges[index])
    del edges[least : least + 2]


def length_of(edges: list[int]) -> int:
    return sum(edges[1::2]) - sum(edges[::2])


def intervals_of(edges: list[int], *, origin: int, not_before: int) -> list[Interval]:
    """As pairs, moved by `origin`; what lies before `not_before` is cut off."""
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return [(origin + max(start, not_before), origin + end) for start, end in pairs if end > not_before]
