"""How a stream stands now: whether frames come, since when, and how much of the month is used."""

import enum
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from django.conf import settings
from django.db import connection

from onlooker.database import load_queries
from onlooker.streams.kinds import WARNED_FROM, is_nearly_used_up
from onlooker.streams.models import Stream
from onlooker.streams.video_time import as_duration, month_end, month_of

LIVE_S = 60
"""A stream whose newest frame is no older is live."""

_queries = load_queries("onlooker.streams")


class Sign(enum.StrEnum):
    """What a person sees first of a stream."""

    NEVER_SEEN = "never seen"
    LIVE = "live"
    SILENT = "silent"
    DISABLED = "disabled"
    QUOTA = "month used up"

    @property
    def badge(self) -> str:
        """The stylesheet's name of it."""
        return {Sign.NEVER_SEEN: "never", Sign.DISABLED: "off"}.get(self, self.name.lower())


@dataclass(frozen=True)
class Standing:
    """What is known of a stream at this moment."""

    sign: Sign
    since: datetime
    """From when on it is so; of a live stream, its newest frame."""
    last_frame_at: datetime | None
    used_s: float
    quota_s: float | None
    """None where there is no limit."""
    goes_on_at: datetime
    """When the next month begins."""

    @property
    def is_nearly_used_up(self) -> bool:
        return is_nearly_used_up(self.used_s, self.quota_s)

    @property
    def left(self) -> str:
        return as_duration(max(0.0, (self.quota_s or 0) - self.used_s))

    @property
    def used(self) -> str:
        return as_duration(self.used_s)

    @property
    def quota(self) -> str:
        return as_duration(self.quota_s or 0)

    @property
    def bar(self) -> dict[str, str]:
        """Numbers of the bar: it is full at the quota, and changes its colour before."""
        quota_s = self.quota_s or 0.0
        value_s = min(self.used_s, quota_s)
        shown_s = {"max": quota_s, "low": WARNED_FROM * quota_s, "high": 0.95 * quota_s, "value": value_s}
        return {name: f"{seconds:.1f}" for name, seconds in shown_s.items()}


@dataclass(frozen=True)
class _Row:
    stream_id: int
    used_s: float
    last_frame_at: datetime | None
    silent_s: float | None
    state_at: datetime | None


def read_standings(streams: Iterable[Stream]) -> dict[int, Standing]:
    """By the streams' numbers, with one query for all of them."""
    by_id = {stream.id: stream for stream in streams}
    values: dict[str, list[int] | date] = {"stream_ids": list(by_id), "month": month_of(time.time())}
    with connection.cursor() as cursor:
        cursor.execute(_queries["read_standings"], values)
        rows = [_Row(*row) for row in cursor.fetchall()]
    return {row.stream_id: _judge(by_id[row.stream_id], row) for row in rows}


def read_standing(stream: Stream) -> Standing:
    return read_standings([stream])[stream.id]


def _judge(stream: Stream, row: _Row) -> Standing:
    is_bounded = stream.kind == Stream.Kind.DEVELOPER
    quota_s: float | None = settings.ONLOOKER.developer_quota_s if is_bounded else None
    sign = _sign_of(stream, row, quota_s)
    changed_at = row.state_at if sign in (Sign.DISABLED, Sign.QUOTA) else row.last_frame_at
    return Standing(
        sign=sign,
        since=changed_at or stream.created_at,
        last_frame_at=row.last_frame_at,
        used_s=row.used_s,
        quota_s=quota_s,
        goes_on_at=month_end(time.time()),
    )


def _sign_of(stream: Stream, row: _Row, quota_s: float | None) -> Sign:
    if not stream.enabled:
        return Sign.DISABLED
    if quota_s is not None and row.used_s >= quota_s:
        return Sign.QUOTA
    if row.silent_s is None:
        return Sign.NEVER_SEEN
    return Sign.LIVE if row.silent_s <= LIVE_S else Sign.SILENT
