"""Mails of alerts to owners and managers: one that something is wrong, one that it is over, each until it is sent."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.db import connection, transaction

from onlooker.console.alerts.models import OwnerAlert
from onlooker.console.web.mail import SINGLE_MAIL_ERRORS
from onlooker.database import load_queries
from onlooker.logs import fields
from onlooker.streams.business_hours import open_since, parse_hours, zone_of
from onlooker.streams.coverage import columns_by_name

log = logging.getLogger(__name__)

PAIR_EVERY = timedelta(hours=1)
"""A flapping stream causes one pair of mails in this time: that something is wrong, and that it is over."""
MAILS_AT_ONCE = 20
ROUND_LIMIT_S = 20.0
"""A slow mail server delays the other chores by this time and one mail at most."""
PEOPLE_AT_MOST = 20
"""Owners and managers who get the same mail."""
SERVER_DOWN_PAUSE = timedelta(minutes=1)

_queries = load_queries("onlooker.console.alerts")
_HOURS_COLUMNS = ("open_hours", "open_zones", "open_since")


@dataclass(frozen=True)
class AlertKind:
    """What owners are told of."""

    table: type[OwnerAlert]
    changes: tuple[str, ...]
    """Queries that record what began, is over or needs no more mail."""
    take_mails: str
    """The query that reserves mails that are due."""
    send: Callable[[Any, str], None]
    """Mail an alert to an address; raises OSError if the mail server refuses it."""


def record_changes(kind: AlertKind, now: datetime, **values: float) -> None:
    """In the database only; mails are sent afterwards."""
    given = {"now": now, "pair_s": PAIR_EVERY.total_seconds(), **_find_open_hours(now), **values}
    with transaction.atomic():
        _execute("look_up_only", {})
        for query in kind.changes:
            _execute(query, given)


def _find_open_hours(now: datetime) -> dict[str, list[Any]]:
    """Which opening hours are open now, and since when: most streams share a few. Closed streams are not missed."""
    opened = []
    for text, zone_name in _execute("list_opening_hours", {}):
        hours = parse_hours(text)
        since = open_since(hours, zone_of(zone_name), now) if hours else None
        if since:
            opened.append((text, zone_name, since))
    return columns_by_name(opened, *_HOURS_COLUMNS) if opened else {name: [] for name in _HOURS_COLUMNS}


def mail_owners(kind: AlertKind, now: datetime) -> int:
    """Returns how many alerts were mailed. They were committed before: a crash may repeat one, never lose one."""
    sent = 0
    give_up_at = time.monotonic() + ROUND_LIMIT_S
    while sent < MAILS_AT_ONCE and time.monotonic() < give_up_at:
        taken = _execute(kind.take_mails, {"now": now, "limit": 1, "people": PEOPLE_AT_MOST})
        if not taken:
            break
        stream_id, emails = taken[0]
        alerts: Any = kind.table._default_manager
        try:
            sent += _send_due_mails(kind, alerts.select_related("stream").get(pk=stream_id), emails, now=now)
        except OSError:  # the mail server is down: try no other mail in this round, and count no failed try
            alerts.filter(pk=stream_id).update(tries=0, try_at=now + SERVER_DOWN_PAUSE)
            raise
    return sent


def _send_due_mails(kind: AlertKind, alert: OwnerAlert, emails: list[str], *, now: datetime) -> bool:
    """To each person; an alert that nobody could be told of is tried again later."""
    is_told = False
    for email in emails:
        try:
            kind.send(alert, email)
        except SINGLE_MAIL_ERRORS as error:
            log.warning("a mail was refused", extra=fields(stream=alert.pk, error=type(error).__name__))
        else:
            is_told = True
    if is_told:
        told: dict[str, Any] = {"back_told_at": now} if alert.back_at else {"told_at": now}
        kind.table._default_manager.filter(pk=alert.pk).update(**told, tries=0)
    return is_told


def _execute(query: str, values: dict[str, Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(_queries[query], values)
        return cursor.fetchall() if cursor.description else []


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
