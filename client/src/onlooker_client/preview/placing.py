"""Where a label goes: beside its face, inside the picture, over no other face and no other label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from onlooker_client.preview.people import Box

GAP_PX = 4


def place_label(face: Box, size: tuple[int, int], picture: tuple[int, int], taken: Sequence[Box]) -> Box:
    """The first place beside the face that nothing else has; else the one that covers least."""
    places = [_inside(place, picture) for place in _places_beside(face, size)]
    return min(places, key=lambda place: covered_px(place, [face, *taken]))  # the first of several that are equal


def covered_px(place: Box, others: Iterable[Box]) -> int:
    return sum(_overlap_px(place, other) for other in others)


def _places_beside(face: Box, size: tuple[int, int]) -> Iterator[Box]:
    """Beneath, above, right, left; beneath and above also aligned with the right side."""
    (left, top, width, height), (wide, high) = face, size
    bottom, right = top + height + GAP_PX, left + width
    yield left, bottom, wide, high
    yield left, top - high - GAP_PX, wide, high
    yield right + GAP_PX, top, wide, high
    yield left - wide - GAP_PX, top, wide, high
    yield right - wide, bottom, wide, high
    yield right - wide, top - high - GAP_PX, wide, high


def _inside(place: Box, picture: tuple[int, int]) -> Box:
    (left, top, wide, high), (width, height) = place, picture
    return max(0, min(left, width - wide)), max(0, min(top, height - high)), wide, high


def _overlap_px(one: Box, other: Box) -> int:
    width = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    height = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    return max(0, width) * max(0, height)
