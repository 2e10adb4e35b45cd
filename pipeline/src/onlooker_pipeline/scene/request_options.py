"""The options of one frame, from its request and its stream, and the times that a frame may have."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onlooker_pipeline.service_call import BAD_TIMESTAMP, Call, ComputeError, Sender

MIDDLE = 0.5
AHEAD_AT_MOST_S = 5 * 60
DAY_S = 86_400


@dataclass(frozen=True)
class SceneOptions:
    """The options of one frame."""

    stored: bool = False
    from_ceiling: bool = False
    reads_age: bool = True
    reads_gender: bool = True
    reads_expression: bool = True
    reads_faces: bool = True
    sensitivity: Mapping[str, float] = field(default_factory=dict)

    def needed(self, event: str) -> float:
        """The confidence from which an event is raised: 0.9 at sensitivity 0, 0.5 at 0.5, 0.1 at 1."""
        return 0.9 - 0.8 * self.sensitivity.get(event, MIDDLE)


def read_options(params: Mapping[str, Any], sender: Sender) -> SceneOptions:
    return SceneOptions(
        stored=bool(params.get("store", False)),
        from_ceiling=params.get("camera_position") == "ceiling",
        reads_age=sender.reads_age,
        reads_gender=sender.reads_gender,
        reads_expression=sender.reads_expression,
        reads_faces=sender.reads_faces,
        sensitivity=params.get("sensitivity") or {},
    )


def check_timestamp(call: Call, *, stored: bool) -> None:
    """Raises ComputeError for a time that a sender can't mean."""
    taken_at = call.time.at_s
    if call.has_own_clock:
        return
    if taken_at < DAY_S:
        raise ComputeError(BAD_TIMESTAMP, "The timestamp is of 1970 or before. Set the clock of the device.")
    if stored and taken_at > time.time() + AHEAD_AT_MOST_S:
        raise ComputeError(
            BAD_TIMESTAMP,
            "The timestamp is more than 5 minutes ahead of the server's clock. Set the clock of the device.",
        )
    if stored and taken_at < time.time() - call.sender.retention_days * DAY_S:
        raise ComputeError(
            BAD_TIMESTAMP,
            f"The timestamp is older than the {call.sender.retention_days} days for which this stream keeps its "
            "visits. Set the clock of the device, or send with `store` false.",
        )
