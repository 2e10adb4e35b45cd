"""What was watched in a stretch of time, added up: seconds, reasons, and how well people could be seen. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onlooker_client.device.computed_frame import ComputedFrame, FrameQualityCounts

SLOT_MS = 15 * 60_000
"""As the server has it."""
FACE_BINS = 16
LONGEST_FRAME_S = 1.0
"""No frame counts more video."""
_COUNTED = ("frames", "dark_frames", "face_frames")
_TIMED = ("video_s", "face_video_s")
Amounts = dict[str, float]


@dataclass
class QualitySums:
    """Of one version of models and pipeline."""

    amounts: Amounts = field(default_factory=dict)
    faces: list[int] = field(default_factory=lambda: [0] * FACE_BINS)

    def add_frame(self, quality: FrameQualityCounts, video_s: float) -> None:
        _add_to(self.amounts, {"frames": 1, "video_s": video_s, "dark_frames": int(quality.is_dark)})
        if quality.face_bins:
            _add_to(self.amounts, {"face_frames": 1, "face_video_s": video_s})
        for number in quality.face_bins:
            self.faces[min(max(number, 0), FACE_BINS - 1)] += 1

    def add(self, other: QualitySums) -> None:
        _add_to(self.amounts, other.amounts)
        self.faces = [one + more for one, more in zip(self.faces, other.faces)]


@dataclass
class CoverageSums:
    """Added up frame by frame."""

    frames: int = 0
    """That were computed; stays on the device."""
    watched_s: float = 0.0
    blind_s: Amounts = field(default_factory=dict)
    refused: Amounts = field(default_factory=dict)
    quality: dict[tuple[str, str], QualitySums] = field(default_factory=dict)
    """By version of models and pipeline."""

    def add_frame(self, frame: ComputedFrame) -> None:
        if frame.refused:
            self.add_refused(frame.refused)
            return
        self.frames += 1
        video_s = frame.video_s if 0.0 <= frame.video_s <= LONGEST_FRAME_S else 0.0
        if frame.blind:
            _add_to(self.blind_s, {frame.blind: video_s})
            return
        self.watched_s += video_s
        if frame.quality is not None and video_s:
            version = (frame.quality.models, frame.quality.pipeline)
            self.quality.setdefault(version, QualitySums()).add_frame(frame.quality, video_s)

    def add_refused(self, reason: str, frames: int = 1) -> None:
        _add_to(self.refused, {reason: frames})

    def add(self, other: CoverageSums) -> None:
        self.frames += other.frames
        self.watched_s += other.watched_s
        _add_to(self.blind_s, other.blind_s)
        _add_to(self.refused, other.refused)
        for version, sums in other.quality.items():
            self.quality.setdefault(version, QualitySums()).add(sums)

    def lose(self, reason: str, count: int) -> None:
        """What is known of these minutes is not complete: they count as not watched, for that reason."""
        self.watched_s, self.blind_s, self.quality = 0.0, {}, {}
        self.add_refused(reason, count)

    def to_wire(self) -> dict[str, Any]:
        """As a batch has it; a slot can't have more seconds than there are."""
        blind = {fault: round(seconds, 3) for fault, seconds in sorted(self.blind_s.items())}
        left_s = max(0.0, SLOT_MS / 1000 - sum(blind.values()))
        said: dict[str, Any] = {"watched_s": round(min(self.watched_s, left_s), 3)}
        if blind:
            said["blind_s"] = blind
        if self.refused:
            said["refused"] = {reason: int(frames) for reason, frames in sorted(self.refused.items())}
        if self.quality:
            said["quality"] = [_quality_row(version, sums) for version, sums in sorted(self.quality.items())]
        return said

    def to_json(self) -> str:
        said = {**self.to_wire(), "watched_s": round(self.watched_s, 3), "frames": self.frames}
        return json.dumps(said, separators=(",", ":"))

    @classmethod
    def of_json(cls, text: str) -> CoverageSums:
        """Raises ValueError where it is none."""
        said = json.loads(text)
        try:
            return cls(
                frames=int(said.get("frames", 0)),
                watched_s=float(said["watched_s"]),
                blind_s=dict(said.get("blind_s", {})),
                refused=dict(said.get("refused", {})),
                quality=dict(_quality_of(row) for row in said.get("quality", [])),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"no sums of coverage: {error}") from None


def _add_to(sums: Amounts, more: Mapping[str, float]) -> None:
    for name, amount in more.items():
        sums[name] = sums.get(name, 0) + amount


def _quality_row(version: tuple[str, str], quality: QualitySums) -> dict[str, Any]:
    counted = {name: int(quality.amounts.get(name, 0)) for name in _COUNTED}
    timed = {name: round(quality.amounts.get(name, 0.0), 3) for name in _TIMED}
    return {"models": version[0], "pipeline": version[1], **counted, **timed, "faces": quality.faces}


def _quality_of(row: Mapping[str, Any]) -> tuple[tuple[str, str], QualitySums]:
    amounts = {name: row[name] for name in (*_COUNTED, *_TIMED)}
    return (row["models"], row["pipeline"]), QualitySums(amounts, list(row["faces"]))
