"""Scenes drawn in memory in which nothing happens: people stand, sway a little and look at the camera."""

import json
from dataclasses import dataclass
from math import pi
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from bench.lib.frames import FRAME_HEIGHT, FRAME_WIDTH, as_sent
from bench.lib.product import ROOT
from bench.lib.testdata import BESIDE_THE_PROJECT

FPS = 10
FRAMES = 100
"""Ten seconds, after which every movement is where it began: the scene can go on without end."""
FACE_PX = 70
FACE_AT = 0.4
"""Of the frame's height."""
NOISE = 3.0
PHOTOGRAPH = ROOT / "docs/pictures/astronaut.jpg"
HEAD_IN_PHOTOGRAPH = (130, 10, 160, 200)


@dataclass(frozen=True)
class Cutout:
    """A person without the background: colours, how much each pixel covers, and where the face is."""

    colours: Any
    cover: Any
    face: tuple[float, float, float, float]


def draw_standing(people: int, *, seed: int = 1) -> list[bytes]:
    """Frames as a camera sends them, with so many people side by side."""
    plate, cutouts = _plate(), _cutouts(people)
    chance = np.random.default_rng(seed)
    phases = chance.uniform(0, 2 * pi, (people, 2))
    frames = []
    for number in range(FRAMES):
        picture, seconds = plate.copy(), number / FPS
        for place, (cutout, phase) in enumerate(zip(cutouts, phases, strict=True)):
            x = FRAME_WIDTH * (place + 0.5) / people + 1.5 * np.sin(2 * pi * 0.3 * seconds + phase[0])
            y = FRAME_HEIGHT * FACE_AT + 0.8 * np.sin(2 * pi * 0.2 * seconds + phase[1])
            _put(picture, cutout, x, y)
        noisy = picture + chance.normal(0, NOISE, picture.shape)
        frames.append(as_sent(np.clip(noisy, 0, 255).astype(np.uint8)))
    return frames


def _put(picture: Any, cutout: Cutout, x: float, y: float) -> None:
    """Draw so that the middle of the face is at (x, y), to a part of a pixel."""
    left, top, width, height = cutout.face
    scale = FACE_PX / width
    moved = np.array([[scale, 0, x - scale * (left + width / 2)], [0, scale, y - scale * (top + height / 2)]])
    size = picture.shape[1], picture.shape[0]
    colours = cv2.warpAffine(cutout.colours, moved, size, flags=cv2.INTER_AREA, borderMode=cv2.BORDER_REPLICATE)
    cover = cv2.warpAffine(cutout.cover, moved, size, flags=cv2.INTER_AREA)[:, :, None]
    picture[:] = picture * (1 - cover) + colours * cover


def _plate() -> Any:
    path = BESIDE_THE_PROJECT / "synth/backgrounds/room.jpg"
    if path.exists():
        return cv2.resize(_read(path), (FRAME_WIDTH, FRAME_HEIGHT)).astype(np.float32)
    wall = np.linspace(90, 150, FRAME_WIDTH, dtype=np.float32)
    return np.broadcast_to(wall[None, :, None], (FRAME_HEIGHT, FRAME_WIDTH, 3)).copy()


def _read(path: Path, flags: int = cv2.IMREAD_COLOR) -> Any:
    picture = cv2.imread(str(path), flags)
    if picture is None:
        raise FileNotFoundError(path)
    return picture


def _cutouts(people: int) -> list[Cutout]:
    """Of the test data where it is there, else of one photograph."""
    folder = BESIDE_THE_PROJECT / "synth/sprites"
    if not folder.is_dir():
        return [_photographed()] * people
    known = json.loads((folder / "sprites.json").read_text(encoding="utf-8"))
    facing = [sprite for sprite in known if sprite["state"] == "front"]
    return [_sprite(folder, facing[number % len(facing)]) for number in range(people)]


def _sprite(folder: Path, sprite: dict[str, Any]) -> Cutout:
    picture = _read(folder / sprite["file"], cv2.IMREAD_UNCHANGED)
    # The coat goes on down to the frame's edge, as in the generator's scenes.
    picture = cv2.copyMakeBorder(picture, 0, 3 * picture.shape[0], 0, 0, cv2.BORDER_REPLICATE)
    return Cutout(picture[:, :, :3].astype(np.float32), picture[:, :, 3].astype(np.float32) / 255, sprite["face"])


def _photographed() -> Cutout:
    left, top, width, height = HEAD_IN_PHOTOGRAPH
    head = _read(PHOTOGRAPH)[top : top + height, left : left + width].astype(np.float32)
    cover = np.zeros((height, width), np.float32)
    cv2.ellipse(cover, (width // 2, height // 2), (width // 2 - 12, height // 2 - 12), 0, 0, 360, 1.0, -1)
    return Cutout(head, cv2.GaussianBlur(cover, (0, 0), 6), (30, 40, 100, 120))
