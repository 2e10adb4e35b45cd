"""What an owner is told of a silent stream, in the stream's own time."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from onlooker.console.alerts.models import Silence
from onlooker.console.mail import send_mail


def send_alert(kind: str, silence: Silence, *, to: str) -> None:
    """`silent`, `quota` or `back`; raises OSError where the mail server does not take it."""
    stream = silence.stream
    context = {
        "stream": stream,
        "silent_since": local_time(silence.silent_since, stream.time_zone),
        "back_at": local_time(silence.back_at, stream.time_zone) if silence.back_at else "",
        "silent_for": in_words((silence.back_at or silence.begun_at) - silence.silent_since),
    }
    send_mail(f"alerts/mails/{kind}", to=to, context=context)


def local_time(moment: datetime, time_zone: str) -> str:
    """Such as `15 November 2026, 09:30 (Europe/Berlin)`."""
    try:
        zone, name = ZoneInfo(time_zone), time_zone
    except (ZoneInfoNotFoundError, ValueError):  # this machine doesn't know it any more; no mail may fail for that
        zone, name = ZoneInfo("UTC"), "UTC"
    local = moment.astimezone(zone)
    return f"{local.day} {local:%B %Y, %H:%M} ({name})"


def in_words(time: timedelta) -> str:
    """To the minute, with its two largest units: `2 days 3 hours`."""
    minutes = max(1, round(time.total_seconds() / 60))
    days, hours = divmod(minutes // 60, 24)
    parts = [(days, "day"), (hours, "hour"), (minutes % 60, "minute")]
    words = [f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in parts if count]
    return " ".join(words[:2])
