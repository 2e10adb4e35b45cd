"""What was watched and what was not, slot by slot: tells 'nobody came' from 'the camera was off'."""

import enum
import time
from collections.abc import Sequence

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from onlooker.database import Pool, load_queries
from onlooker.slots import SLOT_S
from onlooker.streams.meter import Meter

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


_REASONS = {
    **{reason.value: reason for reason in Reason},
    "unsupported_media_type": Reason.BAD_REQUEST,
    "not_found": Reason.BAD_REQUEST,
    "request_timeout": Reason.TOO_SLOW,
    "image_too_large": Reason.BAD_IMAGE,
}


def reason_of(code: str) -> Reason:
    """The reason behind a problem's code, a job's error_code or a skipped frame."""
    return _REASONS.get(code, Reason.FAILED)


Key = tuple[int, int, Reason | None]
"""Stream, number of the slot since 1970, and why not; None if video was computed."""


class CoverageMeter(Meter[Key]):
    """Seconds of video computed by stream and slot, and frames refused by reason."""

    def add_computed(self, stream_id: int, video_s: float, *, at: float) -> None:
        """`at` is the frame's own time."""
        if video_s:
            self._count((stream_id, slot_number_of(at), None), video_s)

    def add_refused(self, stream_id: int, reason: Reason, *, at: float = 0.0) -> None:
        """`at` is the frame's own time, where it is known."""
        self._count((stream_id, slot_number_of(at), reason), 1)

    async def _write(self, connection: AsyncConnection[DictRow], batch: dict[Key, float]) -> None:
        computed = [(stream_id, slot, amount) for (stream_id, slot, reason), amount in batch.items() if not reason]
        refused = [(*key, int(amount)) for key, amount in batch.items() if key[2]]
        async with connection.transaction():
            if computed:
                await connection.execute(_queries["add_coverage"], _columns(computed, "stream_ids", "slots", "video_s"))
            if refused:
                columns = _columns(refused, "stream_ids", "slots", "reasons", "frames")
                await connection.execute(_queries["add_refusals"], columns)


async def remove_old_coverage(pool: Pool) -> int:
    """Coverage is kept as long as the visits it is about. Returns how many rows were deleted."""
    async with pool.connection() as connection:
        removed = [await connection.execute(_queries[name]) for name in ("sweep_coverage", "sweep_refusals")]
    return sum(cursor.rowcount for cursor in removed)


def slot_number_of(at: float) -> int:
    """The number of a moment's slot since 1970; of the current one if the moment is missing or implausible."""
    now = time.time()
    return int((at if now - EARLIEST_S <= at <= now + LATEST_S else now) // SLOT_S)


def _columns(rows: Sequence[tuple[object, ...]], *names: str) -> dict[str, list[object]]:
    return {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
