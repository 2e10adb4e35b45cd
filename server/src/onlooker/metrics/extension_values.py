"""The values of extension metrics, bucket by bucket."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from onlooker.database import Pool
from onlooker.metrics.buckets import Buckets
from onlooker.metrics.coverage import Absence, BucketCoverage, Watched, read_coverage, read_watched
from onlooker.metrics.definitions import DIGITS, UNKNOWN, Number, Value
from onlooker.metrics.extensions import GAPS, IN_VIEW, QUALITY, WATCHED
from onlooker.metrics.in_view import InView, read_in_view
from onlooker.metrics.quality import BucketQuality, read_quality
from onlooker.metrics.query import Query

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


async def read_extensions(
    pool: Pool, query: Query, buckets: Buckets, counted: Sequence[Mapping[str, Value]]
) -> dict[str, list[ExtensionValue]]:
    """The values of the extension metrics that a query asks for, by metric and bucket.

    `counted` has what visits say of each bucket, at least the metrics of `figures_needed`.
    """
    now = datetime.now(UTC)
    values: dict[str, list[ExtensionValue]] = {}
    if GAPS.name in query.metrics:
        covered = await read_coverage(pool, query, buckets, now=now)
        values[GAPS.name] = [shape_gaps(one) for one in covered]
        values[WATCHED.name] = [shape_watched(one.watched) for one in covered]
    elif WATCHED.name in query.metrics:
        values[WATCHED.name] = [shape_watched(one) for one in await read_watched(pool, query, buckets, now=now)]
    if IN_VIEW.name in query.metrics:
        place = _place_of_now(query, buckets.edges, now)
        nobody = shape_in_view(None)
        values[IN_VIEW.name] = [nobody] * len(buckets.keys)
        if place is not None:
            values[IN_VIEW.name][place] = shape_in_view(await read_in_view(pool, query.stream_id))
    if QUALITY.name in query.metrics:
        found = await read_quality(pool, query, buckets, now=now)
        values[QUALITY.name] = [shape_quality(*one) for one in zip(found, counted, strict=True)]
    return values


def shape_watched(watched: Watched) -> Value:
    share = watched.share
    seconds = round(watched.covered_s, SECONDS_DIGITS)
    return {"value": seconds, "share": None if share is None else round(share, DIGITS)}


def shape_gaps(covered: BucketCoverage) -> Value:
    """Every reason, so that a table has the same columns for any range."""
    return {absence.value: round(covered.missing.get(absence, 0.0), SECONDS_DIGITS) for absence in Absence}


def shape_in_view(seen: InView | None) -> Value:
    return {"value": seen.people, "looking": seen.looking} if seen else {"value": None, "looking": None}


def shape_quality(quality: BucketQuality, counted: Mapping[str, Value]) -> ExtensionValue:
    """Every member, so that a table has the same columns for any range. Several versions are separated by commas."""
    seen: dict[str, Number | str] = {
        "fps": _rounded(quality.fps, FPS_DIGITS),
        "face_fps": _rounded(quality.face_fps, FPS_DIGITS),
        "face_px": None if quality.face_px is None else round(quality.face_px),
        "dark": _rounded(quality.dark_share, DIGITS),
    }
    read = {name: _rounded(known_share(counted[metric]), DIGITS) for name, metric in READ_FROM.items()}
    models, pipelines = ([one[place] for one in quality.versions] for place in (0, 1))
    return seen | read | {"models": _join_versions(models), "pipeline": _join_versions(pipelines)}


def known_share(parts: Value) -> float | None:
    """The share of people of whom a breakdown knows the part; None if there is nobody."""
    total = sum(count or 0 for count in parts.values())
    return 1 - (parts[UNKNOWN] or 0) / total if total else None


def _rounded(number: float | None, digits: int) -> float | None:
    return None if number is None else round(number, digits)


def _join_versions(versions: Sequence[str]) -> str | None:
    return ",".join(dict.fromkeys(filter(None, versions))) or None


def _place_of_now(query: Query, edges: Sequence[datetime], now: datetime) -> int | None:
    """The bucket in which now lies, or the last one of a range that ended just now."""
    if not query.from_at <= now < query.to_at + REACHES_NOW:
        return None
    moment = min(now, query.to_at - datetime.resolution)
    return next((place for place, edge in enumerate(edges[1:]) if edges[place] <= moment < edge), None)
