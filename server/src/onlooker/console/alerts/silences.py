"""Noticing that a live stream went silent or came back, and telling its owner: a chore."""

import logging
import time
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from onlooker.console.alerts.mails import send_alert
from onlooker.console.alerts.models import Silence
from onlooker.console.mail import OF_ONE_MAIL, is_mail_on
from onlooker.database import load_queries
from onlooker.logs import fields

log = logging.getLogger(__name__)

PAIR_EVERY = timedelta(hours=1)
"""A stream that comes and goes is told of once in this time: one mail that it is silent, one that it is back."""
MAILS_AT_ONCE = 20
ROUND_LIMIT_S = 20.0
"""A slow mail server keeps the other chores waiting no longer than this, and one mail."""
AWAY_PAUSE = timedelta(minutes=1)

_queries = load_queries("onlooker.console.alerts")


def do_silence_alerts(now: datetime | None = None) -> int:
    """How many mails were sent. What is noticed is committed before a mail goes: a crash repeats it, never loses it."""
    if not is_mail_on():
        return 0
    moment = now or timezone.now()
    notice_silences(moment)
    return tell_owners(moment)


def notice_silences(now: datetime) -> None:
    """Only the database is changed here."""
    values = {"now": now, "pair_s": PAIR_EVERY.total_seconds()}
    with transaction.atomic():
        _execute("look_up_only", {})
        for query in ("end_silences", "forget_silences", "begin_silences"):
            _execute(query, values)


def tell_owners(now: datetime) -> int:
    sent = 0
    give_up_at = time.monotonic() + ROUND_LIMIT_S
    while sent < MAILS_AT_ONCE and time.monotonic() < give_up_at:
        taken = _execute("take_mails", {"now": now, "limit": 1})
        if not taken:
            break
        stream_id, email = taken[0]
        silence = Silence.objects.select_related("stream").get(pk=stream_id)
        try:
            _tell(silence, email, now=now)
        except OF_ONE_MAIL as error:
            log.warning("a mail was refused", extra=fields(stream=stream_id, error=type(error).__name__))
        except OSError:  # the mail server is away: no other mail is tried in this round, and none waits longer for it
            Silence.objects.filter(pk=stream_id).update(tries=0, try_at=now + AWAY_PAUSE)
            raise
        else:
            sent += 1
    return sent


def _tell(silence: Silence, email: str, *, now: datetime) -> None:
    kind = "back" if silence.back_at else silence.reason
    send_alert(kind, silence, to=email)
    told: dict[str, Any] = {"back_told_at": now} if silence.back_at else {"told_at": now}
    Silence.objects.filter(pk=silence.pk).update(**told, tries=0)


def _execute(query: str, values: dict[str, Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(_queries[query], values)
        return cursor.fetchall() if cursor.description else []
