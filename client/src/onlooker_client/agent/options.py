"""The options of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class AgentOptions:
    """Options of `onlooker-agent run`, checked."""

    source: str
    fps: float = 10.0
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

    @property
    def fields(self) -> dict[str, Any]:
        """What every frame's request says beside its picture and time."""
        said: dict[str, Any] = {"store": self.is_stored}
        if self.camera_position != "facing":
            said["camera_position"] = self.camera_position
        return said
