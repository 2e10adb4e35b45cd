"""A chore: detects live streams that went silent or are back, and mails their owners."""

import logging
import time
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.db import connection, transaction
from django.utils import timezone

from onlooker.console.alerts.models import StreamSilence
from onlooker.console.web.mail import SINGLE_MAIL_ERRORS, is_mail_on, send_mail
from onlooker.database import load_queries
from onlooker.logs import fields

log = logging.getLogger(__name__)

PAIR_EVERY = timedelta(hours=1)
"""A flapping stream causes one pair of mails in this time: that it is silent, and that it is back."""
MAILS_AT_ONCE = 20
ROUND_LIMIT_S = 20.0
"""A slow mail server delays the other chores by this time and one mail at most."""
SERVER_DOWN_PAUSE = timedelta(minutes=1)

_queries = load_queries("onlooker.console.alerts")


def send_silence_alerts(now: datetime | None = None) -> int:
    """Returns how many mails were sent. Silences are committed before mails: a crash may repeat one, never lose one."""
    if not is_mail_on():
        return 0
    moment = now or timezone.now()
    record_silences(moment)
    return mail_owners(moment)


def record_silences(now: datetime) -> None:
    """In the database only; mails are sent afterwards."""
    values = {"now": now, "pair_s": PAIR_EVERY.total_seconds()}
    with transaction.atomic():
        _execute("look_up_only", {})
        for query in ("end_silences", "forget_silences", "begin_silences"):
            _execute(query, values)


def mail_owners(now: datetime) -> int:
    sent = 0
    give_up_at = time.monotonic() + ROUND_LIMIT_S
    while sent < MAILS_AT_ONCE and time.monotonic() < give_up_at:
        taken = _execute("take_mails", {"now": now, "limit": 1})
        if not taken:
            break
        stream_id, email = taken[0]
        silence = StreamSilence.objects.select_related("stream").get(pk=stream_id)
        try:
            _send_due_mail(silence, email, now=now)
        except SINGLE_MAIL_ERRORS as error:
            log.warning("a mail was refused", extra=fields(stream=stream_id, error=type(error).__name__))
        except OSError:  # the mail server is down: try no other mail in this round, and count no failed try
            StreamSilence.objects.filter(pk=stream_id).update(tries=0, try_at=now + SERVER_DOWN_PAUSE)
            raise
        else:
            sent += 1
    return sent


def _send_due_mail(silence: StreamSilence, email: str, *, now: datetime) -> None:
    kind = "back" if silence.back_at else silence.reason
    send_alert(kind, silence, to=email)
    told: dict[str, Any] = {"back_told_at": now} if silence.back_at else {"told_at": now}
    StreamSilence.objects.filter(pk=silence.pk).update(**told, tries=0)


def _execute(query: str, values: dict[str, Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(_queries[query], values)
        return cursor.fetchall() if cursor.description else []


def send_alert(kind: str, silence: StreamSilence, *, to: str) -> None:
    """`silent`, `quota` or `back`; raises OSError if the mail server refuses it."""
    stream = silence.stream
    context = {
        "stream": stream,
        "silent_since": local_time(silence.silent_since, stream.time_zone),
        "back_at": local_time(silence.back_at, stream.time_zone) if silence.back_at else "",
        "silent_for": format_duration((silence.back_at or silence.begun_at) - silence.silent_since),
    }
    send_mail(f"alerts/mails/{kind}", to=to, context=context)


def local_time(moment: datetime, time_zone: str) -> str:
    """Such as `15 November 2026, 09:30 (Europe/Berlin)`."""
    try:
        zone, name = ZoneInfo(time_zone), time_zone
    except (ZoneInfoNotFoundError, ValueError):  # unknown on this machine; a mail must not fail for that
        zone, name = ZoneInfo("UTC"), "UTC"
    local = moment.astimezone(zone)
    return f"{local.day} {local:%B %Y, %H:%M} ({name})"


def format_duration(time: timedelta) -> str:
    """In whole minutes, as the two largest units: `2 days 3 hours`."""
    minutes = max(1, round(time.total_seconds() / 60))
    days, hours = divmod(minutes // 60, 24)
    parts = [(days, "day"), (hours, "hour"), (minutes % 60, "minute")]
    words = [f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in parts if count]
    return " ".join(words[:2])
