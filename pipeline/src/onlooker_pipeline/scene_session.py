"""From the frames of one camera to visits, without a server: the entry point of the library."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from onlooker_pipeline.frame_time import FrameClock
from onlooker_pipeline.service_call import Call, PictureFault, Sender, SessionMemory
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


class SceneSession:
    """People in front of one camera, from frame to frame. It keeps numbers and one small grey picture."""

    def __init__(
        self,
        *,
        reads_age: bool = True,
        reads_gender: bool = True,
        reads_expression: bool = True,
        camera_position: str = "facing",
        sensitivity: Mapping[str, float] | None = None,
    ) -> None:
        """What is not to be read is never computed; `camera_position` is `facing` or `ceiling`."""
        self._sender = Sender(
            reads_age=reads_age,
            reads_gender=reads_gender,
            reads_expression=reads_expression,
            retention_days=ANY_AGE_DAYS,
        )
        self._params = {"store": True, "camera_position": camera_position, "sensitivity": dict(sensitivity or {})}
        self._memory = SessionMemory()
        self._state: Any = None
        self._clock: FrameClock | None = None
        self._folded = Folded(stream_id=0, session="")

    def add_frame(self, image: bytes | Picture, taken_at: datetime) -> AnalysedFrame:
        """Analyse the next frame: a JPEG or PNG file, or an array as OpenCV has it (grey, or blue, green, red).

        Frames come in the order in which they were taken. One that is up to ten seconds older than the one before
        it is skipped; an even older one begins a new scene. A time without an offset is UTC. Raises ComputeError
        for a picture that can't be decoded and for a time before 1970 or more than five minutes from now; the
        session then goes on as if the frame had not been sent.
        """
        moment = taken_at if taken_at.tzinfo else taken_at.replace(tzinfo=UTC)
        call = Call(
            self._params | {"timestamp": moment.isoformat()},
            {},
            in_session=True,
            memory=self._memory,
            arrived_at=moment.timestamp(),
            sender=self._sender,
            clock=self._clock,
        )
        result, self._state = analyse_frame(call, self._state, lambda: _decode(image))
        if not call.skipped:
            self._clock = call.time.clock
        return AnalysedFrame(result, self._fold(call), call.blind[-1] if call.blind else None)

    def close(self) -> list[Visit]:
        """The last revisions of the visits that are still open: the recording is over, everybody has left."""
        visits = close_visits(self._folded)
        self._memory.clear()
        self._state, self._clock, self._folded = None, None, Folded(stream_id=0, session="")
        return visits

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


def _decode(image: bytes | Picture) -> Picture:
    return decode_picture(image) if isinstance(image, bytes) else check_picture(image)
