"""Draws an answer over the picture that was sent: bodies, faces, gazes and labels, legible on light and dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from onlooker_client.preview.people import Answer, Box, Face, read_bodies, read_faces
from onlooker_client.preview.placing import GAP_PX, place_label
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


def draw_answer(pixels: Any, answer: Answer, caption: str = "") -> None:
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
