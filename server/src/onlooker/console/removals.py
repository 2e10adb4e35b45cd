"""Finishing the removal of streams: what belongs to one goes piece by piece, then the stream itself. A chore."""

import logging
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import IntegrityError, connection, models, transaction
from django.utils import timezone

from onlooker.database import load_queries
from onlooker.gateway.models import Blob, Job
from onlooker.logs import fields
from onlooker.streams.models import Stream
from onlooker.visits.models import Visit

log = logging.getLogger(__name__)

AT_ONCE = 5000
"""Rows a transaction."""
STREAMS_AT_ONCE = 100
ROUND_LIMIT_S = 20.0
KNOWN_FOR = timedelta(minutes=3)
"""A gateway may still know a removed stream's credentials for a minute, and read for another what is sent with them."""
BYTES_ARRIVE_WITHIN = timedelta(minutes=1)
"""A blob's row comes first, its bytes after: a row that goes before its bytes came would leave them for ever."""

Rows = models.QuerySet[models.Model]

_visits = load_queries("onlooker.visits")


def finish_removals(now: datetime | None = None) -> int:
    """How many streams are gone now. Each step can be cut off and is taken up again in the next round."""
    moment = now or timezone.now()
    give_up_at = time.monotonic() + ROUND_LIMIT_S
    finished = 0
    # In any order, so that those which wait for something do not keep the others waiting.
    for stream in Stream.objects.filter(removed_at__isnull=False).order_by("?")[:STREAMS_AT_ONCE]:
        if time.monotonic() > give_up_at:
            break
        _expire_bytes(stream, moment)
        if _delete_rows(stream, give_up_at) and _is_unknown(stream, moment):
            finished += _delete_stream(stream)
    return finished


def _is_unknown(stream: Stream, now: datetime) -> bool:
    return stream.removed_at is not None and stream.removed_at < now - KNOWN_FOR


def _expire_bytes(stream: Stream, now: datetime) -> None:
    """The dispatcher ends overdue jobs, and removes their attachments and expired blobs; it alone deletes bytes."""
    waiting = Job.objects.filter(stream=stream, finished_at=None)
    waiting.filter(deadline_at__gt=now).update(deadline_at=now)
    stored = Blob.objects.filter(stream=stream, created_at__lt=now - BYTES_ARRIVE_WITHIN, expires_at__gt=now)
    some = stored.values("pk")[:AT_ONCE]
    while Blob.objects.filter(pk__in=some).update(expires_at=now) == AT_ONCE:
        pass


def _delete_rows(stream: Stream, give_up_at: float) -> bool:
    """Everything but bytes' rows and what protects the stream; False where some is left for the next round."""
    while deleted := _delete_visits(stream):
        if deleted == AT_ONCE and time.monotonic() > give_up_at:
            return False
    for one in _references():
        if one.on_delete is models.SET_NULL:
            _rows(one, stream).update(**{one.field.name: None})
    finished = Job.objects.filter(stream=stream, finished_at__isnull=False)
    return all(_delete_all(rows, give_up_at) for rows in [finished, *_dependents(stream)])


def _delete_visits(stream: Stream) -> int:
    """A recorder does it too, but only once an hour."""
    values: dict[str, Any] = {"stream_id": stream.pk, "limit_at": datetime.max.replace(tzinfo=UTC), "limit": AT_ONCE}
    with connection.cursor() as cursor:
        cursor.execute(_visits["delete_expired"], values)
        return int(cursor.rowcount)


def _dependents(stream: Stream) -> list[Rows]:
    """Rows of every table that goes with a stream; also of those that are added later."""
    related = [one for one in _references() if one.on_delete is models.CASCADE]
    return [_rows(one, stream) for one in related if one.related_model not in (Job, Blob, Visit)]


def _delete_all(rows: Rows, give_up_at: float) -> bool:
    while True:
        some = list(rows.values_list("pk", flat=True)[:AT_ONCE])
        if not some:
            return True
        if time.monotonic() > give_up_at:
            return False
        rows.filter(pk__in=some).delete()


def _delete_stream(stream: Stream) -> bool:
    """Straight from its table: whatever still points to it (a blob, a running job, a subscription) keeps it."""
    if any(_rows(one, stream).exists() for one in _references()):
        return False
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("DELETE FROM streams_stream WHERE id = %s AND removed_at IS NOT NULL", [stream.pk])
    except IntegrityError:  # something came at the last moment
        return False
    log.info("stream removed", extra=fields(stream=stream.pk))
    return True


def _references() -> list[models.ManyToOneRel]:
    """Every foreign key to a stream, of whatever app."""
    found = Stream._meta.get_fields(include_hidden=True)
    return [one for one in found if isinstance(one, models.ManyToOneRel)]


def _rows(reference: models.ManyToOneRel, stream: Stream) -> Rows:
    table: Any = reference.related_model
    rows: Rows = table._base_manager.filter(**{reference.field.name: stream})
    return rows
