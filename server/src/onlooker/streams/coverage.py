"""What was watched and how well, and what was not, slot by slot: tells 'nobody came' from 'the camera was off'."""

import enum
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from onlooker.database import load_queries
from onlooker.slots import SLOT_S
from onlooker.streams.meter import Meter
from onlooker_pipeline.face_size import FACE_BINS
from onlooker_pipeline.service_call import FrameQuality, PictureFault
from onlooker_pipeline.versions import Versions

EARLIEST_S = 3650 * 86_400
LATEST_S = 300
"""How far from now a frame's own time may lie to be trusted. Visits have the same limits."""

_queries = load_queries("onlooker.streams")


class Reason(enum.StrEnum):
    """Why a frame that was meant for visits was not computed. A closed list: it is stored."""

    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    """No capacity, or a part of the server was unavailable."""
    QUOTA_EXCEEDED = "quota_exceeded"
    STREAM_DISABLED = "stream_disabled"
    STREAM_CLOSED = "stream_closed"
    """Outside its opening hours."""
    TOO_LARGE = "too_large"
    """The request, not the picture."""
    BAD_REQUEST = "bad_request"
    """The request could not be understood, or refers to something that does not exist."""
    TOO_SLOW = "too_slow"
    """The request did not arrive in time."""
    BAD_IMAGE = "bad_image"
    """The picture could not be decoded, or is too large to be."""
    BAD_TIMESTAMP = "bad_timestamp"
    OUT_OF_ORDER = "out_of_order"
    """Not newer than the session's last frame."""
    FAILED = "failed"
    """A fault of the server: a time limit, a worker's death, an internal error."""
    JOURNAL_FULL = "journal_full"
    """From here on, of devices that compute by themselves: there was no room to keep what was computed."""
    CLOCK_UNKNOWN = "clock_unknown"
    """The device did not know the time, and could not find it out later."""
    COMPUTE_BUSY = "compute_busy"
    """The device was still computing the frame before."""


_REASONS = {
    **{reason.value: reason for reason in Reason},
    "unsupported_media_type": Reason.BAD_REQUEST,
    "not_found": Reason.BAD_REQUEST,
    "request_timeout": Reason.TOO_SLOW,
    "image_too_large": Reason.BAD_IMAGE,
}
_FAULTS = {fault.value: fault for fault in PictureFault}


def reason_of(code: str) -> Reason:
    """The reason behind a problem's code, a job's error_code or a skipped frame."""
    return _REASONS.get(code, Reason.FAILED)


def fault_of(text: str) -> PictureFault | None:
    """The fault in a worker's reply; None if it has none, or one that only a newer release knows."""
    return _FAULTS.get(text)


Key = tuple[int, int, Reason | PictureFault | None]
"""Stream, number of the slot since 1970, and why nothing was watched; None if it was."""


class CoverageMeter(Meter[Key]):
    """By stream and slot: seconds of video that was watched, seconds that were blind, by fault, and refused frames."""

    def add_computed(self, stream_id: int, video_s: float, *, at: float) -> None:
        """`at` is the frame's own time."""
        if video_s:
            self._count((stream_id, slot_number_of(at), None), video_s)

    def add_blind(self, stream_id: int, fault: PictureFault, video_s: float, *, at: float) -> None:
        """Video that was computed while the camera saw nothing."""
        if video_s:
            self._count((stream_id, slot_number_of(at), fault), video_s)

    def add_refused(self, stream_id: int, reason: Reason, *, at: float = 0.0) -> None:
        """`at` is the frame's own time, where it is known."""
        self._count((stream_id, slot_number_of(at), reason), 1)

    async def _write(self, connection: AsyncConnection[DictRow], batch: dict[Key, float]) -> None:
        computed = [(stream_id, slot, amount) for (stream_id, slot, reason), amount in batch.items() if not reason]
        blind = [(*key, amount) for key, amount in batch.items() if isinstance(key[2], PictureFault)]
        refused = [(*key, int(amount)) for key, amount in batch.items() if isinstance(key[2], Reason)]
        async with connection.transaction():
            if computed:
                await connection.execute(
                    _queries["add_coverage"], columns_by_name(computed, "stream_ids", "slots", "video_s")
                )
            if blind:
                columns = columns_by_name(blind, "stream_ids", "slots", "faults", "video_s")
                await connection.execute(_queries["add_blindness"], columns)
            if refused:
                columns = columns_by_name(refused, "stream_ids", "slots", "reasons", "frames")
                await connection.execute(_queries["add_refusals"], columns)


LONGEST_VERSION = 40


class QualitySum(enum.Enum):
    """What is added up of frames; besides, their faces by bin."""

    FRAMES = "frames"
    VIDEO_S = "video_s"
    DARK_FRAMES = "dark_frames"
    FACE_FRAMES = "face_frames"
    FACE_VIDEO_S = "face_video_s"

    @property
    def zero(self) -> float:
        """Of the column's type: one list can't hold numbers of both."""
        return 0.0 if self.value.endswith("_s") else 0


QUALITY_COLUMNS = ("stream_ids", "slots", "models", "pipelines", *(one.value for one in QualitySum), "faces")
"""As the query `add_quality` takes them."""


class QualitySlot(NamedTuple):
    """What is added up together: a row of the table."""

    stream_id: int
    slot: int
    models: str
    pipeline: str


class QualityMeter(Meter[tuple[QualitySlot, QualitySum | int]]):
    """By stream, slot and version: how well frames that count as watched could be looked at."""

    def add_frame(
        self, stream_id: int, quality: FrameQuality, versions: Versions, video_s: float, *, at: float
    ) -> None:
        """`at` is the frame's own time. A frame that is answered again counts no video, and is not counted again."""
        if not video_s:
            return
        models, pipeline = (text[:LONGEST_VERSION] for text in versions)
        slot = QualitySlot(stream_id, slot_number_of(at), models, pipeline)
        self._count((slot, QualitySum.FRAMES), 1)
        self._count((slot, QualitySum.VIDEO_S), video_s)
        if quality.is_dark:
            self._count((slot, QualitySum.DARK_FRAMES), 1)
        if quality.face_bins:
            self._count((slot, QualitySum.FACE_FRAMES), 1)
            self._count((slot, QualitySum.FACE_VIDEO_S), video_s)
        for number in quality.face_bins:
            self._count((slot, number), 1)

    def _row_of(self, key: tuple[QualitySlot, QualitySum | int]) -> QualitySlot:
        return key[0]

    async def _write(
        self, connection: AsyncConnection[DictRow], batch: dict[tuple[QualitySlot, QualitySum | int], float]
    ) -> None:
        sums: dict[QualitySlot, dict[QualitySum | int, float]] = defaultdict(dict)
        for (slot, what), amount in batch.items():
            sums[slot][what] = amount
        rows = [
            (*slot, *(found.get(one, one.zero) for one in QualitySum), array_text(_faces_of(found)))
            for slot, found in sums.items()
        ]
        await connection.execute(_queries["add_quality"], columns_by_name(rows, *QUALITY_COLUMNS))


def _faces_of(found: dict[QualitySum | int, float]) -> Iterable[float]:
    return (found.get(number, 0) for number in range(FACE_BINS))


def array_text(faces: Iterable[float]) -> str:
    """The faces by bin as PostgreSQL writes an array: a list of lists would have to be unnested whole."""
    return "{" + ",".join(str(int(count)) for count in faces) + "}"


def slot_number_of(at: float) -> int:
    """The number of a moment's slot since 1970; of the current one if the moment is missing or implausible."""
    now = time.time()
    return int((at if now - EARLIEST_S <= at <= now + LATEST_S else now) // SLOT_S)


def columns_by_name(rows: Sequence[tuple[object, ...]], *names: str) -> dict[str, list[object]]:
    """The values of a query that unnests arrays, from rows."""
    return {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
