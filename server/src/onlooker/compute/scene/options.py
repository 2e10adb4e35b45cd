"""What a request and its stream ask of a scene."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onlooker.bus.messages import Sender

MIDDLE = 0.5


@dataclass(frozen=True)
class Options:
    """Of one frame."""

    stored: bool = False
    from_ceiling: bool = False
    reads_age: bool = True
    reads_gender: bool = True
    reads_expression: bool = True
    sensitivity: Mapping[str, float] = field(default_factory=dict)

    def needed(self, event: str) -> float:
        """How sure an event must be to be raised: nine tenths at sensitivity 0, half at 0.5, one tenth at 1."""
        return 0.9 - 0.8 * self.sensitivity.get(event, MIDDLE)


def read_options(params: Mapping[str, Any], sender: Sender) -> Options:
    return Options(
        stored=bool(params.get("store", False)),
        from_ceiling=params.get("camera_position") == "ceiling",
        reads_age=sender.reads_age,
        reads_gender=sender.reads_gender,
        reads_expression=sender.reads_expression,
        sensitivity=params.get("sensitivity") or {},
    )
