"""A chore: compares each hour's people with what is usual for it, and mails owners about days that leave that range."""

import logging
import math
import time
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock_time
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from onlooker.console.alerts.models import UnusualDay
from onlooker.console.alerts.owner_mails import (
    DIGEST_WAIT,
    ROUND_LIMIT_S,
    AlertKind,
    are_alerts_on,
    digest_context,
    execute,
    mail_owners,
    tell_webhooks,
)
from onlooker.console.languages.locale_text import write_date
from onlooker.console.web.mail import is_mail_on, send_mail
from onlooker.logs import fields
from onlooker.metrics.usual_range import METRICS, WEEKS, Counts, UnusualCount, find_unusual
from onlooker.streams.business_hours import open_minutes, parse_hours, zone_of
from onlooker.streams.models import Stream
from onlooker.streams.notes import notes_of_stream, within

log = logging.getLogger(__name__)

SETTLED_AFTER = timedelta(minutes=15)
"""How long after an hour it is judged: its last visitors have left, and their visits are written and added up."""
STREAMS_AT_ONCE = 50
LEAST_WATCHED = 0.9
"""Of an hour's opening time, in video."""
FEWEST_OF_A_FAULT = 3
"""So many streams in which nobody at all was counted in an hour: the fault may be ours, and nobody is told."""
TOLD_AGAIN_AFTER_DAYS = 7
"""A change that lasts is told of once, and again after so many days."""
KEPT = timedelta(days=400)
EVENT = "numbers.unusual"

JudgedStream = tuple[int, datetime, dict[date, dict[int, Counts]], ZoneInfo]
"""Its number, the end of its newest hour, its watched hours, its clock."""


def send_unusual_alerts(now: datetime | None = None) -> int:
    """Returns how many mails were sent."""
    if not are_alerts_on():
        return 0
    moment = now or timezone.now()
    judge_streams(moment)
    return mail_owners(UNUSUAL_DAYS, moment) if is_mail_on() else 0


def judge_streams(now: datetime) -> int:
    """Those whose hour is over; returns how many. What a crash interrupts is judged again."""
    judged = 0
    give_up_at = time.monotonic() + ROUND_LIMIT_S
    while time.monotonic() < give_up_at:
        with transaction.atomic():
            streams = _take_streams(now)
            if not _is_fault(streams):
                tell_webhooks(UNUSUAL_DAYS, EVENT, [pk for one in streams for pk in _judge(one, now)])
        judged += len(streams)
        if len(streams) < STREAMS_AT_ONCE:
            break
    if judged:
        execute("forget_unusual_days", {"day": (now - KEPT).date()})
    return judged


def _take_streams(now: datetime) -> list[JudgedStream]:
    execute("look_up_only", {})
    values = {"now": now, "settle_s": SETTLED_AFTER.total_seconds(), "limit": STREAMS_AT_ONCE, "weeks": WEEKS}
    taken = []
    for stream_id, judged_until, zone_name, hours_text, *columns in execute("read_hours_to_judge", values):
        hours = parse_hours(hours_text)
        days: dict[date, dict[int, Counts]] = {}
        for day, hour, watched_s, *counts in zip(*columns, strict=True):
            open_s = 60 * open_minutes(hours, day.weekday(), hour)
            if open_s and watched_s >= LEAST_WATCHED * open_s:
                days.setdefault(day, {})[hour] = (counts[0], counts[1])
        taken.append((stream_id, judged_until, days, zone_of(zone_name)))
    return taken


def _is_fault(streams: list[JudgedStream]) -> bool:
    """Whether all that were watched, several of them, counted nobody: visits may be waiting to be written."""
    newest = []
    for _, judged_until, days, zone in streams:
        begun = _local_hour(judged_until, zone)
        counts = days.get(begun.date(), {}).get(begun.hour)
        if counts:
            newest.append(counts[0])
    if len(newest) < FEWEST_OF_A_FAULT or any(newest):
        return False
    log.info("no stream counted anybody: unusual numbers not judged", extra=fields(count=len(newest)))
    return True


def _judge(judged: JudgedStream, now: datetime) -> list[int]:
    """The row of its day, if that is to be told."""
    stream_id, judged_until, days, zone = judged
    begun = _local_hour(judged_until, zone)
    found = find_unusual(days, begun.date(), begun.hour)
    if found is None or UnusualDay.objects.filter(stream=stream_id, day=begun.date()).exists():
        return []
    row = _describe_row(found, begun.date(), zone)
    before = UnusualDay.objects.filter(stream=stream_id, day=row.day - timedelta(days=1), is_more=row.is_more).first()
    row.first_day = before.first_day if before else row.day
    row.stream = Stream.objects.get(pk=stream_id)
    row.begun_at = now
    is_told = (row.day - row.first_day).days % TOLD_AGAIN_AFTER_DAYS == 0
    if is_told:
        row.try_at = now + DIGEST_WAIT if row.stream.site_id else now
    row.save()
    return [row.pk] if is_told else []


def _describe_row(found: UnusualCount, day: date, zone: ZoneInfo) -> UnusualDay:
    midnight = datetime.combine(day, clock_time(), zone)
    first, last = (midnight.replace(hour=hour) for hour in (found.hours[0], found.hours[-1]))
    return UnusualDay(
        day=day,
        metric=found.metric,
        is_more=found.is_more,
        from_at=first.astimezone(UTC),
        to_at=last.astimezone(UTC) + timedelta(hours=1),
        hours=len(found.hours),
        counted=found.counted,
        usual_low=math.ceil(found.usual.low),
        usual=round(found.usual.usual),
        usual_high=math.floor(found.usual.high),
    )


def _local_hour(ended_at: datetime, zone: ZoneInfo) -> datetime:
    """When the hour began that ended then."""
    return (ended_at - timedelta(hours=1)).astimezone(zone)


def send_unusual_alert(unusual: UnusualDay, to: str) -> None:
    send_mail("alerts/mails/unusual", to=to, context=_line(unusual))


def send_site_alert(unusual: list[UnusualDay], to: str) -> None:
    send_mail("alerts/mails/site_unusual", to=to, context=digest_context(unusual, _line))


def _line(unusual: UnusualDay) -> dict[str, Any]:
    """What a mail says of a day, on the stream's clock."""
    stream = unusual.stream
    zone = zone_of(stream.time_zone)
    begins, last = unusual.from_at.astimezone(zone), (unusual.to_at - timedelta(hours=1)).astimezone(zone)
    whole = (unusual.to_at - unusual.from_at) / timedelta(hours=1)
    return {
        "stream": stream,
        "unusual": unusual,
        "is_interested": unusual.metric == METRICS[1],
        "weekday": date_format(unusual.day, "l"),
        "day": write_date(unusual.day),
        "first_weekday": date_format(unusual.first_day, "l"),
        "first_day": date_format(unusual.first_day, "MONTH_DAY_FORMAT"),
        "is_lasting": unusual.first_day < unusual.day,
        "from": f"{begins:%H}:00",
        "to": f"{last.hour + 1:02}:00",
        "is_partly_watched": unusual.hours < whole,
        "zone": zone.key,
        "notes": [note.text for note in within(notes_of_stream(stream), unusual.day, unusual.day)],
        "dashboard_url": dashboard_url(unusual),
    }


def dashboard_url(unusual: UnusualDay) -> str:
    """Of that day, by the hour."""
    path = reverse("dashboard", args=[unusual.stream.client_id])
    return f"{settings.ONLOOKER.console_url}{path}?from={unusual.day}&to={unusual.day}&by=hour"


def describe_unusual_day(unusual: UnusualDay) -> dict[str, Any]:
    """For webhooks."""
    zone = zone_of(unusual.stream.time_zone)
    return {
        "metric": unusual.metric,
        "direction": "more" if unusual.is_more else "fewer",
        "from": unusual.from_at.astimezone(zone).isoformat(),
        "to": unusual.to_at.astimezone(zone).isoformat(),
        "hours": unusual.hours,
        "counted": unusual.counted,
        "usual_low": unusual.usual_low,
        "usual": unusual.usual,
        "usual_high": unusual.usual_high,
        "since_day": unusual.first_day.isoformat(),
        "dashboard": dashboard_url(unusual),
    }


UNUSUAL_DAYS = AlertKind(
    table=UnusualDay,
    changes=(),
    take_mails="take_unusual_mails",
    take_site="take_unusual_days_of_site",
    send=send_unusual_alert,
    send_site=send_site_alert,
    events={},
    describe=describe_unusual_day,
)
