"""How well people could be seen in each bucket, and where the camera's view or a version changed."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from psycopg import AsyncConnection
from psycopg.rows import DictRow, tuple_row

from onlooker.database import Pool, load_queries
from onlooker.metrics.buckets import Buckets
from onlooker.metrics.coverage import past_of
from onlooker.metrics.query import Query
from onlooker.metrics.statements import as_array
from onlooker.slots import SLOT_S
from onlooker_pipeline.face_size import FACE_BINS, median_px
from onlooker_pipeline.versions import Versions

QualityRow = tuple[int, datetime, str, str, float, float, float, float, float, list[float]]
"""Number of the bucket, first slot, versions, and sums in the order of `BucketQuality`."""

_queries = load_queries("onlooker.metrics", "sql/quality.sql")


@dataclass(frozen=True)
class BucketQuality:
    """Sums over the frames of a bucket that count as watched. Slots that are cut count in proportion."""

    frames: float = 0.0
    video_s: float = 0.0
    dark_frames: float = 0.0
    face_frames: float = 0.0
    """Frames that show a face, and their seconds of video."""
    face_video_s: float = 0.0
    faces: tuple[float, ...] = (0.0,) * FACE_BINS
    """By size."""
    versions: tuple[Versions, ...] = ()
    """In the order in which they first appear."""

    @property
    def fps(self) -> float | None:
        """Frames a second of what was watched."""
        return self.frames / self.video_s if self.video_s else None

    @property
    def face_fps(self) -> float | None:
        """The same while a face was in view: cameras send fewer frames while nobody is."""
        return self.face_frames / self.face_video_s if self.face_video_s else None

    @property
    def face_px(self) -> float | None:
        """Median of the longer side of faces, to 13 %."""
        return median_px(self.faces)

    @property
    def dark_share(self) -> float | None:
        return self.dark_frames / self.frames if self.frames else None


class ChangeSource(StrEnum):
    """What may make numbers before and after it differ. A closed list."""

    VIEW = "view"
    MODELS = "models"
    PIPELINE = "pipeline"


@dataclass(frozen=True)
class QualityChange:
    """A change, in the slot that begins then."""

    at: datetime
    what: ChangeSource
    version: str = ""
    """The new one."""


async def read_quality(pool: Pool, query: Query, buckets: Buckets, *, now: datetime) -> list[BucketQuality]:
    """Of each bucket, inside the range and in the past."""
    async with pool.connection() as connection:
        return await _read_buckets(connection, query, buckets, now=now)


async def read_quality_and_changes(
    pool: Pool, query: Query, buckets: Buckets, *, now: datetime
) -> tuple[list[BucketQuality], list[QualityChange]]:
    """And what changed inside the range; a version that was there from its beginning is no change."""
    from_at, to_at = past_of(query, buckets, now)
    values = {"stream_id": query.stream_id, "from_at": from_at, "to_at": to_at}
    async with pool.connection() as connection:
        found = await _read_buckets(connection, query, buckets, now=now)
        moved = await _read(connection, "read_view_changes", values)
        has_changed = len({version for one in found for version in one.versions}) > 1
        newer = await _read(connection, "read_version_changes", values) if has_changed else []
    changes = [QualityChange(slot_at.astimezone(UTC), ChangeSource.VIEW) for (slot_at,) in moved]
    changes += (change for row in newer for change in _version_changes(*row))
    return found, sorted(changes, key=lambda change: change.at)


def _version_changes(
    at: datetime, models: str, pipeline: str, models_before: str, pipeline_before: str
) -> Iterable[QualityChange]:
    if models != models_before:
        yield QualityChange(at.astimezone(UTC), ChangeSource.MODELS, models)
    if pipeline != pipeline_before:
        yield QualityChange(at.astimezone(UTC), ChangeSource.PIPELINE, pipeline)


async def _read_buckets(
    connection: AsyncConnection[DictRow], query: Query, buckets: Buckets, *, now: datetime
) -> list[BucketQuality]:
    from_at, to_at = past_of(query, buckets, now)
    ends_s, edges_s = (from_at.timestamp(), to_at.timestamp()), [edge.timestamp() for edge in buckets.edges]
    inside = edges_s[bisect_right(edges_s, ends_s[0]) : bisect_left(edges_s, ends_s[1])]
    cuts_s = [ends_s[0], *inside, ends_s[1]]
    first = bisect_right(edges_s, ends_s[0]) - 1
    cut_slots_s = {cut_s - cut_s % SLOT_S for cut_s in cuts_s if cut_s % SLOT_S}
    values = {"stream_id": query.stream_id, "from_at": from_at, "to_at": to_at, "now": now}
    values |= {"cuts_s": as_array(cuts_s), "cut_slots_s": as_array(cut_slots_s)}
    rows: list[QualityRow] = await _read(connection, "read_quality", values) if from_at < to_at else []
    parts: list[list[QualityRow]] = [[] for _ in buckets.keys]
    for row in rows:
        parts[first + row[0] - 1].append(row)
    nothing = BucketQuality()
    return [_add_up(part) if part else nothing for part in parts]


async def _read(connection: AsyncConnection[DictRow], name: str, values: dict[str, Any]) -> list[Any]:
    cursor = connection.cursor(row_factory=tuple_row, binary=True)
    await cursor.execute(_queries[name], values, prepare=True)
    return await cursor.fetchall()


def _add_up(rows: Sequence[QualityRow]) -> BucketQuality:
    """All versions of a bucket, and slots that are cut with those that are not."""
    return BucketQuality(
        frames=sum(row[4] for row in rows),
        video_s=sum(row[5] for row in rows),
        dark_frames=sum(row[6] for row in rows),
        face_frames=sum(row[7] for row in rows),
        face_video_s=sum(row[8] for row in rows),
        faces=tuple(rows[0][9] if len(rows) == 1 else map(sum, zip(*(row[9] for row in rows), strict=True))),
        versions=tuple(dict.fromkeys(Versions(row[2], row[3]) for row in rows)),
    )
