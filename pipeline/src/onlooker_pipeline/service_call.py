"""What a service's `compute` function receives, and how it reports a failure."""

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from onlooker_pipeline.face_size import FACE_BINS
from onlooker_pipeline.frame_time import FrameClock, FrameTime, read_timestamp_us, time_frame
from onlooker_pipeline.visits.sightings import Seen


class Sender(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a service may know about the stream that sent a frame."""

    stream_id: int = 0
    reads_age: bool = True
    reads_gender: bool = True
    reads_expression: bool = True
    retention_days: int = 365
    time_zone: str = "UTC"
    """The zone of timestamps without an offset."""
    reads_faces: bool = True
    """Whether any net may look for a face; without it people are found by their bodies alone."""


class SkipReason(enum.StrEnum):
    """Why a frame was answered without being analysed."""

    OUT_OF_ORDER = "out_of_order"
    """Older than the session's last frame."""


class PictureFault(enum.StrEnum):
    """Why a camera that sends frames sees nothing. A closed list: it is stored."""

    BLACK = "black"
    """No light at all: a closed shutter, a lens under opaque tape, a dead sensor."""
    COVERED = "covered"
    """Something close hides the view."""
    DARK = "dark"
    """A scene with too little light."""
    OVEREXPOSED = "overexposed"
    BLURRED = "blurred"
    """Out of focus, or the lens is dirty."""
    FROZEN = "frozen"
    """The same picture for 20 seconds."""
    MOVED = "moved"
    """The camera shows another view, for good; only until the new view is settled."""


FACES_AT_MOST = 200
"""Of one frame, that are counted by size."""


class FrameQuality(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How well people could be seen in a frame that was analysed."""

    is_dark: bool = False
    face_bins: Annotated[list[Annotated[int, Meta(ge=0, lt=FACE_BINS)]], Meta(max_length=FACES_AT_MOST)] = []
    """The bin of each face's size, see `face_size`."""


@dataclass
class SessionMemory:
    """What a worker keeps of a session in addition to its state: never written, lost with the worker."""

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
    memory: SessionMemory = field(default_factory=SessionMemory)
    arrived_at: float = 0.0
    """Unix time; taken as the frame's time if it has no timestamp."""
    sender: Sender = field(default_factory=Sender)
    seen: list[Seen] = field(default_factory=list)
    """Sightings for visits; a service that follows people appends to it if frames are to be stored."""
    skipped: list[SkipReason] = field(default_factory=list)
    """Reasons why the service skipped the frame; a skipped frame counts no video time."""
    blind: list[PictureFault] = field(default_factory=list)
    """Why the camera sees nothing at the time of this frame, settled over seconds; empty where it sees."""
    quality: list[FrameQuality] = field(default_factory=list)
    """How well this frame could be looked at; empty where it was not analysed, or not in a session."""
    clock: FrameClock | None = None
    """The session's clock after its last frame."""
    timed: FrameTime | None = None
    """The frame's time, where it is known already."""
    idle_state: Any = None
    """State of an earlier session with the same id that timed out; only the first call after it gets this."""
    has_own_clock: bool = False
    """Whether the time is of the clock that runs beside this program, which may not know the date yet."""

    @cached_property
    def time(self) -> FrameTime:
        """When the frame was taken; everything that counts or stores the frame uses this time."""
        if self.timed:
            return self.timed
        told_us = read_timestamp_us(self.params, time_zone=self.sender.time_zone)
        return time_frame(told_us, round(self.arrived_at * 1e6), self.clock)


Compute = Callable[[Call, Any], tuple[dict[str, Any], Any]]
"""Takes a call and the session's state (None at first); returns a result and the next state."""


BAD_TIMESTAMP = "bad_timestamp"
"""Code of an error that does not move the session's clock."""


FACES_OFF = "faces_off"
"""Code of an error of services that are about faces, for a stream that only counts."""


class ComputeError(Exception):
    """The input can't be computed; carries a sentence for the client and a stable code."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


def require_faces(sender: Sender) -> None:
    """Raises ComputeError, before anything is decoded, for a stream of which no face may be looked for."""
    if not sender.reads_faces:
        sentence = "This stream only counts people and looks for no face. Its owner can change that in its settings."
        raise ComputeError(FACES_OFF, sentence)
