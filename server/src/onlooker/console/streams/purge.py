"""A chore: deletes the data of removed streams piece by piece, then the streams themselves."""

import logging
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import IntegrityError, connection, models, transaction
from django.utils import timezone

from onlooker.audit.entries import end_entries
from onlooker.database import load_queries
from onlooker.gateway.models import Blob, Job
from onlooker.logs import fields
from onlooker.streams.models import Stream
from onlooker.visits.models import VisitRow

log = logging.getLogger(__name__)

AT_ONCE = 5000
"""Rows per transaction."""
STREAMS_AT_ONCE = 100
ROUND_LIMIT_S = 20.0
KNOWN_FOR = timedelta(minutes=3)
"""A gateway may cache a removed stream's credentials for a minute, and then read a request for another."""
BYTES_ARRIVE_WITHIN = timedelta(minutes=1)
"""A blob's row is written before its bytes: deleting the row in between would leave the bytes permanently."""

Rows = models.QuerySet[models.Model]

_visits = load_queries("onlooker.visits")


def purge_removed_streams(now: datetime | None = None) -> int:
    """Returns how many streams were deleted. Each step can be interrupted, and continues in the next round."""
    moment = now or timezone.now()
    give_up_at = time.monotonic() + ROUND_LIMIT_S
    finished = 0
    # In random order, so that streams that have to wait do not hold up the others.
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
    """The dispatcher ends overdue jobs and deletes their attachments and expired blobs; nothing else deletes bytes."""
    waiting = Job.objects.filter(stream=stream, finished_at=None)
    waiting.filter(deadline_at__gt=now).update(deadline_at=now)
    stored = Blob.objects.filter(stream=stream, created_at__lt=now - BYTES_ARRIVE_WITHIN, expires_at__gt=now)
    some = stored.values("pk")[:AT_ONCE]
    while Blob.objects.filter(pk__in=some).update(expires_at=now) == AT_ONCE:
        pass


def _delete_rows(stream: Stream, give_up_at: float) -> bool:
    """All rows except those of blobs and those that protect the stream; False if some are left for the next round."""
    while deleted := _delete_visits(stream):
        if deleted == AT_ONCE and time.monotonic() > give_up_at:
            return False
    for one in _references():
        if one.on_delete is models.SET_NULL:
            _rows(one, stream).update(**{one.field.name: None})
    end_entries(stream.pk)
    finished = Job.objects.filter(stream=stream, finished_at__isnull=False)
    return all(_delete_all(rows, give_up_at) for rows in [finished, *_dependents(stream)])


def _delete_visits(stream: Stream) -> int:
    """The recorder does this too, but only once an hour."""
    values: dict[str, Any] = {"stream_id": stream.pk, "limit_at": datetime.max.replace(tzinfo=UTC), "limit": AT_ONCE}
    with connection.cursor() as cursor:
        cursor.execute(_visits["delete_expired"], values)
        return int(cursor.rowcount)


def _dependents(stream: Stream) -> list[Rows]:
    """The rows of every table that cascades from a stream, including tables added later."""
    related = [one for one in _references() if one.on_delete is models.CASCADE]
    return [_rows(one, stream) for one in related if one.related_model not in (Job, Blob, VisitRow)]


def _delete_all(rows: Rows, give_up_at: float) -> bool:
    while True:
        some = list(rows.values_list("pk", flat=True)[:AT_ONCE])
        if not some:
            return True
        if time.monotonic() > give_up_at:
            return False
        rows.filter(pk__in=some).delete()


def _delete_stream(stream: Stream) -> bool:
    """Directly from its table: anything that still references it (a blob, a job, a subscription) keeps it."""
    if any(_rows(one, stream).exists() for one in _references()):
        return False
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("DELETE FROM streams_stream WHERE id = %s AND removed_at IS NOT NULL", [stream.pk])
    except IntegrityError:  # a new row references it
        return False
    log.info("stream removed", extra=fields(stream=stream.pk))
    return True


def _references() -> list[models.ManyToOneRel]:
    """Every foreign key to a stream, in any app."""
    found = Stream._meta.get_fields(include_hidden=True)
    return [one for one in found if isinstance(one, models.ManyToOneRel)]


def _rows(reference: models.ManyToOneRel, stream: Stream) -> Rows:
    table: Any = reference.related_model
    rows: Rows = table._base_manager.filter(**{reference.field.name: stream})
    return rows
