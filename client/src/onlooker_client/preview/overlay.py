"""Draws an answer over the picture that was sent: bodies, faces, gazes, labels and a caption."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Callable

from onlooker_client.moments import read_moment
from onlooker_client.scene import SceneAnswer, count_people
from onlooker_client.sources.opencv import load_opencv

cv2: Any = load_opencv()

Colour = tuple[int, int, int]
Point = tuple[int, int]

# Blue, green, red, as OpenCV has it. Of the palette of Okabe and Ito, which the colour-blind can tell apart.
FACE: Colour = (233, 180, 86)
BODY: Colour = (0, 159, 230)
GAZE: Colour = (66, 228, 240)
UNSEEN: Colour = (170, 170, 170)
EDGE: Colour = (24, 24, 24)
"""Under every line, so that it stands out on white too."""
WHITE: Colour = (255, 255, 255)

FONT, TEXT_SCALE, LINE_PX, PAD_PX = cv2.FONT_HERSHEY_SIMPLEX, 0.42, 16, 5
PLATE_OPACITY = 0.62
GAZE_LENGTH = 1.3
"""In widths of the face."""
CORNER = 0.28
"""How much of each side of a face's box is drawn."""
MOODS = {"neutral": "neutral", "happiness": "happy", "surprise": "surprised", "anger": "angry", "sadness": "sad"}
SURE = 0.5
"""Below this confidence a gender is said with a question mark."""
Box = tuple[int, int, int, int]
"""Left, top, width, height."""
GAP_PX = 4
OVER_S = 3.0
"""Frames of so many seconds make the rate."""
LIVE_S = 60.0
"""What is older is a recording; its age says nothing."""


def draw_answer(pixels: Any, answer: SceneAnswer, caption: str = "") -> None:
    """Into the picture itself, which must have colours; coordinates of the answer are its own."""
    faces = read_faces(answer)
    for body, is_seen in read_bodies(answer):
        _draw_body(pixels, body, BODY if is_seen else UNSEEN)
    for face in faces:
        _draw_face(pixels, face)
    _draw_labels(pixels, faces, _draw_caption(pixels, caption))
    for face in faces:
        if face.is_seen:
            _draw_gaze(pixels, face)


def with_colours(pixels: Any) -> Any:
    """A copy to draw into."""
    return cv2.cvtColor(pixels, cv2.COLOR_GRAY2BGR) if pixels.ndim == 2 else pixels.copy()


def _draw_body(pixels: Any, box: Box, colour: Colour) -> None:
    left, top, width, height = box
    cv2.rectangle(pixels, (left, top), (left + width, top + height), EDGE, 3, cv2.LINE_AA)
    cv2.rectangle(pixels, (left, top), (left + width, top + height), colour, 1, cv2.LINE_AA)


def _draw_face(pixels: Any, face: Face) -> None:
    colour, thickness = (FACE, 2) if face.is_seen else (UNSEEN, 1)
    for line in _corners(face.box):
        _draw_line(pixels, line, colour, thickness)


def _corners(box: Box) -> list[list[Point]]:
    """The four corners of a box, each a line with a bend."""
    left, top, width, height = box
    right, bottom, across, down = left + width, top + height, round(width * CORNER), round(height * CORNER)
    return [
        [(x + along, y), (x, y), (x, y + up)]
        for x, along in ((left, across), (right, -across))
        for y, up in ((top, down), (bottom, -down))
    ]


def _draw_line(pixels: Any, points: Sequence[Point], colour: Colour, thickness: int) -> None:
    for tone, width in ((EDGE, thickness + 2), (colour, thickness)):
        for start, end in zip(points, points[1:]):
            cv2.line(pixels, start, end, tone, width, cv2.LINE_AA)


def _draw_gaze(pixels: Any, face: Face) -> None:
    """A rod from each eye, as the camera sees it: yaw grows to the right of the picture, pitch upwards."""
    (yaw, pitch), length = face.gaze, GAZE_LENGTH * face.box[2]
    across, up = round(length * math.sin(yaw)), round(length * math.sin(pitch))
    rods = [[(x, y), (x + across, y - up)] for x, y in face.eyes]
    dot_px = 3 if face.box[2] >= 40 else 2
    for rod in rods:
        _draw_line(pixels, rod, GAZE, 2)
    for eye, _ in rods:
        cv2.circle(pixels, eye, dot_px + 1, EDGE, cv2.FILLED, cv2.LINE_AA)
        cv2.circle(pixels, eye, dot_px, GAZE, cv2.FILLED, cv2.LINE_AA)


def _draw_labels(pixels: Any, faces: Sequence[Face], caption: Box) -> None:
    height, width = pixels.shape[:2]
    taken = [caption, *(face.box for face in faces if face.is_seen)]
    for face in sorted(faces, key=lambda face: not face.is_seen):
        if face.lines:
            place = place_label(face.box, _text_size(face.lines), (width, height), taken)
            taken.append(place)
            _write(pixels, face.lines, place, WHITE if face.is_seen else UNSEEN)


def _draw_caption(pixels: Any, text: str) -> Box:
    """At the left of the bottom: heads are rarely there."""
    if not text:
        return 0, 0, 0, 0
    wide, high = _text_size([text])
    place = GAP_PX, pixels.shape[0] - high - GAP_PX, wide, high
    _write(pixels, [text], place, WHITE)
    return place


def _text_size(lines: Sequence[str]) -> tuple[int, int]:
    widest = max(cv2.getTextSize(line, FONT, TEXT_SCALE, 1)[0][0] for line in lines)
    return widest + 2 * PAD_PX, LINE_PX * len(lines) + PAD_PX


def _write(pixels: Any, lines: Sequence[str], place: Box, colour: Colour) -> None:
    left, top, wide, high = place
    plate = pixels[top : top + high, left : left + wide]
    cv2.addWeighted(plate, 1 - PLATE_OPACITY, plate, 0.0, 0.0, dst=plate)
    for number, line in enumerate(lines, start=1):
        foot = left + PAD_PX, top + LINE_PX * number - 2
        cv2.putText(pixels, line, foot, FONT, TEXT_SCALE, colour, 1, cv2.LINE_AA)


@dataclass(frozen=True)
class Face:
    """One face, where it is now or was last."""

    box: Box
    is_seen: bool
    eyes: tuple[tuple[int, int], ...]
    gaze: tuple[float, float]
    """Yaw to the right of the picture, pitch upwards, in radians."""
    lines: tuple[str, ...]


def read_faces(answer: SceneAnswer) -> list[Face]:
    """Those that are seen now come last, so that they are drawn over the others."""
    faces = [_read_face(person) for person in answer.get("entities", {}).values()]
    return sorted(faces, key=lambda face: face.is_seen)


def read_bodies(answer: SceneAnswer) -> list[tuple[Box, bool]]:
    """Boxes, and whether each person is seen now."""
    people = [*answer.get("bodies", {}).values(), *answer.get("entities", {}).values()]
    return [(as_box(who["full_body_roi"]), _is_seen(who)) for who in people if who.get("full_body_roi")]


def as_box(numbers: Any) -> Box:
    left, top, width, height = (round(number) for number in numbers)
    return left, top, width, height


def describe_person(person: Mapping[str, Any]) -> tuple[str, ...]:
    """Gender and age, then mood; what is not known is left out."""
    gender, age = person.get("gender"), person.get("age") or 0.0
    is_gender_known = gender in ("female", "male")
    is_age_known = age > 0 or person.get("age_confidence", 0) > 0
    unsure = "?" if person.get("gender_confidence", 0) < SURE else ""
    who = f"{f'{gender}{unsure}' if is_gender_known else ''} {f'{age:.0f}' if is_age_known else ''}".strip()
    shares = {word: person.get(f"emotion_{name}") or 0.0 for name, word in MOODS.items()}
    mood = max(shares, key=lambda word: shares[word])
    return tuple(line for line in (who, mood if shares[mood] else "") if line)


def _read_face(person: Mapping[str, Any]) -> Face:
    yaw, pitch = person["gaze"]
    return Face(
        box=as_box(person["face_roi"]),
        is_seen=_is_seen(person),
        eyes=tuple((round(x), round(y)) for x, y in person["face_eye"]),
        gaze=(yaw, pitch),
        lines=describe_person(person),
    )


def _is_seen(person: Mapping[str, Any]) -> bool:
    """A face that is turned away or hidden has no confidence; the place is the last that is known."""
    return bool(person.get("face_confidence", 1) > 0)


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


class Caption:
    """Remembers when the last frames were taken."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._taken: deque[float] = deque(maxlen=200)

    def read(self, answer: SceneAnswer) -> str:
        """For the next answer."""
        taken_at = read_taken_at(answer)
        words = []
        if taken_at is not None:
            words.append(taken_at.strftime("%H:%M:%S"))
            words.append(f"{self._rate(taken_at.timestamp()):.0f} fps")
            age_s = self._clock() - taken_at.timestamp()
            if 0 <= age_s < LIVE_S:
                words.append(f"{age_s * 1000:.0f} ms" if age_s < 1 else f"{age_s:.1f} s")
        people = count_people(answer)
        words.append(f"{people} {'person' if people == 1 else 'people'}")
        return "   ".join(words)

    def _rate(self, taken_s: float) -> float:
        if self._taken and not 0 < taken_s - self._taken[-1] < OVER_S:
            self._taken.clear()
        self._taken.append(taken_s)
        while taken_s - self._taken[0] > OVER_S:
            self._taken.popleft()
        span_s = taken_s - self._taken[0]
        return (len(self._taken) - 1) / span_s if span_s > 0 else 0.0


def read_taken_at(answer: SceneAnswer) -> datetime | None:
    """When the picture was taken, as the answer says it."""
    try:
        return read_moment(str(answer.get("timestamp", "")))
    except ValueError:
        return None
