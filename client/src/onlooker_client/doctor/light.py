"""Light: too dark, too bright, or against the light."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onlooker_client.doctor.finding import Finding, bad, good, warn

BLACK = 12.0
FLAT = 6.0
"""Spread of the pixels below which there is nothing in the picture."""
VERY_DARK, DARK, BRIGHT, VERY_BRIGHT = 20.0, 40.0, 220.0, 240.0
CLIPPED = 250
CLIPPED_SHARE = 0.2
REST_DARK = 60.0
"""Mean of what is not clipped, below which somebody before a window is a dark shape."""


@dataclass(frozen=True)
class Light:
    """Of some pictures together; 0 is black and 255 is white."""

    mean: float
    spread: float
    clipped_share: float
    """Part of the picture that is plain white."""
    rest_mean: float
    """Brightness of the other part."""

    @property
    def is_black(self) -> bool:
        return self.mean < BLACK and self.spread < FLAT

    @property
    def is_dark(self) -> bool:
        return self.mean < DARK


def measure_light(pictures: Sequence[Any]) -> Light:
    """`pictures` are grey."""
    import numpy as np

    pixels = np.stack([picture[::2, ::2] for picture in pictures])
    clipped = pixels >= CLIPPED
    rest = pixels[~clipped]
    return Light(
        mean=float(pixels.mean()),
        spread=float(np.mean([picture.std() for picture in pixels])),
        clipped_share=float(clipped.mean()),
        rest_mean=float(rest.mean()) if rest.size else 255.0,
    )


def judge_light(light: Light) -> Finding:
    figure = f"{light.mean:.0f} of 255"
    if light.is_black:
        return bad(
            f"{figure}: the picture is black", "Take off the lens cap, open the shutter, or switch on the light."
        )
    if light.mean < DARK:
        judge = bad if light.mean < VERY_DARK else warn
        return judge(f"{figure}: too dark", "Add light, or raise the exposure or gain of the camera.")
    if light.clipped_share > CLIPPED_SHARE and light.rest_mean < REST_DARK:
        share = f"{figure}: against the light, {light.clipped_share:.0%} of the picture is plain white"
        return warn(
            share, "Turn the camera away from the window or lamp, or switch on its backlight compensation (WDR)."
        )
    if light.mean > BRIGHT:
        judge = bad if light.mean > VERY_BRIGHT else warn
        return judge(
            f"{figure}: too bright",
            "Lower the exposure of the camera. Is something right before the lens?",
        )
    return good(figure)
