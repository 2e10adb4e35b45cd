"""What the product found in a scene: visits, and where it saw each person in each frame."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bench.lib.scenes import Interval, Roi, longest, total
from testkit import Stack

PASSING_S, STOP_S, LOOK_S = 1.0, 3.0, 1.0
TOLERANCE_S = 1e-6
"""Times come from milliseconds by way of floats."""


@dataclass(frozen=True)
class Visit:
    """A visit in seconds of its scene."""

    id: str
    present: list[Interval]
    still: list[Interval]
    looking: list[Interval]

    @property
    def is_passing(self) -> bool:
        return total(self.present) >= PASSING_S - TOLERANCE_S

    @property
    def is_interested(self) -> bool:
        return longest(self.still) >= STOP_S - TOLERANCE_S and total(self.looking) > LOOK_S + TOLERANCE_S


@dataclass(frozen=True)
class SeenPlace:
    """Where one person was said to be in one frame, in pixels of the video."""

    face: Roi | None = None
    body: Roi | None = None
    is_seen: bool = True
    """False for somebody who is only remembered there."""


@dataclass(frozen=True)
class Followed:
    """One frame's answer: places by the person's id."""

    frame: int
    """Its number in the video."""
    places: dict[str, SeenPlace]


def read_answer(frame: int, answer: Mapping[str, Any], *, scale: float = 1.0) -> Followed:
    """Of a result of `scene_analysis` for a frame that was sent `scale` times as large as the video has it."""
    entities = {id_: _place(one, scale) for id_, one in answer.get("entities", {}).items()}
    bodies = {id_: _place(one, scale) for id_, one in answer.get("bodies", {}).items()}
    return Followed(frame, bodies | entities)


def _place(entity: Mapping[str, Any], scale: float) -> SeenPlace:
    seen = {name: (entity.get(f"{name}_confidence") or 0) > 0 for name in ("face_roi", "full_body_roi")}
    is_seen = any(seen.values())
    # A face that is out of sight stays where it was last: then the body tells where the person is.
    face = _roi(entity, "face_roi", scale) if seen["face_roi"] or not is_seen else None
    body = _roi(entity, "full_body_roi", scale) if seen["full_body_roi"] or not is_seen else None
    return SeenPlace(face, body, is_seen=is_seen)


def _roi(entity: Mapping[str, Any], name: str, scale: float) -> Roi | None:
    roi = entity.get(name)
    return (roi[0] / scale, roi[1] / scale, roi[2] / scale, roi[3] / scale) if roi else None


QUIET_S = 4.0
"""Without any change, after which nothing more is on its way."""
WRITE_LIMIT_S = 120.0


def await_visits(stack: Stack, streams: Sequence[int], *, limit_s: float = WRITE_LIMIT_S) -> None:
    """Until every visit of the streams has ended and no new one comes."""
    give_up_at = time.monotonic() + limit_s
    latest, since = None, time.monotonic()
    while time.monotonic() < give_up_at:
        state = stack.execute(
            "SELECT count(*), count(*) FILTER (WHERE NOT ended), sum(revision)"
            " FROM visits_visit WHERE stream_id = ANY(%s)",
            list(streams),
        )[0]
        if state != latest:
            latest, since = state, time.monotonic()
        elif state[1] == 0 and time.monotonic() - since >= QUIET_S:
            return
        time.sleep(0.25)
    raise TimeoutError(f"Of {latest and latest[0]} visits {latest and latest[1]} had not ended after {limit_s:.0f} s.")


def read_visits(stack: Stack, stream: int, *, begins_at: datetime) -> list[Visit]:
    """A stream's visits, in seconds since the scene began."""
    rows = stack.execute(
        "SELECT id, present, still, looking FROM visits_visit WHERE stream_id = %s ORDER BY began_at, id", stream
    )
    return [Visit(str(row[0]), *(_seconds(ranges, begins_at) for ranges in row[1:])) for row in rows]


def _seconds(ranges: Any, begins_at: datetime) -> list[Interval]:
    return [((one.lower - begins_at).total_seconds(), (one.upper - begins_at).total_seconds()) for one in ranges]
