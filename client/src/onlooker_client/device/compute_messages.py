"""What the agent and its computing process say to each other; an answer is a stranger's word, so it is bounded.

A message is a length, a JSON object of that length, and the bytes that the object announces: pixels one way, the
session's state the other way.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Callable

from onlooker_client.device.computed_frame import ComputedFrame, FrameQualityCounts

LENGTH_BYTES = 4
OBJECT_LIMIT_BYTES = 2 * 1024**2
STATE_LIMIT_BYTES = 1024**2
PIXELS_LIMIT_BYTES = 64 * 1024**2
VISITS_AT_MOST, INTERVALS_AT_MOST, FACES_AT_MOST = 200, 300, 200
"""Of one answer; a scene has at most 100 people."""
AGE_AT_MOST, SHARES = 150.0, 5
VIDEO_AT_MOST_S = 1.0
OTHERS_AT_MOST = {"confidence": 1.0, "age_confidence": 1.0, "gender_confidence": 1.0, "age": AGE_AT_MOST}
FRAME, STOP, FINISH = "frame", "stop", "finish"
"""What the agent sends: a frame; that it stops, so the state is wanted; that the source ended, so visits are closed."""
READY, FAILED, COMPUTED, IDLE, LAST = "ready", "failed", "computed", "idle", "last"
"""What is answered; `idle` comes unasked, when no frame came for long."""
_WORD = re.compile(r"[a-z0-9_]{0,60}")
_ID = re.compile(r"[0-9a-f]{32}")

ReadBytes = Callable[[int], bytes]


class UntrueAnswer(Exception):
    """An answer that can't be true, or is too large."""


@dataclass(frozen=True)
class ComputeMessage:
    """One message, with the bytes that belong to it."""

    kind: str
    said: dict[str, Any] = field(default_factory=dict)
    attached: bytes | memoryview = b""


def encode_head(message: ComputeMessage) -> bytes:
    """Everything but the attached bytes, which follow as they are."""
    said = {"kind": message.kind, "attached_bytes": len(message.attached), **message.said}
    body = json.dumps(said, separators=(",", ":")).encode()
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def read_message(read: ReadBytes, *, attached_at_most: int) -> ComputeMessage:
    """`read` returns exactly as many bytes as asked for; raises UntrueAnswer for what is no message."""
    length = int.from_bytes(read(LENGTH_BYTES), "big")
    if length > OBJECT_LIMIT_BYTES:
        raise UntrueAnswer(f"a message of {length} bytes")
    try:
        said = json.loads(read(length))
    except (ValueError, RecursionError) as error:
        raise UntrueAnswer(f"no JSON: {error}") from None
    if not isinstance(said, dict) or not isinstance(said.get("kind"), str):
        raise UntrueAnswer("no kind of message")
    count = said.pop("attached_bytes", 0)
    if not _is_whole(count) or count > attached_at_most:
        raise UntrueAnswer(f"{count!r} attached bytes")
    return ComputeMessage(said.pop("kind"), said, read(count) if count else b"")


def read_computed(message: ComputeMessage) -> ComputedFrame:
    """The frame that an answer is about; raises UntrueAnswer where it can't be one."""
    said = message.said
    try:
        return ComputedFrame(
            at_ms=_whole(said["at_ms"]),
            result=_object(said.get("result", {})),
            visits=[_visit(one) for one in _several(said.get("visits", []), VISITS_AT_MOST)],
            video_s=_number(said.get("video_s", 0.0), VIDEO_AT_MOST_S),
            blind=_word(said.get("blind", "")),
            refused=_word(said.get("refused", "")),
            quality=_quality(said.get("quality")),
            state=bytes(message.attached) if message.attached else None,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UntrueAnswer(f"{type(error).__name__}: {error}") from None


def _visit(said: Any) -> dict[str, Any]:
    visit = _object(said)
    if not _ID.fullmatch(visit["id"]) or _whole(visit["revision"]) < 1 or not isinstance(visit["ended"], bool):
        raise ValueError("no visit")
    for name in ("present", "still", "looking"):
        _intervals(visit.get(name, []))
    if not visit["present"] or visit.get("gender") not in (None, "male", "female"):
        raise ValueError("no visit")
    for name, most in OTHERS_AT_MOST.items():
        if visit.get(name) is not None:
            _number(visit[name], most)
    shares = visit.get("expression")
    if shares is not None and (len(_several(shares, SHARES)) != SHARES or not all(0 <= one <= 1 for one in shares)):
        raise ValueError("no expression")
    return visit


def _intervals(said: Any) -> None:
    edges = [_whole(edge) for pair in _several(said, INTERVALS_AT_MOST) for edge in _several(pair, 2)]
    if len(edges) != 2 * len(said) or any(later <= earlier for earlier, later in zip(edges, edges[1:])):
        raise ValueError("intervals that do not ascend")


def _quality(said: Any) -> FrameQualityCounts | None:
    if said is None:
        return None
    quality = _object(said)
    bins = [_whole(one) for one in _several(quality.get("face_bins", []), FACES_AT_MOST)]
    versions = [str(quality.get(name, ""))[:60] for name in ("models", "pipeline")]
    return FrameQualityCounts(bool(quality.get("is_dark", False)), bins, *versions)


def _object(said: Any) -> dict[str, Any]:
    if not isinstance(said, dict):
        raise TypeError("no object")
    return said


def _several(said: Any, at_most: int) -> list[Any]:
    if not isinstance(said, list) or len(said) > at_most:
        raise TypeError(f"no list of at most {at_most}")
    return said


def _is_whole(said: Any) -> bool:
    return isinstance(said, int) and not isinstance(said, bool) and 0 <= said < 2**53


def _whole(said: Any) -> int:
    if not _is_whole(said):
        raise TypeError("no whole number")
    return int(said)


def _number(said: Any, at_most: float) -> float:
    if isinstance(said, bool) or not isinstance(said, (int, float)) or not 0 <= said <= at_most:
        raise ValueError(f"no number from 0 to {at_most}")
    return float(said)


def _word(said: Any) -> str:
    if not isinstance(said, str) or not _WORD.fullmatch(said):
        raise ValueError("no word")
    return said
