"""Opens what was asked for: a window, a film, both or neither."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Protocol

from onlooker_client.errors import ConfigError
from onlooker_client.preview.people import Answer

Warn = Callable[[str], None]
"""Tells the person something in words; nothing ends because of it."""


class Preview(Protocol):
    """Shows answered frames."""

    def show(self, pixels: Any, answer: Answer) -> None:
        """Take the picture as it was sent, and its answer; never waits. The pixels must not change afterwards."""

    def close(self) -> None:
        """Finish what is under way, within seconds; may be called twice."""


class Previews:
    """Several of them as one."""

    def __init__(self, parts: list[Preview]) -> None:
        self._parts = parts

    def show(self, pixels: Any, answer: Answer) -> None:
        for part in self._parts:
            part.show(pixels, answer)

    def close(self) -> None:
        for part in self._parts:
            part.close()


def check_film_name(save: str | Path | None) -> None:
    """Said before anything begins: what is sent can't be filmed afterwards."""
    if save is not None and Path(save).suffix.lower() != ".mp4":
        raise ConfigError(f"--save writes MP4. Name the film so: --save {Path(save).stem or 'people'}.mp4")


def open_preview(*, show: bool, save: str | Path | None, fps: float, warn: Warn) -> Preview | None:
    """None where nothing is to be shown. A film that can't be written is said, and done without."""
    parts: list[Preview] = []
    check_film_name(save)
    if show:
        from onlooker_client.preview.window import Window

        parts.append(Window(warn))
    if save is not None:
        from onlooker_client.preview.film import Film

        try:
            parts.append(Film(Path(save), fps, warn))
        except ConfigError as error:
            warn(f"{error} There will be no film.")
    return Previews(parts) if parts else None
