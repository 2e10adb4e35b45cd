"""Upright rectangles, and the geometry of head and body."""

from typing import NamedTuple

HEAD_OF_HEIGHT = 0.15
"""Size of a head relative to the height of a body's box: walkers swing arms and legs, so their width says less."""
HEAD_OF_WIDTH, NARROWEST_BODY = 0.36, 0.2
"""Of what a box is wider than that share of its height: where the lower part of a body is not in view."""
BodyShape = tuple[float, float, float, float]
"""A body's box relative to the head's centre: left, top, right, bottom, in head sizes."""
DEFAULT_BODY: BodyShape = (-1.5, -0.9, 1.5, 6.5)
"""A standing body."""


class Box(NamedTuple):
    """In pixels of the picture."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def size(self) -> float:
        """The longer side."""
        return max(self.width, self.height)

    @property
    def centre(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    @property
    def area(self) -> float:
        return max(self.width, 0.0) * max(self.height, 0.0)

    def contains(self, x: float, y: float) -> bool:
        return self.left <= x <= self.right and self.top <= y <= self.bottom

    def within(self, width: float, height: float) -> "Box":
        """The part that lies in a picture."""
        return Box(
            min(max(self.left, 0.0), width),
            min(max(self.top, 0.0), height),
            min(max(self.right, 0.0), width),
            min(max(self.bottom, 0.0), height),
        )


def shared_area(one: Box, other: Box) -> float:
    width = min(one.right, other.right) - max(one.left, other.left)
    height = min(one.bottom, other.bottom) - max(one.top, other.top)
    return max(width, 0.0) * max(height, 0.0)


def overlap(one: Box, other: Box) -> float:
    """Intersection over union."""
    shared = shared_area(one, other)
    return shared / max(one.area + other.area - shared, 1e-9)


def widened(box: Box, margin: float) -> Box:
    """The box with a share of its sides added all around."""
    across, down = margin * box.width, margin * box.height
    return Box(box.left - across, box.top - down, box.right + across, box.bottom + down)


def contained(one: Box, other: Box) -> float:
    """Share of the smaller one that lies in the other."""
    return shared_area(one, other) / max(min(one.area, other.area), 1e-9)


class HeadPlace(NamedTuple):
    """Where a head is: its centre and its size."""

    x: float
    y: float
    size: float


def head_of_face(face: Box) -> HeadPlace:
    return HeadPlace(*face.centre, face.size)


def head_of_body(body: Box) -> HeadPlace:
    """Where the head of a body most likely is."""
    size = max(HEAD_OF_HEIGHT * body.height, HEAD_OF_WIDTH * (body.width - NARROWEST_BODY * body.height), 4.0)
    return HeadPlace((body.left + body.right) / 2, body.top + 0.6 * size, size)


def body_around(head: HeadPlace, offsets: BodyShape = DEFAULT_BODY) -> Box:
    left, top, right, bottom = offsets
    return Box(
        head.x + left * head.size, head.y + top * head.size, head.x + right * head.size, head.y + bottom * head.size
    )


def offsets_of(body: Box, head: HeadPlace) -> BodyShape:
    """A body's box relative to its head, in head sizes."""
    return (
        (body.left - head.x) / head.size,
        (body.top - head.y) / head.size,
        (body.right - head.x) / head.size,
        (body.bottom - head.y) / head.size,
    )
