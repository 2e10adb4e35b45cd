"""What `motion_detection` finds of squares that move in a known way, of walkers, and of what stands still."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from bench.lib.figures import Figure
from bench.lib.frames import as_frame
from bench.lib.testdata import LabelledClip, read_clips
from onlooker_pipeline.service_call import Call, SessionMemory
from onlooker_pipeline.services.motion_detection import compute

Plane: TypeAlias = NDArray[np.float32]
SHAPE = (480, 640)
GROUNDS = ("plain", "slope", "soft", "fine", "room")
WALKERS = "intel_one_by_one"
LABELS_PRECISION_S = 0.5


@dataclass(frozen=True)
class Square:
    """Where it is in the second of two pictures, and how it came there."""

    x: float
    y: float
    size: int
    vx: float
    vy: float
    looks: Plane

    def centre(self, picture: int) -> tuple[float, float]:
        return self.x - (1 - picture) * self.vx, self.y - (1 - picture) * self.vy


@dataclass(frozen=True)
class MotionTally:
    """Errors of the squares that were found, and how many were not, or were too many."""

    position_px: list[float]
    velocity_share: list[float]
    lost: int
    extra: int

    @property
    def right(self) -> float:
        pairs = zip(self.position_px, self.velocity_share, strict=True)
        good = sum(position <= 5 and velocity <= 0.2 for position, velocity in pairs)
        return good / (len(self.position_px) + self.lost)


def measure(data: Path | None = None) -> list[Figure]:
    """With the labelled clips' folder also how it does on people."""
    figures = _squares("one_square", 80, count=1, flicker=0.0)
    figures += _squares("flickering_lamp", 40, count=1, flicker=0.15)
    figures += _squares("three_squares", 40, count=3, flicker=0.0)
    figures.append(_static())
    return figures + (_walkers(data) if data else [])


def _squares(name: str, scenes: int, *, count: int, flicker: float) -> list[Figure]:
    tally = MotionTally([], [], 0, 0)
    for seed in range(scenes):
        rng = np.random.default_rng([count, round(100 * flicker), seed])
        frames, squares = _scene(rng, count=count, flicker=flicker)
        tally = _add(tally, squares, _targets(frames)[-1])
    note = f"within 5 px and 20 %; {scenes} scenes, {tally.lost} lost, {tally.extra} extra"
    position, velocity = (float(np.percentile(errors, 95)) for errors in (tally.position_px, tally.velocity_share))
    return [
        Figure(f"motion_{name}_right", tally.right, at_least=0.95, note=note),
        Figure(f"motion_{name}_position_p95", position, at_most=5.0, note="px"),
        Figure(f"motion_{name}_velocity_p95", velocity, at_most=0.2, note="share of the speed"),
    ]


def _static(scenes: int = 40) -> Figure:
    found = 0
    for seed in range(scenes):
        rng = np.random.default_rng([0, seed])
        frames, _ = _scene(rng, count=0, flicker=0.1 if seed % 2 else 0.0)
        found += len(_targets(frames)[-1])
    note = f"{scenes} noisy scenes, half with a flickering lamp"
    return Figure("motion_static_targets", found, at_most=0, note=note)


def _targets(frames: list[bytes]) -> list[list[dict[str, Any]]]:
    memory, state, answers = SessionMemory(), None, []
    for frame in frames:
        result, state = compute(Call({}, {"image": frame}, in_session=True, memory=memory), state)
        answers.append(result["targets"])
    return answers


def _add(tally: MotionTally, squares: list[Square], targets: list[dict[str, Any]]) -> MotionTally:
    position_px, velocity_share, lost = [*tally.position_px], [*tally.velocity_share], tally.lost
    left = list(targets)
    for square in squares:
        place = (square.x - 0.5, square.y - 0.5)
        best = min(left, key=lambda target: math.dist(target["mean_position"], place), default=None)
        if best is None or math.dist(best["mean_position"], place) > max(20, square.size / 2):
            lost += 1
            continue
        left.remove(best)
        position_px.append(math.dist(best["mean_position"], place))
        velocity = (square.vx, square.vy)
        velocity_share.append(math.dist(best["mean_velocity"], velocity) / math.hypot(*velocity))
    return MotionTally(position_px, velocity_share, lost, tally.extra + len(left))


def _scene(rng: np.random.Generator, *, count: int, flicker: float) -> tuple[list[bytes], list[Square]]:
    ground = _ground(rng, str(rng.choice(GROUNDS)))
    squares: list[Square] = []
    while len(squares) < count:
        square = _square(rng, ground)
        if _fits(square, squares):
            squares.append(square)
    sigma, light = rng.uniform(0, 8), 1 + rng.uniform(-flicker, flicker)
    frames = []
    for picture in (0, 1):
        drawn = ground
        for square in squares:
            drawn = _draw(drawn, square, picture)
        frames.append(_photograph(rng, drawn * (light if picture else 1.0), sigma))
    return frames, squares


def _ground(rng: np.random.Generator, kind: str) -> Plane:
    height, width = SHAPE
    if kind == "plain":
        return np.full(SHAPE, rng.uniform(60, 190), np.float32)
    if kind == "slope":
        return np.add.outer(np.linspace(0, 30, height), np.linspace(90, 150, width)).astype(np.float32)
    if kind in ("soft", "fine"):
        grain, strength = (16, 18.0) if kind == "soft" else (4, 12.0)
        return 120 + strength * _grain(rng, (height // grain, width // grain), (width, height))
    room = np.full(SHAPE, 120, np.float32)
    for _ in range(25):
        left, top = int(rng.uniform(0, width)), int(rng.uniform(0, height))
        opposite = (left + int(rng.uniform(20, 250)), top + int(rng.uniform(20, 200)))
        cv2.rectangle(room, (left, top), opposite, rng.uniform(50, 200), -1 if rng.random() < 0.6 else 2)
    return np.asarray(cv2.GaussianBlur(room, (3, 3), 0), np.float32)


def _grain(rng: np.random.Generator, cells: tuple[int, int], size: tuple[int, int]) -> Plane:
    rough = rng.normal(0, 1, cells).astype(np.float32)
    return np.asarray(cv2.resize(rough, size, interpolation=cv2.INTER_CUBIC), np.float32)


def _square(rng: np.random.Generator, ground: Plane) -> Square:
    """Plain or textured, and of another tone than what it is before."""
    size, speed, angle = int(rng.integers(20, 121)), math.exp(rng.uniform(math.log(2), math.log(40))), rng.uniform(0, 7)
    x, y = rng.uniform(0, SHAPE[1]), rng.uniform(0, SHAPE[0])
    reach = size // 2
    behind = ground[max(0, int(y) - reach) : int(y) + reach, max(0, int(x) - reach) : int(x) + reach].mean()
    contrast = rng.uniform(45, 100)
    tone = behind - contrast if behind - contrast > 20 else behind + contrast
    looks = np.full((size, size), tone, np.float32)
    if rng.random() < 0.5:
        cells = max(3, size // 6)
        looks += 35 * _grain(rng, (cells, cells), (size, size))
    return Square(x, y, size, speed * math.cos(angle), speed * math.sin(angle), looks.clip(5, 250))


def _fits(square: Square, others: list[Square]) -> bool:
    """Within the picture before and after, and clear of the others."""
    margin = square.size / 2 + 8
    for x, y in (square.centre(0), square.centre(1)):
        if not (margin < x < SHAPE[1] - margin and margin < y < SHAPE[0] - margin):
            return False
        for other in others:
            clear = (square.size + other.size) / 2 + 16
            if any(max(abs(x - u), abs(y - v)) < clear for u, v in (other.centre(0), other.centre(1))):
                return False
    return True


def _draw(scene: Plane, square: Square, picture: int) -> Plane:
    """At its place to a fraction of a pixel: the rim is mixed with what is behind."""
    x, y = square.centre(picture)
    shift = np.array([[1, 0, x - square.size / 2 - 1], [0, 1, y - square.size / 2 - 1]], np.float32)
    looks = cv2.copyMakeBorder(square.looks, 1, 1, 1, 1, cv2.BORDER_REPLICATE)
    cover = np.pad(np.ones(square.looks.shape, np.float32), 1)
    size = (scene.shape[1], scene.shape[0])
    shown = cv2.warpAffine(looks, shift, size, borderMode=cv2.BORDER_REPLICATE)
    share = cv2.warpAffine(cover, shift, size)
    return np.asarray(scene * (1 - share) + shown * share, np.float32)


def _photograph(rng: np.random.Generator, scene: Plane, sigma: float) -> bytes:
    noisy = scene + rng.normal(0, sigma, scene.shape)
    grey = np.clip(np.rint(noisy), 0, 255).astype(np.uint8)
    return cv2.imencode(".jpg", grey, [cv2.IMWRITE_JPEG_QUALITY, 80])[1].tobytes()


def _walkers(data: Path) -> list[Figure]:
    """People who walk past a table: targets while they walk, none while nobody is there."""
    clip = next(clip for clip in read_clips(data) if clip.name == WALKERS)
    frames = [as_frame(picture) for _, picture in clip.pictures()]
    answers = _targets(frames)
    walking = [number for number in range(1, len(frames)) if _walks(clip, number / clip.fps)]
    empty = [number for number in range(1, len(frames)) if _is_empty(clip, number / clip.fps)]
    seen = sum(bool(answers[number]) for number in walking) / len(walking)
    false = sum(bool(answers[number]) for number in empty) / len(empty)
    return [
        Figure("motion_walkers_seen", seen, note=f"share of {len(walking)} pictures in which somebody walks"),
        Figure("motion_empty_scene_targets", false, at_most=0.02, note=f"share of {len(empty)} pictures of nobody"),
    ]


def _stays(clip: LabelledClip) -> Iterator[tuple[float, float, list[list[float]]]]:
    for person in clip.truth["persons"]:
        yield person["enter"], person["leave"], person["still"]


def _walks(clip: LabelledClip, seconds: float) -> bool:
    for enter, leave, still in _stays(clip):
        stands = any(start - LABELS_PRECISION_S <= seconds <= end + LABELS_PRECISION_S for start, end in still)
        if enter <= seconds <= leave and not stands:
            return True
    return False


def _is_empty(clip: LabelledClip, seconds: float) -> bool:
    # Part of a person may be in view before the label's `enter`, which waits for half of them.
    margin = 2.0
    return not any(enter - margin <= seconds <= leave + margin for enter, leave, _ in _stays(clip))
