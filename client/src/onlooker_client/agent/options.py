"""The options of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onlooker_client.agent.business_hours import ALWAYS_OPEN, OpeningTimes
from onlooker_client.device.compute_options import ComputeOptions

SERVER_FPS, DEVICE_FPS = 10.0, 5.0
"""Frames a second where nothing else is said: counts are the same at 5, and a device computes half as much."""


@dataclass(frozen=True)
class JournalOptions:
    """Where visits wait for the server, on a device that computes."""

    folder: Path | None = None
    """None: the usual one."""
    limit_bytes: int = 200_000_000


@dataclass(frozen=True)
class AgentOptions:
    """Options of `onlooker-agent run`, checked."""

    source: str
    fps: float = SERVER_FPS
    idle_fps: float = 1.0
    width_px: int = 640
    height_px: int = 480
    quality: int = 80
    is_grey: bool = True
    max_kbytes: float = 400.0
    """A second; 0: no limit."""
    is_stored: bool = True
    camera_position: str = "facing"
    is_looped: bool = False
    health_file: Path | None = None
    health_port: int | None = None
    computes_here: bool = False
    """Whether this device computes, and sends visits only."""
    compute: ComputeOptions = field(default_factory=ComputeOptions)
    is_compute_fixed: bool = False
    """Whether the command says where, whatever the stream is set to."""
    journal: JournalOptions = field(default_factory=JournalOptions)
    is_stream_known: bool = False
    """Whether the server has accepted this stream's credentials before."""
    opening: OpeningTimes = ALWAYS_OPEN
    """As far as they are known without the server."""
    is_grouped: bool = False
    """Whether the stream tells about people in groups alone: then the feed tells of nobody what they are like."""
    feed: Any = None
    """Options of the local feed; None: there is none."""

    @property
    def fields(self) -> dict[str, Any]:
        """What every frame's request says beside its picture and time."""
        said: dict[str, Any] = {"store": self.is_stored}
        if self.camera_position != "facing":
            said["camera_position"] = self.camera_position
        return said
