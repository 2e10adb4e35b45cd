"""Opens the source that a text names."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from onlooker_client.sources.cameras import CameraFeed, NetworkFeed
from onlooker_client.sources.kinds import SourceKind, camera_device, describe, recognise
from onlooker_client.sources.live import LiveSource
from onlooker_client.sources.mjpeg import PipeFeed
from onlooker_client.sources.playback import PlayedSource, play_folder, play_video
from onlooker_client.sources.source import Feed, Source


@dataclass(frozen=True)
class SourceOptions:
    """What is asked of a source; one that can't do it gives what it has."""

    width_px: int | None = None
    height_px: int | None = None
    fps: float = 10.0
    loop: bool = False


def open_source(
    text: str, *, width_px: int | None = None, height_px: int | None = None, fps: float = 10.0, loop: bool = False
) -> Source:
    """Open a camera, a video, a folder or standard input; raises SourceError where that fails."""
    source = begin_source(text, SourceOptions(width_px, height_px, fps, loop))
    if isinstance(source, LiveSource):
        source.wait_until_open()
    return source


def begin_source(text: str, options: SourceOptions) -> LiveSource | PlayedSource:
    """The same without waiting: a live source that can't be opened says so when it is read."""
    kind, name = recognise(text), describe(text)
    if kind is SourceKind.VIDEO:
        return play_video(Path(text).expanduser(), name=name, loop=options.loop)
    if kind is SourceKind.FOLDER:
        return play_folder(Path(text).expanduser(), name=name, fps=options.fps, loop=options.loop)
    return LiveSource(name, _feed(kind, text.strip(), options), fps=options.fps, gives_up=kind.is_waited_for)


def _feed(kind: SourceKind, text: str, options: SourceOptions) -> Feed:
    if kind is SourceKind.CAMERA:
        return CameraFeed(camera_device(text), width_px=options.width_px, height_px=options.height_px, fps=options.fps)
    if kind is SourceKind.NETWORK:
        return _network_feed(text)
    return PipeFeed(sys.stdin.buffer if sys.stdin else None)


def _network_feed(text: str) -> Feed:
    """In a process of its own where pictures can be handed over in sealed memory: on Linux."""
    if not sys.platform.startswith("linux"):
        return NetworkFeed(text, name=describe(text))
    from onlooker_client.sources.camera_process import ProcessFeed

    return ProcessFeed(text, name=describe(text))
