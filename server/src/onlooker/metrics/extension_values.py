"""The values of extension metrics, bucket by bucket."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from onlooker.database import Pool
from onlooker.metrics.buckets import Buckets
from onlooker.metrics.coverage import Absence, BucketCoverage, Watched, read_coverage, read_watched
from onlooker.metrics.definitions import DIGITS, UNKNOWN, Number, Value
from onlooker.metrics.extensions import GAPS, IN_VIEW, QUALITY, WATCHED
from onlooker.metrics.in_view import InView, read_in_view
from onlooker.metrics.quality import BucketQuality, read_quality
from onlooker.metrics.query import Query
from onlooker_pipeline.versions import Versions

SECONDS_DIGITS = 3
"""Decimals of seconds. Coverage is counted in slots and cut in proportion: finer ones would mean nothing."""
REACHES_NOW = timedelta(minutes=1)
"""A range that ended this long ago still reaches to now: `next_page` names the moment at which it was asked for."""

FPS_DIGITS = 2
READ_FROM = {"age_read": "age", "gender_read": "gender", "expression_read": "emotion"}
"""Shares of interested people whose part of a breakdown is known."""

ExtensionValue = Mapping[str, Number | str]


def figures_needed(metrics: Sequence[str]) -> tuple[str, ...]:
    """The metrics of visits that extension metrics are computed from."""
    return tuple(READ_FROM.values()) if QUALITY.name in metrics else ()


async def read_extensions(pool: Pool, query: Query, buckets: Buckets) -> dict[str, Sequence[Any]]:
    """What the extension metrics that a query asks for are made of, by metric and bucket; read side by side."""
    readers = {name: read for name, read in _READERS.items() if name in query.metrics}
    if GAPS.name in readers:
        readers.pop(WATCHED.name, None)  # it comes with the gaps
    now = datetime.now(UTC)
    found = await asyncio.gather(*(read(pool, query, buckets, now=now) for read in readers.values()))
    values: dict[str, Sequence[Any]] = dict(zip(readers, found, strict=True))
    if GAPS.name in values:
        values[WATCHED.name] = [one.watched for one in values[GAPS.name]]
    return values


async def _read_in_view(pool: Pool, query: Query, buckets: Buckets, *, now: datetime) -> list[InView | None]:
    """Only for the bucket in which now lies, or the last one of a range that ended just now; never on the grid."""
    place = None if query.grid else _place_of_now(query, buckets.edges, now)
    seen: list[InView | None] = [None] * len(buckets.keys)
    if place is not None:
        seen[place] = await read_in_view(pool, query.stream_id)
    return seen


_READERS: dict[str, Any] = {
    WATCHED.name: read_watched,
    GAPS.name: read_coverage,
    IN_VIEW.name: _read_in_view,
    QUALITY.name: read_quality,
}


def shape_extensions(
    values: Mapping[str, Sequence[Any]], counted: Sequence[Mapping[str, Value]]
) -> dict[str, list[ExtensionValue]]:
    """As the endpoint gives them. `counted` has what visits say of each bucket, at least `figures_needed`."""
    shaped: dict[str, list[ExtensionValue]] = {
        name: [SHAPES[name](one) for one in found] for name, found in values.items() if name in SHAPES
    }
    if QUALITY.name in values:
        shaped[QUALITY.name] = [shape_quality(*pair) for pair in zip(values[QUALITY.name], counted, strict=True)]
    return shaped


def shape_watched(watched: Watched) -> Value:
    share = watched.share
    seconds = round(watched.covered_s, SECONDS_DIGITS)
    return {"value": seconds, "share": None if share is None else round(share, DIGITS)}


def shape_gaps(covered: BucketCoverage) -> Value:
    """Every reason, so that a table has the same columns for any range."""
    return {absence.value: round(covered.missing.get(absence, 0.0), SECONDS_DIGITS) for absence in Absence}


def shape_in_view(seen: InView | None) -> Value:
    return {"value": seen.people, "looking": seen.looking} if seen else {"value": None, "looking": None}


SHAPES: dict[str, Callable[[Any], Value]] = {
    WATCHED.name: shape_watched,
    GAPS.name: shape_gaps,
    IN_VIEW.name: shape_in_view,
}


def shape_quality(quality: BucketQuality, counted: Mapping[str, Value]) -> ExtensionValue:
    """Every member, so that a table has the same columns for any range. Several versions are separated by commas."""
    face_px = quality.face_px
    models, pipeline = _join_versions(quality.versions)
    return {
        "fps": _rounded(quality.fps, FPS_DIGITS),
        "face_fps": _rounded(quality.face_fps, FPS_DIGITS),
        "face_px": None if face_px is None else round(face_px),
        "dark": _rounded(quality.dark_share, DIGITS),
        **{name: _rounded(known_share(counted[metric]), DIGITS) for name, metric in READ_FROM.items()},
        "models": models,
        "pipeline": pipeline,
    }


def known_share(parts: Value) -> float | None:
    """The share of people of whom a breakdown knows the part; None if there is nobody."""
    total = sum(filter(None, parts.values()))
    return 1 - (parts[UNKNOWN] or 0) / total if total else None


def _rounded(number: float | None, digits: int) -> float | None:
    return None if number is None else round(number, digits)


@lru_cache(maxsize=256)
def _join_versions(versions: tuple[Versions, ...]) -> tuple[str | None, str | None]:
    """Of the models, and of the pipeline."""
    models = dict.fromkeys(one.models for one in versions if one.models)
    pipelines = dict.fromkeys(one.pipeline for one in versions if one.pipeline)
    return ",".join(models) or None, ",".join(pipelines) or None


def _place_of_now(query: Query, edges: Sequence[datetime], now: datetime) -> int | None:
    if not query.from_at <= now < query.to_at + REACHES_NOW:
        return None
    moment = min(now, query.to_at - datetime.resolution)
    return next((place for place, edge in enumerate(edges[1:]) if edges[place] <= moment < edge), None)
