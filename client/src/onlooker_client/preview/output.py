"""Opens the requested outputs: a window, a video, both or neither."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Protocol

from onlooker_client.errors import ConfigError
from onlooker_client.scene import SceneAnswer

Warn = Callable[[str], None]
"""Tells the person something in words; nothing ends because of it."""


class Preview(Protocol):
    """Shows answered frames."""

    def show(self, pixels: Any, answer: SceneAnswer) -> None:
        """Take the picture as it was sent, and its answer; never waits. The pixels must not change afterwards."""

    def close(self) -> None:
        """Finish what is in progress, within seconds; may be called twice."""


class Previews:
    """Several of them as one."""

    def __init__(self, parts: list[Preview]) -> None:
        self._parts = parts

    def show(self, pixels: Any, answer: SceneAnswer) -> None:
        for part in self._parts:
            part.show(pixels, answer)

    def close(self) -> None:
        for part in self._parts:
            part.close()


def check_video_name(save: str | Path | None) -> None:
    """Checked before anything starts: what was sent can't be recorded afterwards."""
    if save is not None and Path(save).suffix.lower() != ".mp4":
        raise ConfigError(f"--save writes MP4. Use a name such as: --save {Path(save).stem or 'people'}.mp4")


def open_preview(*, show: bool, save: str | Path | None, fps: float, warn: Warn) -> Preview | None:
    """None if nothing is to be shown. A video that can't be written is reported, and left out."""
    parts: list[Preview] = []
    check_video_name(save)
    if show:
        from onlooker_client.preview.window import PreviewWindow

        parts.append(PreviewWindow(warn))
    if save is not None:
        from onlooker_client.preview.video import PreviewVideo

        try:
            parts.append(PreviewVideo(Path(save), fps, warn))
        except ConfigError as error:
            warn(f"{error} No video will be written.")
    return Previews(parts) if parts else None
