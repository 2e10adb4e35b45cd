"""A stream's current status: whether frames arrive, since when, how much of the month is used, and what was refused."""

import enum
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.conf import settings
from django.db import connection
from django.db.models import Max, Sum
from django.utils import timezone
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import pgettext

from onlooker.console.languages.locale_text import write_duration
from onlooker.database import load_queries
from onlooker.slots import SLOT_S
from onlooker.streams.business_hours import is_open, parse_hours, zone_of
from onlooker.streams.coverage import Reason
from onlooker.streams.models import Blindness, Refusal, Stream
from onlooker.streams.options import WARNED_FROM, is_nearly_used_up
from onlooker.streams.video_time import month_end, month_of
from onlooker_pipeline.service_call import PictureFault

LIVE_S = 60
"""A stream is live while its newest frame is no older."""

_queries = load_queries("onlooker.streams")
RECENT = timedelta(hours=24)
# Translators: in each the first sentence says why frames were refused, the second what to do.
REFUSAL_TEXTS = {
    Reason.RATE_LIMITED: _lazy("Frames arrived faster than a stream may send them. Lower the camera's frame rate."),
    Reason.OVERLOADED: _lazy("The server was overloaded. If this happens often, it needs more workers."),
    Reason.QUOTA_EXCEEDED: _lazy("This developer stream had reached its monthly limit."),
    Reason.STREAM_DISABLED: _lazy("The stream was disabled."),
    Reason.STREAM_CLOSED: _lazy("The stream was closed at that time. Change its opening hours in its settings."),
    Reason.TOO_LARGE: _lazy("The requests were too large. Send smaller pictures; 640x480 is enough."),
    Reason.BAD_REQUEST: _lazy("The requests were malformed. Compare them with the curl command below."),
    Reason.TOO_SLOW: _lazy("The requests took too long to arrive. The camera's connection is slow."),
    Reason.BAD_IMAGE: _lazy("The pictures could not be read. Send JPEG or PNG."),
    Reason.BAD_TIMESTAMP: _lazy("The timestamps were in the future or too old. Set the device's clock."),
    Reason.OUT_OF_ORDER: _lazy(
        "Frames were not newer than the frame before. Check that no two cameras share a session."
    ),
    Reason.FAILED: _lazy("The server failed to compute them. Its log has the cause."),
    Reason.JOURNAL_FULL: _lazy(
        "The device had no room to keep them. Connect it more often, or give its journal more room."
    ),
    Reason.CLOCK_UNKNOWN: _lazy("The device did not know the time. Let it reach a time server when it starts."),
    Reason.COMPUTE_BUSY: _lazy(
        "The device was too slow to compute them. Lower its frame rate, or use a faster device."
    ),
}
"""The first sentence says why, the second what to do."""
FAULT_TEXTS = {
    PictureFault.BLACK: _lazy("The picture was black. Check the shutter, and that nothing covers the lens."),
    PictureFault.COVERED: _lazy("Something covered the lens. Remove it."),
    PictureFault.DARK: _lazy("It was too dark to find people. Leave a light on, or ignore the time after closing."),
    PictureFault.OVEREXPOSED: _lazy("Most of the picture was white. Turn the camera away from the light."),
    PictureFault.BLURRED: _lazy("The picture was blurred. Clean the lens and focus it."),
    PictureFault.FROZEN: _lazy("The picture did not change at all. Restart the camera."),
    PictureFault.MOVED: _lazy("The view changed: somebody turned the camera. Check where it looks."),
}
"""In the same way."""


class StatusLabel(enum.StrEnum):
    """The status in a word."""

    NEVER_SEEN = "never seen"
    LIVE = "live"
    SILENT = "silent"
    DISABLED = "disabled"
    CLOSED = "closed"
    """Outside its opening hours."""
    QUOTA = "monthly limit reached"

    @property
    def words(self) -> str:
        """As a badge says it."""
        named = {
            StatusLabel.NEVER_SEEN: pgettext("stream", "Never seen"),
            StatusLabel.LIVE: pgettext("stream", "Live"),
            StatusLabel.SILENT: pgettext("stream", "Silent"),
            StatusLabel.DISABLED: pgettext("stream", "Disabled"),
            StatusLabel.CLOSED: pgettext("stream", "Closed"),
            StatusLabel.QUOTA: pgettext("stream", "Monthly limit reached"),
        }
        return named[self]

    @property
    def css_class(self) -> str:
        words = {StatusLabel.NEVER_SEEN: "never", StatusLabel.DISABLED: "off", StatusLabel.CLOSED: "off"}
        return words.get(self, self.name.lower())


@dataclass(frozen=True)
class StreamStatus:
    """What is known of a stream now."""

    label: StatusLabel
    since: datetime
    """Since when it has been so; for a live stream, its newest frame."""
    last_frame_at: datetime | None
    used_s: float
    quota_s: float | None
    """None where there is no limit."""
    goes_on_at: datetime
    """When the next month starts."""

    @property
    def is_nearly_used_up(self) -> bool:
        return is_nearly_used_up(self.used_s, self.quota_s)

    @property
    def left(self) -> str:
        return write_duration(max(0.0, (self.quota_s or 0) - self.used_s))

    @property
    def used(self) -> str:
        return write_duration(self.used_s)

    @property
    def quota(self) -> str:
        return write_duration(self.quota_s or 0)

    @property
    def bar(self) -> dict[str, str]:
        """Attributes of the meter: it is full at the quota, and changes colour before that."""
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


def read_statuses(streams: Iterable[Stream]) -> dict[int, StreamStatus]:
    """By the streams' ids, with one query for all of them."""
    by_id = {stream.id: stream for stream in streams}
    values: dict[str, list[int] | date] = {"stream_ids": list(by_id), "month": month_of(time.time())}
    with connection.cursor() as cursor:
        cursor.execute(_queries["read_statuses"], values)
        rows = [_Row(*row) for row in cursor.fetchall()]
    return {row.stream_id: _make_status(by_id[row.stream_id], row) for row in rows}


def read_status(stream: Stream) -> StreamStatus:
    return read_statuses([stream])[stream.id]


def _make_status(stream: Stream, row: _Row) -> StreamStatus:
    is_bounded = stream.kind == Stream.Kind.DEVELOPER
    quota_s: float | None = settings.ONLOOKER.developer_quota_s if is_bounded else None
    label = _find_label(stream, row, quota_s)
    changed_at = row.state_at if label in (StatusLabel.DISABLED, StatusLabel.QUOTA) else row.last_frame_at
    return StreamStatus(
        label=label,
        since=changed_at or stream.created_at,
        last_frame_at=row.last_frame_at,
        used_s=row.used_s,
        quota_s=quota_s,
        goes_on_at=month_end(time.time()),
    )


def _find_label(stream: Stream, row: _Row, quota_s: float | None) -> StatusLabel:
    if not stream.enabled:
        return StatusLabel.DISABLED
    if quota_s is not None and row.used_s >= quota_s:
        return StatusLabel.QUOTA
    if row.silent_s is None:
        return StatusLabel.NEVER_SEEN
    if row.silent_s <= LIVE_S:
        return StatusLabel.LIVE
    return StatusLabel.CLOSED if is_closed_now(stream) else StatusLabel.SILENT


def is_closed_now(stream: Stream) -> bool:
    """By its opening hours."""
    hours = parse_hours(stream.hours)
    return hours is not None and not is_open(hours, zone_of(stream.time_zone), timezone.now())


@dataclass(frozen=True)
class RefusalCount:
    """Frames that were refused for one reason."""

    words: str
    frames: int
    last_at: datetime
    """When the newest 15 minutes with such frames started."""


def count_refusals(stream: Stream) -> list[RefusalCount]:
    """Refusals of the last 24 hours, the most frequent reason first."""
    since = timezone.now() - RECENT - timedelta(seconds=SLOT_S)
    rows = (
        Refusal.objects.filter(stream=stream, slot_at__gt=since)
        .values("reason")
        .annotate(total=Sum("frames"), last_at=Max("slot_at"))
        .order_by("-total")
    )
    # A gateway may be a version ahead: a reason that is unknown here is shown as it is.
    return [
        RefusalCount(str(REFUSAL_TEXTS.get(row["reason"], row["reason"])), row["total"], row["last_at"]) for row in rows
    ]


@dataclass(frozen=True)
class BlindTime:
    """How long the camera saw nothing, for one reason."""

    words: str
    lasted: str
    last_at: datetime
    """When the newest 15 minutes with such a time started."""


def sum_blindness(stream: Stream) -> list[BlindTime]:
    """Of the last 24 hours, the longest first."""
    since = timezone.now() - RECENT - timedelta(seconds=SLOT_S)
    rows = (
        Blindness.objects.filter(stream=stream, slot_at__gt=since)
        .values("fault")
        .annotate(total_s=Sum("video_s"), last_at=Max("slot_at"))
        .order_by("-total_s")
    )
    return [
        BlindTime(str(FAULT_TEXTS.get(row["fault"], row["fault"])), write_duration(row["total_s"]), row["last_at"])
        for row in rows
    ]
