"""How well people could be seen in each bucket, and where the camera's view or a version changed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from operator import mul
from typing import Any

from psycopg import AsyncConnection
from psycopg.rows import DictRow, tuple_row

from onlooker.database import Pool, load_queries
from onlooker.metrics.buckets import Buckets
from onlooker.metrics.hour_sums import QUALITY, past_buckets, read_hour_sums
from onlooker.metrics.query import Query
from onlooker.slots import slot_of
from onlooker_pipeline.face_size import FACE_BINS, median_px
from onlooker_pipeline.versions import Versions

QualityPart = tuple[float, tuple[Any, ...]]
"""A share, and what it is of: first slot, versions, and sums in the order of `BucketQuality`."""

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
    past = past_buckets(query, buckets.edges_s, now)
    values = {"stream_id": query.stream_id, "from_at": past.from_at, "to_at": past.to_at}
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
    # On the grid the running slot is not told: its faces would say when somebody came.
    past = past_buckets(query, buckets.edges_s, slot_of(now) if query.grid else now)
    parts: list[list[QualityPart]] = [[] for _ in buckets.keys]
    if past.from_at < past.to_at:
        for bucket, share, sums in await read_hour_sums(connection, QUALITY, query.stream_id, past):
            parts[bucket].append((share, sums))
    nothing = BucketQuality()
    return [_add_up(part) if part else nothing for part in parts]


async def _read(connection: AsyncConnection[DictRow], name: str, values: dict[str, Any]) -> list[Any]:
    cursor = connection.cursor(row_factory=tuple_row, binary=True)
    await cursor.execute(_queries[name], values, prepare=True)
    return await cursor.fetchall()


def _add_up(parts: Sequence[QualityPart]) -> BucketQuality:
    """All versions of a bucket, and slots that are cut with those that are not."""
    if len(parts) > 1 or parts[0][0] < 1:
        in_order = sorted(parts, key=lambda part: part[1][:3])
        versions = tuple(dict.fromkeys(Versions(*sums[1:3]) for _, sums in in_order))
        shares, rows = zip(*((share, sums[3:]) for share, sums in parts), strict=True)
        sums = tuple(sum(map(mul, shares, column)) for column in zip(*rows, strict=True))
    else:  # as it is nearly always
        versions, sums = (Versions(*parts[0][1][1:3]),), parts[0][1][3:]
    frames, video_s, dark_frames, face_frames, face_video_s, *faces = sums
    return BucketQuality(frames, video_s, dark_frames, face_frames, face_video_s, tuple(faces), versions)
