"""From the frames of one camera to visits, without a server: the entry point of the library."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from onlooker_pipeline.frame_time import FrameClock, count_frame
from onlooker_pipeline.service_call import Call, FrameQuality, PictureFault, Sender, SessionMemory, SkipReason
from onlooker_pipeline.services.scene_analysis import analyse_frame
from onlooker_pipeline.vision.picture import Picture, check_picture, decode_picture
from onlooker_pipeline.visits.fold import Folded, close_visits, fold_sightings
from onlooker_pipeline.visits.visit import Visit

ANY_AGE_DAYS = 36_500
"""A recording may be as old as it likes: nothing is stored here."""


@dataclass(frozen=True)
class AnalysedFrame:
    """What one frame shows, and the visits that it changed."""

    result: dict[str, Any]
    """As `scene_analysis` answers: `events`, `entities`, `bodies`."""
    visits: list[Visit]
    """New revisions: each replaces the earlier one with the same `id`."""
    blind: PictureFault | None = None
    """Why the camera sees nothing, settled over seconds; None while it sees."""
    video_s: float = 0.0
    """How much video the frame counts; 0 for one that was skipped."""
    quality: FrameQuality | None = None
    """How well people could be seen; None for a frame that was skipped."""
    skipped: SkipReason | None = None


class ExportedSession(msgspec.Struct, frozen=True, array_like=True):
    """What a session knows between two frames: numbers, never a pixel."""

    scene: bytes | None
    clock: FrameClock | None
    folded: Folded
    idled: bytes | None = None


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(ExportedSession).decode


class SceneSession:
    """People in front of one camera, from frame to frame. It keeps numbers and one small grey picture."""

    def __init__(
        self,
        *,
        reads_age: bool = True,
        reads_gender: bool = True,
        reads_expression: bool = True,
        reads_faces: bool = True,
        camera_position: str = "facing",
        sensitivity: Mapping[str, float] | None = None,
        idle_s: float = math.inf,
        has_own_clock: bool = False,
    ) -> None:
        """What is not to be read is never computed; `camera_position` is `facing` or `ceiling`.

        Without `reads_faces` people are found by their bodies alone, and no net that reads faces is even loaded.

        A frame that comes more than `idle_s` after the one before begins a new scene, as a server's sessions do.
        With a clock of its own, which may not know the date yet, times are not compared with this machine's.
        """
        self._sender = Sender(
            reads_age=reads_age,
            reads_gender=reads_gender,
            reads_expression=reads_expression,
            retention_days=ANY_AGE_DAYS,
            reads_faces=reads_faces,
        )
        self._params = {"store": True, "camera_position": camera_position, "sensitivity": dict(sensitivity or {})}
        self._idle_s = idle_s
        self._has_own_clock = has_own_clock
        self._memory = SessionMemory()
        self._scene: Any = None
        self._idled: Any = None
        """Of a scene that ended because nothing came, until the next frame."""
        self._clock: FrameClock | None = None
        self._folded = Folded(stream_id=0, session="")
        self._closed: list[Visit] = []
        """Of an idle scene, until a frame takes them along."""

    @property
    def has_people(self) -> bool:
        """Whether visits are open, or may soon be."""
        return bool(self._folded.people)

    def add_frame(self, image: bytes | Picture, taken_at: datetime) -> AnalysedFrame:
        """Analyse the next frame: a JPEG or PNG file, or an array as OpenCV has it (grey, or blue, green, red).

        Frames come in the order in which they were taken. One that is up to ten seconds older than the one before
        it is skipped; an even older one begins a new scene. A time without an offset is UTC. Raises ComputeError
        for a picture that can't be decoded and for a time before 1970 or more than five minutes from now; the
        session then goes on as if the frame had not been sent.
        """
        moment = taken_at if taken_at.tzinfo else taken_at.replace(tzinfo=UTC)
        if self._is_idle(moment.timestamp()):
            self._closed += self.end_idle()
        call = Call(
            self._params | {"timestamp": moment.isoformat()},
            {},
            in_session=True,
            memory=self._memory,
            arrived_at=moment.timestamp(),
            sender=self._sender,
            clock=self._clock,
            idle_state=self._idled,
            has_own_clock=self._has_own_clock,
        )
        result, self._scene = analyse_frame(call, self._scene, lambda: _decode_image(image))
        visits = [*self._closed, *self._fold(call)]
        self._closed, self._idled = [], None
        if call.skipped:
            return AnalysedFrame(result, visits, skipped=call.skipped[-1])
        gap_s = call.time.at_s - self._clock.at_us / 1e6 if self._clock else None
        self._clock = call.time.clock
        return AnalysedFrame(
            result,
            visits,
            blind=call.blind[-1] if call.blind else None,
            video_s=count_frame(gap_s),
            quality=call.quality[-1] if call.quality else None,
        )

    def close(self) -> list[Visit]:
        """The last revisions of the visits that are still open: the recording is over, everybody has left."""
        visits = close_visits(self._folded)
        self._memory.clear()
        self._scene = self._idled = self._clock = None
        self._folded = Folded(stream_id=0, session="")
        return visits

    def end_idle(self) -> list[Visit]:
        """The same for a camera that has been silent for long; its next frame says who has disappeared."""
        idled = self._scene
        visits = self.close()
        self._idled = idled
        return visits

    def export_state(self) -> bytes:
        """What a session with the same options needs to go on after this one's last frame."""
        return _encode(ExportedSession(self._scene, self._clock, self._folded, self._idled))

    def restore_state(self, state: bytes) -> bool:
        """Go on after an exported session's last frame; False, and no change, where another release wrote it."""
        try:
            exported = _decode(state)
        except msgspec.MsgspecError:
            return False
        self._memory.clear()
        self._scene, self._clock, self._idled = exported.scene, exported.clock, exported.idled
        self._folded = exported.folded
        return True

    def _is_idle(self, at_s: float) -> bool:
        return self._clock is not None and at_s - self._clock.at_us / 1e6 > self._idle_s

    def _fold(self, call: Call) -> list[Visit]:
        newest: dict[bytes, Visit] = {}
        for seen in call.seen:
            self._folded, visits = fold_sightings(self._folded, seen)
            newest |= {visit.id: visit for visit in visits}
        return list(newest.values())


def find_visits(frames: Iterable[tuple[bytes | Picture, datetime]], session: SceneSession | None = None) -> list[Visit]:
    """All visits of a recording, each in its last revision, in the order in which they began."""
    session = session or SceneSession()
    newest: dict[bytes, Visit] = {}
    for image, taken_at in frames:
        newest |= {visit.id: visit for visit in session.add_frame(image, taken_at).visits}
    newest |= {visit.id: visit for visit in session.close()}
    return sorted(newest.values(), key=lambda visit: visit.began_ms)


def _decode_image(image: bytes | Picture) -> Picture:
    return decode_picture(image) if isinstance(image, bytes) else check_picture(image)
