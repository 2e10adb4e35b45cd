"""What cameras do to pictures: small faces, blur, motion, noise, little light or too much behind, compression."""

from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np

from bench.lib.frames import as_sent

USUAL_FACE_PX = 96.0
USUAL_QUALITY = 80
READING_NOISE = 2.0
"""Grey levels that a sensor adds in any light; in the dark, gain raises it above the picture."""
GLARE = 255.0


@dataclass(frozen=True)
class Condition:
    """How a picture was taken. As it stands, it is a good one."""

    face_px: float = USUAL_FACE_PX
    """Height of the face in the picture as it is sent."""
    quality: float = USUAL_QUALITY
    """Of the JPEG."""
    blur_px: float = 0.0
    """Standard deviation of the blur by the lens."""
    motion_px: float = 0.0
    """How far the face moves sideways while the picture is exposed."""
    noise: float = 0.0
    """Standard deviation in grey levels."""
    light: float = 1.0
    """Share of the light; what is missing is not amplified, and the sensor's own noise stays."""
    back_light: float = 0.0
    """From 0 to 1: the background goes to white, and the face loses as much light and contrast."""


GOOD = Condition()


def degrade(picture: Any, condition: Condition, dice: np.random.Generator) -> bytes:
    """A grey picture, with a face of the right height already, as a camera in this condition sends it."""
    pixels = picture.astype(np.float32)
    if condition.back_light:
        pixels = _against_light(pixels, condition.back_light)
    pixels = pixels * condition.light
    if condition.blur_px:
        pixels = cv2.GaussianBlur(pixels, (0, 0), condition.blur_px)
    if condition.motion_px:
        pixels = _moved(pixels, condition.motion_px)
    noise = max(condition.noise, READING_NOISE if condition.light < 1 else 0.0)
    if noise:
        pixels = pixels + dice.normal(0, noise, pixels.shape)
    return as_sent(np.clip(np.round(pixels), 0, 255).astype(np.uint8), quality=round(condition.quality))


def smaller(condition: Condition, face_px: float) -> Condition:
    return replace(condition, face_px=face_px)


def _against_light(pixels: Any, share: float) -> Any:
    """Bright from the edges inwards: the exposure follows the background, and stray light veils the face."""
    height, width = pixels.shape
    across, down = np.meshgrid(np.linspace(-1, 1, width), np.linspace(-1, 1, height))
    behind = np.clip((np.hypot(across, down) - 0.7) / 0.3, 0, 1).astype(np.float32)
    dim = pixels * (1 - 0.8 * share) + 20.0 * share
    return dim * (1 - behind * share) + GLARE * behind * share


def _moved(pixels: Any, distance_px: float) -> Any:
    """The mean over the positions in between."""
    length = max(int(np.ceil(distance_px)) | 1, 3)
    weights = np.clip((distance_px - np.abs(np.arange(length) - length // 2) * 2 + 1) / 2, 0, 1)
    return cv2.filter2D(pixels, -1, (weights / weights.sum()).astype(np.float32)[None, :])
