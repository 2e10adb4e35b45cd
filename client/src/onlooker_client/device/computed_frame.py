"""What the computing process says of one frame: numbers, never a pixel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class FrameQualityCounts:
    """How well people could be seen in a frame that counts as watched."""

    is_dark: bool = False
    face_bins: list[int] = field(default_factory=list)
    """The bin of each face's size."""
    models: str = ""
    pipeline: str = ""


@dataclass(frozen=True)
class ComputedFrame:
    """One frame, computed on this device."""

    at_ms: int
    """When it was taken, in milliseconds of Unix time by the clock that stamped it."""
    result: dict[str, Any] = field(default_factory=dict)
    """As `scene_analysis` answers: `events`, `entities`, `bodies`."""
    visits: list[dict[str, Any]] = field(default_factory=list)
    """New revisions of visits, as the wire has them; each replaces the earlier one with the same `id`."""
    video_s: float = 0.0
    """How much video the frame counts; 0 for one that was skipped."""
    blind: str = ""
    """Why the camera sees nothing; empty while it sees."""
    refused: str = ""
    """Why the frame was not computed; empty where it was."""
    quality: FrameQualityCounts | None = None
    state: bytes | None = None
    """The session's state after this frame, where the process sent it along; to be stored with the visits."""
