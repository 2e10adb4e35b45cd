"""Why frames were not counted, in plain words."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Max, Sum
from django.utils import timezone

from onlooker.streams.coverage import SLOT_S, Reason
from onlooker.streams.models import Refusal, Stream

RECENT = timedelta(hours=24)

WORDS = {
    Reason.RATE_LIMITED: "They came faster than a stream may send. Lower the camera's frame rate.",
    Reason.OVERLOADED: "The server had no room for them. If it stays so, it needs more workers.",
    Reason.QUOTA_EXCEEDED: "The month of this developer stream is used up.",
    Reason.STREAM_DISABLED: "The stream was disabled.",
    Reason.TOO_LARGE: "The requests were too large. Send smaller pictures; 640x480 is enough.",
    Reason.BAD_REQUEST: "The requests could not be understood. Compare them with the line below.",
    Reason.TOO_SLOW: "The requests took too long to arrive. The camera's connection is slow.",
    Reason.BAD_IMAGE: "The pictures could not be read. Send JPEG or PNG.",
    Reason.BAD_TIMESTAMP: "The timestamps were in the future or too old. Set the device's clock.",
    Reason.OUT_OF_ORDER: "They were not newer than the frame before. Do two cameras share a session?",
    Reason.FAILED: "The server failed. The one who runs it finds the cause in its log.",
}


@dataclass(frozen=True)
class Refused:
    """Frames that were refused for one reason."""

    words: str
    frames: int
    last_at: datetime
    """When the newest 15 minutes with such frames began."""


def recent_refusals(stream: Stream) -> list[Refused]:
    """Of the last day, most frequent first."""
    since = timezone.now() - RECENT - timedelta(seconds=SLOT_S)
    rows = (
        Refusal.objects.filter(stream=stream, slot_at__gt=since)
        .values("reason")
        .annotate(total=Sum("frames"), last_at=Max("slot_at"))
        .order_by("-total")
    )
    # A gateway may be a version ahead: a reason that is not known here yet is told as it is.
    return [Refused(WORDS.get(row["reason"], row["reason"]), row["total"], row["last_at"]) for row in rows]
