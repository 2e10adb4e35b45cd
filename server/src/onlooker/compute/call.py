"""What a service's `compute` function gets, and how it says that it failed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from onlooker.bus.messages import Sender, Skipped
from onlooker.compute.frame_time import FrameClock, FrameTime, time_frame, told_time_us
from onlooker.compute.sightings import Seen


@dataclass
class Memory:
    """What one worker keeps of a session beside its state: in memory only, never written, gone with the worker."""

    kept: Any = None
    size_bytes: int = 0

    def keep(self, what: Any, *, size_bytes: int) -> None:
        self.kept, self.size_bytes = what, size_bytes

    def clear(self) -> None:
        self.kept, self.size_bytes = None, 0


@dataclass(frozen=True)
class Call:
    """One job as a service sees it."""

    params: dict[str, Any]
    attachments: dict[str, bytes]
    in_session: bool
    memory: Memory = field(default_factory=Memory)
    arrived_at: float = 0.0
    """Unix time; a frame without a timestamp was taken then."""
    sender: Sender = field(default_factory=Sender)
    seen: list[Seen] = field(default_factory=list)
    """Where a service that follows people puts what it saw of them, if it is to be kept."""
    skipped: list[Skipped] = field(default_factory=list)
    """Where a service says why it did not look at the frame; such a frame counts no video time."""
    clock: FrameClock | None = None
    """Of the session, as its last frame left it."""
    idle_state: Any = None
    """The state of a session under the same id that ended by idling; only the first call after it gets that."""

    @cached_property
    def time(self) -> FrameTime:
        """When its frame was taken. Whatever counts or stores the frame goes by this."""
        told_us = told_time_us(self.params, time_zone=self.sender.time_zone)
        return time_frame(told_us, round(self.arrived_at * 1e6), self.clock)


Compute = Callable[[Call, Any], tuple[dict[str, Any], Any]]
"""Takes a call and the session's state (None at first); returns a result and the next state."""


BAD_TIMESTAMP = "bad_timestamp"
"""Code of an error that leaves the session's clock alone."""


class ComputeError(Exception):
    """A computation that can't be done with this input; a sentence for the client and a stable code."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
