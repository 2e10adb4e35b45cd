"""Pictures of whole pages, wide and narrow, light and dark."""

import base64
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.lib.browser.browser import Browser

WIDE_PX = 1280
MIDDLE_PX = 768
NARROW_PX = 360
HEIGHT_PX = 800
View = tuple[str, int, str]
VIEWS: Sequence[View] = (("1280", WIDE_PX, "light"), ("360", NARROW_PX, "light"), ("1280-dark", WIDE_PX, "dark"))
EVERY_VIEW: Sequence[View] = tuple(
    (f"{width_px}{suffix}", width_px, scheme)
    for width_px in (WIDE_PX, MIDDLE_PX, NARROW_PX)
    for suffix, scheme in (("", "light"), ("-dark", "dark"))
)
Settle = Callable[[Browser], None]
"""Waits until a page that draws by itself has drawn itself again."""


def at_once(browser: Browser) -> None:
    """Most pages are still."""


def shoot(
    browser: Browser, folder: Path, name: str, *, views: Sequence[View] = VIEWS, settle: Settle = at_once
) -> list[Path]:
    """Write `name`-1280.png, `name`-360.png, `name`-1280-dark.png: one for each view."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for suffix, width_px, scheme in views:
        path = folder / f"{name}-{suffix}.png"
        with viewing(browser, width_px=width_px, scheme=scheme):
            settle(browser)
            path.write_bytes(picture_of(browser))
        written.append(path)
    return written


@contextmanager
def viewing(browser: Browser, *, width_px: int = WIDE_PX, scheme: str = "light") -> Iterator[None]:
    """The page as on a screen of this width, for somebody who prefers this scheme."""
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width_px, "height": HEIGHT_PX, "deviceScaleFactor": 1, "mobile": width_px < WIDE_PX},
    )
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def picture_of(browser: Browser) -> bytes:
    """The whole page as it is now, as PNG."""
    size = browser.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
    clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
    answer = browser.execute_cdp_cmd(
        "Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True, "clip": clip}
    )
    return base64.b64decode(answer["data"])
