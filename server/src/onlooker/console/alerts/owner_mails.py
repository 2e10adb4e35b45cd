"""Mails of alerts to owners and managers: one that something is wrong, one that it is over, each until it is sent.

What happens to several streams at one site within minutes is one mail.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.db import connection, transaction
from django.utils.translation import ngettext

from onlooker.console.alerts.models import OwnerAlert, UnusualDay
from onlooker.console.languages.choice import write_to
from onlooker.console.languages.locale_text import write_datetime
from onlooker.console.web.mail import SINGLE_MAIL_ERRORS, is_mail_on
from onlooker.database import load_queries
from onlooker.logs import fields
from onlooker.streams.business_hours import open_since, parse_hours, zone_of
from onlooker.streams.coverage import columns_by_name
from onlooker.webhooks.events import about, emit_many
from onlooker.webhooks.models import Endpoint

log = logging.getLogger(__name__)

PAIR_EVERY = timedelta(hours=1)
"""A flapping stream causes one pair of mails in this time: that something is wrong, and that it is over."""
MAILS_AT_ONCE = 20
ROUND_LIMIT_S = 20.0
"""A slow mail server delays the other chores by this time and one mail at most."""
DIGEST_WAIT = timedelta(minutes=3)
"""How long a mail waits for what happens to other streams at the same site."""
DIGEST_STREAMS = 1000
"""Of a site, in one mail; further ones get another."""
DIGEST_LISTED = 100
"""By name; the others are counted."""
PEOPLE_AT_MOST = 20
"""Owners and managers who get the same mail."""
SERVER_DOWN_PAUSE = timedelta(minutes=1)

_queries = load_queries("onlooker.console.alerts")
_HOURS_COLUMNS = ("open_hours", "open_zones", "open_since")


@dataclass(frozen=True)
class AlertKind:
    """What owners are told of."""

    table: type[OwnerAlert | UnusualDay]
    changes: tuple[str, ...]
    """Queries that record what began, is over or needs no more mail."""
    take_mails: str
    """The query that reserves mails that are due."""
    take_site: str
    """The query that reserves what else is to be told of a site."""
    send: Callable[[Any, str], None]
    """Mail an alert to an address; raises OSError if the mail server refuses it."""
    send_site: Callable[[list[Any], str], None]
    """The same with several alerts of one site."""
    events: dict[str, str]
    """What webhooks are told, by the query that found it."""
    describe: Callable[[Any], dict[str, Any]]
    """The data of such an event."""


def record_changes(kind: AlertKind, now: datetime, **values: float) -> None:
    """In the database only; mails are sent afterwards."""
    times = {"now": now, "pair_s": PAIR_EVERY.total_seconds(), "digest_s": DIGEST_WAIT.total_seconds()}
    given = {**times, **_find_open_hours(now), **values}
    with transaction.atomic():
        execute("look_up_only", {})
        for query in kind.changes:
            found = [row[0] for row in execute(query, given)]
            if found and query in kind.events:
                tell_webhooks(kind, kind.events[query], found)


def are_alerts_on() -> bool:
    """Whether there is anybody to tell."""
    return is_mail_on() or Endpoint.objects.filter(disabled_at=None).exists()


def tell_webhooks(kind: AlertKind, event: str, found: list[int]) -> None:
    """In the transaction in which these rows were found."""
    rows: Any = kind.table._default_manager
    listening = Endpoint.objects.filter(disabled_at=None).values("organisation")
    rows = rows.filter(pk__in=found, stream__organisation__in=listening).select_related("stream__site")
    by_organisation: dict[int, list[dict[str, Any]]] = {}
    for alert in rows.order_by("pk"):
        said = about(alert.stream) | kind.describe(alert)
        by_organisation.setdefault(alert.stream.organisation_id, []).append(said)
    for organisation, happened in by_organisation.items():
        emit_many(organisation, event, happened)


def _find_open_hours(now: datetime) -> dict[str, list[Any]]:
    """Which opening hours are open now, and since when: most streams share a few. Closed streams are not missed."""
    opened = []
    for text, zone_name in execute("list_opening_hours", {}):
        hours = parse_hours(text)
        since = open_since(hours, zone_of(zone_name), now) if hours else None
        if since:
            opened.append((text, zone_name, since))
    return columns_by_name(opened, *_HOURS_COLUMNS) if opened else {name: [] for name in _HOURS_COLUMNS}


def mail_owners(kind: AlertKind, now: datetime) -> int:
    """Returns how many mails were sent. Alerts were committed before: a crash may repeat one, never lose one."""
    sent = 0
    give_up_at = time.monotonic() + ROUND_LIMIT_S
    while sent < MAILS_AT_ONCE and time.monotonic() < give_up_at:
        taken = execute(kind.take_mails, {"now": now, "limit": 1, "people": PEOPLE_AT_MOST})
        if not taken:
            break
        stream_id, emails, site_id = taken[0]
        numbers = [stream_id, *_take_site(kind, stream_id, site_id, now)]
        rows: Any = kind.table._default_manager
        alerts = list(rows.filter(pk__in=numbers).select_related("stream__site").order_by("stream__name", "pk"))
        try:
            sent += _send_due_mails(kind, alerts, emails, now=now)
        except OSError:  # the mail server is down: try no other mail in this round, and count no failed try
            rows.filter(pk__in=numbers).update(tries=0, try_at=now + SERVER_DOWN_PAUSE)
            raise
    return sent


def _take_site(kind: AlertKind, stream_id: int, site_id: int | None, now: datetime) -> list[int]:
    if site_id is None:
        return []
    values = {"now": now, "site": site_id, "stream": stream_id, "limit": DIGEST_STREAMS}
    return [row[0] for row in execute(kind.take_site, values)]


def _send_due_mails(kind: AlertKind, alerts: list[Any], emails: list[str], *, now: datetime) -> bool:
    """To each person in their language; alerts that nobody could be told of are tried again later."""
    is_told = False
    for email in emails:
        try:
            with write_to(email):
                if len(alerts) == 1:
                    kind.send(alerts[0], email)
                else:
                    kind.send_site(alerts, email)
        except SINGLE_MAIL_ERRORS as error:
            log.warning("a mail was refused", extra=fields(stream=alerts[0].pk, error=type(error).__name__))
        else:
            is_told = True
    if is_told:
        for is_over, column in ((False, "told_at"), (True, "back_told_at")):
            told = [alert.pk for alert in alerts if (alert.back_at is not None) == is_over]
            if told:
                kind.table._default_manager.filter(pk__in=told).update(**{column: now}, tries=0)
    return is_told


def digest_context(alerts: list[Any], line: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """What a mail about a site says: what began, and what is over."""
    begun = [alert for alert in alerts if alert.back_at is None]
    over = [alert for alert in alerts if alert.back_at is not None]
    return {
        "site": alerts[0].stream.site,
        "begun": [line(alert) for alert in begun[:DIGEST_LISTED]],
        "begun_count": len(begun),
        "begun_more": max(len(begun) - DIGEST_LISTED, 0),
        "over": [line(alert) for alert in over[:DIGEST_LISTED]],
        "over_count": len(over),
        "over_more": max(len(over) - DIGEST_LISTED, 0),
    }


def execute(query: str, values: dict[str, Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(_queries[query], values)
        return cursor.fetchall() if cursor.description else []


def local_time(moment: datetime, time_zone: str) -> str:
    """Such as `15 November 2026, 09:30 (Europe/Berlin)`."""
    try:
        zone, name = ZoneInfo(time_zone), time_zone
    except (ZoneInfoNotFoundError, ValueError):  # unknown on this machine; a mail must not fail for that
        zone, name = ZoneInfo("UTC"), "UTC"
    return f"{write_datetime(moment.astimezone(zone))} ({name})"


def format_duration(time: timedelta) -> str:
    """In whole minutes, as the two largest units: `2 days 3 hours`."""
    minutes = max(1, round(time.total_seconds() / 60))
    days, hours = divmod(minutes // 60, 24)
    minutes %= 60
    parts = [
        (days, ngettext("{count} day", "{count} days", days)),
        (hours, ngettext("{count} hour", "{count} hours", hours)),
        (minutes, ngettext("{count} minute", "{count} minutes", minutes)),
    ]
    words = [said.format(count=count) for count, said in parts if count]
    return " ".join(words[:2])
