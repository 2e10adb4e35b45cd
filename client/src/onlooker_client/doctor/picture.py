"""Light, focus and noise of the camera's pictures.

Focus is measured by how wide the sharpest edges are. The steepest slopes of a picture are compared at two degrees of
smoothing. A sharp edge loses much by the stronger one, an edge that is already blurred loses little; the ratio gives
the blur in the picture, in pixels as they are sent. Contrast, brightness and sensor noise hardly change the ratio, as
they do with the variance of the Laplacian. docs/guides/doctor.md has the figures behind it.

Noise is measured by Immerkaer's estimate: a filter that answers neither to slopes nor to straight edges, and so to
little else than noise, averaged over squares of the picture. The quieter ones count, those without texture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onlooker_client.doctor.findings import Finding, bad, good, unchecked, warn
from onlooker_client.doctor.limits import BLURRED_PX, NOISY, SOFT_PX, VERY_NOISY
from onlooker_client.sources.opencv import load_opencv

BLACK = 12.0
FLAT = 6.0
"""Spread of the pixels below which there is nothing in the picture."""
VERY_DARK, DARK, BRIGHT, VERY_BRIGHT = 20.0, 40.0, 220.0, 240.0
CLIPPED = 250
CLIPPED_SHARE = 0.2
REST_DARK = 60.0
"""Mean of what is not clipped, below which somebody before a window is a dark shape."""
SLIGHT_PX, STRONG_PX = 1.0, 2.5
"""The two degrees of smoothing."""
STRONGEST_SHARE = 99.5
"""Percentile of the slopes that stands for the edges."""
LEAST_SLOPE = 2.5
"""Levels a pixel; below it there is noise, and no edge."""
WIDEST_PX = 20.0
SQUARE_PX = 16
QUIET_SHARE = 25
"""Percentile of the squares whose noise counts."""
DARKEST, BRIGHTEST = 20.0, 235.0
"""Mean of a square beyond which its noise is cut off at black or white."""


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
        share = f"{figure}: backlit, {light.clipped_share:.0%} of the picture is pure white"
        return warn(
            share, "Turn the camera away from the window or lamp, or switch on its backlight compensation (WDR)."
        )
    if light.mean > BRIGHT:
        judge = bad if light.mean > VERY_BRIGHT else warn
        return judge(
            f"{figure}: too bright",
            "Lower the exposure of the camera. Is something right in front of the lens?",
        )
    return good(figure)


@dataclass(frozen=True)
class Focus:
    """Of some pictures together."""

    blur_px: float
    slope: float
    """Of the strongest edges, in levels a pixel."""


def measure_focus(pictures: Sequence[Any]) -> Focus:
    """`pictures` are grey, in the size in which they are sent; the middle one of the results counts."""
    measured = sorted((_measure(picture) for picture in pictures), key=lambda focus: focus.blur_px)
    return measured[len(measured) // 2]


def judge_focus(focus: Focus, *, is_dark: bool) -> Finding:
    if is_dark:
        return unchecked("it is too dark to tell")
    figure = f"(edges blurred by {focus.blur_px:.1f} pixels)"
    turn = "Turn the focus ring until the picture is sharp, and clean the lens. Then run doctor again."
    if focus.slope < LEAST_SLOPE:
        return warn("nothing with an edge is in view", f"Point the camera at the scene. If it is: {turn}")
    if focus.blur_px > BLURRED_PX:
        return bad(f"out of focus {figure}", turn)
    if focus.blur_px > SOFT_PX:
        return warn(f"a little soft {figure}", turn)
    return good(f"sharp {figure}")


def _measure(picture: Any) -> Focus:
    slight, strong = _slope(picture, SLIGHT_PX), _slope(picture, STRONG_PX)
    ratio = (slight / max(strong, 1e-3)) ** 2
    if ratio <= 1.0:
        return Focus(WIDEST_PX, slight)
    blur = math.sqrt(max(STRONG_PX**2 - ratio * SLIGHT_PX**2, 0.0) / (ratio - 1.0))
    return Focus(min(blur, WIDEST_PX), slight)


def _slope(picture: Any, smoothing_px: float) -> float:
    import numpy as np

    cv2 = load_opencv()
    smooth = cv2.GaussianBlur(picture.astype(np.float32), (0, 0), smoothing_px)
    across, down = cv2.Sobel(smooth, cv2.CV_32F, 1, 0), cv2.Sobel(smooth, cv2.CV_32F, 0, 1)
    return float(np.percentile(np.hypot(across, down) / 8.0, STRONGEST_SHARE))


def measure_noise(pictures: Sequence[Any]) -> float | None:
    """Standard deviation of the noise in grey levels; None if all is black or white."""
    measured = sorted(found for found in map(_noise_of, pictures) if found is not None)
    return measured[len(measured) // 2] if measured else None


def judge_noise(noise: float | None) -> Finding:
    if noise is None:
        return unchecked("it is too dark or too bright to tell")
    figure = f"{noise:.1f} grey levels"
    remedy = "Add light, or lower the gain (ISO) of the camera. Then run doctor again."
    if noise > VERY_NOISY:
        return bad(f"{figure}: ages would be guesses", remedy)
    if noise > NOISY:
        return warn(f"{figure}: grainy", remedy)
    return good(figure)


def _noise_of(picture: Any) -> float | None:
    import numpy as np

    cv2 = load_opencv()
    grey = picture.astype(np.float32)
    mask = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)
    answers = np.abs(cv2.filter2D(grey, -1, mask)) * (math.sqrt(math.pi / 2) / 6)
    noise, brightness = _squares(answers), _squares(grey)
    told = noise[(brightness > DARKEST) & (brightness < BRIGHTEST)]
    return float(np.percentile(told, QUIET_SHARE)) if told.size else None


def _squares(values: Any) -> Any:
    """The mean of each square; what is left over at the right and the bottom does not count."""
    rows, columns = (size // SQUARE_PX for size in values.shape)
    whole = values[: rows * SQUARE_PX, : columns * SQUARE_PX]
    return whole.reshape(rows, SQUARE_PX, columns, SQUARE_PX).mean(axis=(1, 3)).ravel()
