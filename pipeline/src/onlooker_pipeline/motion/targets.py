"""What moved between two grey pictures: where each object is now, and its velocity."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from onlooker_pipeline.motion.change import Box, Grey, PictureChange, Vector, find_change
from onlooker_pipeline.motion.flow import NO_FLOW, Flow, explained_share, refine_velocity, search_box, track_points
from onlooker_pipeline.motion.parts import MovingPart, box_now, join_parts

TARGET_LIMIT = 32
REGION_LIMIT = 32
LEAST_REGION = 30
"""In changed pixels, after dilation by two."""
POINTS_OF_ALL, POINTS_OF_ONE = 96, 12
LEAST_PART = 6
LEAST_ORPHAN = 12
BOX_SEARCHES, BOX_SEARCHED_PX = 3, 10_000
EXPLAINED_BY_ONE = 0.75
LEAST_EXPLAINED, LEAST_EXPLAINED_OF_MANY = 0.3, 0.1
MANY_POINTS = 4
"""A walker's limbs swing, so one velocity explains little; but many points agree."""
SLOWEST, SLOWEST_OF_SHAKEN = 0.5, 1.0
"""Standing people sway this much; and shake is corrected to a fraction of a pixel only."""

_AROUND = np.ones((5, 5), np.uint8)


@dataclass(frozen=True)
class Target:
    """One moving object, in pixels and pixels per picture."""

    position: Vector
    velocity: Vector
    confidence: float


@dataclass(frozen=True)
class Regions:
    """Connected changed regions; number 0 is what stood still."""

    labels: NDArray[np.int32]
    boxes: list[Box]
    largest_first: list[int]


def find_targets(previous: Grey, present: Grey) -> list[Target]:
    """At most `TARGET_LIMIT`, the most certain first; none if the whole picture changed."""
    change = find_change(previous, present)
    if change is None:
        return []
    regions = _changed_regions(change)
    if not regions.largest_first:
        return []
    parts = _with_velocities(change, join_parts(change, list(_moving_parts(change, regions))))
    targets = [target for part in parts if (target := _target_of(change, part)) is not None]
    return sorted(targets, key=lambda target: -target.confidence)[:TARGET_LIMIT]


def _changed_regions(change: PictureChange) -> Regions:
    around = cv2.dilate(change.mask, _AROUND)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(around)
    rows = stats.tolist()
    boxes = [(left, top, left + width, top + height) for left, top, width, height, _ in rows]
    large = [number for number in range(1, count) if rows[number][4] >= LEAST_REGION]
    large.sort(key=lambda number: -rows[number][4])
    return Regions(labels.astype(np.int32, copy=False), boxes, large[:REGION_LIMIT])


def _moving_parts(change: PictureChange, regions: Regions) -> Iterator[MovingPart]:
    """Parts with a velocity, and changed regions without one."""
    flow, numbers = _flow_of_regions(change, regions)
    for members in _linked(regions, numbers):
        own = np.isin(numbers[:, 0], members)
        pixels = _pixels_of(change, regions, members)
        if len(pixels) < LEAST_PART:
            continue
        parts = _parts_of_region(change, pixels, flow[own])
        if not parts and len(pixels) >= LEAST_ORPHAN:
            parts = [MovingPart(pixels, NO_FLOW, None)]
        yield from parts


def _with_velocities(change: PictureChange, parts: list[MovingPart]) -> list[MovingPart]:
    """The parts that move; the largest ones without a velocity are searched for as a whole."""
    orphans = [part for part in parts if part.velocity is None and _box_size(part.box) <= BOX_SEARCHED_PX]
    found = [replace(orphan, velocity=search_box(change, orphan.box)) for orphan in orphans[:BOX_SEARCHES]]
    return [part for part in [*parts, *found] if part.velocity is not None]


def _box_size(box: Box) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])


def _flow_of_regions(change: PictureChange, regions: Regions) -> tuple[Flow, NDArray[np.int32]]:
    """The flow of corners in changed regions, with the regions that each point is in now and was in before."""
    present = np.clip(change.present, 0, 255).astype(np.uint8)
    wanted = min(max(POINTS_OF_ALL // len(regions.largest_first), 4), POINTS_OF_ONE)
    found = []
    for number in regions.largest_first:
        left, top, right, bottom = regions.boxes[number]
        inside = (regions.labels[top:bottom, left:right] == number).astype(np.uint8)
        picture = present[top:bottom, left:right]
        corners = cv2.goodFeaturesToTrack(picture, wanted, 0.1, 3, mask=inside, blockSize=5)
        if corners is not None:
            found.append(corners.reshape(-1, 2) + np.array([left, top], np.float32))
    if not found:
        return NO_FLOW, np.zeros((0, 2), np.int32)
    flow = track_points(change, np.concatenate(found).astype(np.float32))
    numbers = np.stack([_labels_at(regions, flow[:, :2]), _labels_at(regions, flow[:, :2] - flow[:, 2:])], axis=1)
    # An object that moved leaves a changed place behind; a point without one is a chance match.
    came_from_change = (numbers > 0).all(axis=1)
    return flow[came_from_change], numbers[came_from_change]


def _labels_at(regions: Regions, points: NDArray[np.float32]) -> NDArray[np.int32]:
    height, width = regions.labels.shape
    columns, rows = np.rint(points).astype(np.int32).T
    inside = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
    labels = regions.labels[rows.clip(0, height - 1), columns.clip(0, width - 1)]
    return np.where(inside, labels, 0).astype(np.int32)


def _linked(regions: Regions, numbers: NDArray[np.int32]) -> list[list[int]]:
    """Regions that points moved between belong together: a fast object leaves one and fills another."""
    leader = {number: number for number in [*regions.largest_first, *numbers.ravel().tolist()]}

    def leader_of(number: int) -> int:
        while leader[number] != number:
            number = leader[number]
        return number

    for now, before in numbers.tolist():
        leader[leader_of(now)] = leader_of(before)
    members: dict[int, list[int]] = {}
    for number in leader:
        members.setdefault(leader_of(number), []).append(number)
    return list(members.values())


def _pixels_of(change: PictureChange, regions: Regions, members: list[int]) -> NDArray[np.int32]:
    """Rows of x, y: the changed pixels of some regions."""
    found = []
    for number in members:
        left, top, right, bottom = regions.boxes[number]
        inside = (regions.labels[top:bottom, left:right] == number) & (change.mask[top:bottom, left:right] > 0)
        rows, columns = np.nonzero(inside)
        found.append(np.stack([columns + left, rows + top], axis=1))
    return np.concatenate(found).astype(np.int32)


def _parts_of_region(change: PictureChange, pixels: NDArray[np.int32], flow: Flow) -> list[MovingPart]:
    """One part where one velocity explains the whole region, else one for each direction."""
    clusters = [cluster for cluster in _by_direction(flow) if len(cluster) >= 2]
    parts = []
    for cluster in clusters:
        part = MovingPart(pixels, cluster, _median_velocity(cluster))
        if len(clusters) == 1:
            return [part]
        box = box_now(part, change.mask.shape)
        velocity = refine_velocity(change, box, part.moving)
        if explained_share(change, box, velocity) >= EXPLAINED_BY_ONE:
            return [part]
        parts.append(part)
    return _share_pixels(parts)


def _by_direction(flow: Flow) -> Iterator[Flow]:
    """Points of similar velocity, the largest cluster first; other speeds in the same direction are dropped."""
    velocities = flow[:, 2:]
    speeds = np.hypot(velocities[:, 0], velocities[:, 1])
    apart = np.linalg.norm(velocities[:, None] - velocities[None], axis=2)
    alike = apart <= np.maximum(1.0, 0.3 * np.maximum(speeds[:, None], speeds[None]))
    left = np.arange(len(flow))
    while len(left):
        among = alike[np.ix_(left, left)]
        most = int(among.sum(axis=1).argmax())
        cluster = flow[left[among[most]]]
        yield cluster
        mean = np.array(_median_velocity(cluster))
        cosines = velocities[left] @ mean / (speeds[left] * max(float(np.linalg.norm(mean)), 1e-6))
        left = left[(cosines < 0.5) & ~among[most]]


def _median_velocity(flow: Flow) -> Vector:
    vx, vy = np.median(flow[:, 2:], axis=0).tolist()
    return vx, vy


def _share_pixels(parts: list[MovingPart]) -> list[MovingPart]:
    """Each changed pixel goes to the part with the nearest point, now or before."""
    if not parts:
        return []
    pixels = parts[0].pixels
    distances = []
    for part in parts:
        places = np.concatenate([part.flow[:, :2], part.flow[:, :2] - part.flow[:, 2:]])
        apart = np.square(pixels[:, None, :].astype(np.float32) - places[None]).sum(axis=2)
        distances.append(apart.min(axis=1))
    nearest = np.argmin(distances, axis=0)
    shared = [MovingPart(pixels[nearest == index], part.flow, part.velocity) for index, part in enumerate(parts)]
    return [part for part in shared if len(part.pixels) >= LEAST_PART]


def _target_of(change: PictureChange, part: MovingPart) -> Target | None:
    velocity = refine_velocity(change, box_now(part, change.mask.shape), part.moving)
    box = box_now(replace(part, velocity=velocity), change.mask.shape)
    explained = explained_share(change, box, velocity)
    needed = LEAST_EXPLAINED if len(part.flow) < MANY_POINTS else LEAST_EXPLAINED_OF_MANY
    slowest = SLOWEST_OF_SHAKEN if change.shaken else SLOWEST
    if explained < needed or math.hypot(*velocity) < slowest:
        return None
    left, top, right, bottom = box
    certainty = (len(part.flow) + 1) / (len(part.flow) + 2)
    return Target(((left + right - 1) / 2, (top + bottom - 1) / 2), velocity, explained * certainty)
