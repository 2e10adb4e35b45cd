"""Opens whatever a text means."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from onlooker_client.sources.capturing import CameraFeed, NetworkFeed
from onlooker_client.sources.feed import Feed
from onlooker_client.sources.live import LiveSource
from onlooker_client.sources.naming import Kind, camera_device, describe, recognise
from onlooker_client.sources.piping import PipeFeed
from onlooker_client.sources.playing import PlayedSource, play_folder, play_video
from onlooker_client.sources.source import Source


@dataclass(frozen=True)
class Wish:
    """What is asked of a source; one that can't do it gives what it has."""

    width_px: int | None = None
    height_px: int | None = None
    fps: float = 10.0
    loop: bool = False


def open_source(
    text: str, *, width_px: int | None = None, height_px: int | None = None, fps: float = 10.0, loop: bool = False
) -> Source:
    """Open a camera, a video, a folder or standard input; raises SourceError where that fails."""
    source = begin_source(text, Wish(width_px, height_px, fps, loop))
    if isinstance(source, LiveSource):
        source.wait_until_open()
    return source


def begin_source(text: str, wish: Wish) -> LiveSource | PlayedSource:
    """The same without waiting: a live source that can't be opened says so when it is read."""
    kind, name = recognise(text), describe(text)
    if kind is Kind.VIDEO:
        return play_video(Path(text).expanduser(), name=name, loop=wish.loop)
    if kind is Kind.FOLDER:
        return play_folder(Path(text).expanduser(), name=name, fps=wish.fps, loop=wish.loop)
    return LiveSource(name, _feed(kind, text.strip(), wish), fps=wish.fps, gives_up=kind.is_waited_for)


def _feed(kind: Kind, text: str, wish: Wish) -> Feed:
    if kind is Kind.CAMERA:
        return CameraFeed(camera_device(text), width_px=wish.width_px, height_px=wish.height_px, fps=wish.fps)
    if kind is Kind.NETWORK:
        return NetworkFeed(text, name=describe(text))
    return PipeFeed(sys.stdin.buffer if sys.stdin else None)
