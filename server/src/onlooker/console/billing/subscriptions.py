"""What the state of a subscription at Stripe means for its stream."""

import logging
from datetime import datetime

from django.conf import settings

from onlooker.console.billing import till
from onlooker.console.billing.grace import grace_at
from onlooker.console.billing.line import TillError
from onlooker.console.billing.look import Look
from onlooker.console.billing.models import Notice, Subscription
from onlooker.console.billing.records import ENDED, LATE, PAID, UNFINISHED, Billed
from onlooker.logs import fields
from onlooker.streams.administration import set_stream
from onlooker.streams.models import Stream

log = logging.getLogger(__name__)


def settle_subscription(row: Subscription, look: Look, *, now: datetime) -> None:
    """Begin, follow or end one; the row goes with what it stands for."""
    billed = look.find(stripe_id=row.stripe_id, key=str(row.key)) or _find_unlisted(row)
    if not row.wanted or row.stream.removed_at is not None:
        if billed:
            look.cancel(billed)
        row.delete()
        return
    if billed is None and not row.stripe_id:
        if not look.has_card:
            row.delete()
            return
        billed = _begin(row)
        look.billed.append(billed)
    if billed is None or billed.status in ENDED:
        _end(row, look, now=now)
        return
    _follow(row, billed, look, now=now)


def set_kind(stream: Stream, kind: Stream.Kind) -> None:
    """With the log of its states; nothing for one that is being removed."""
    if not Stream.objects.filter(pk=stream.pk, removed_at=None).exclude(kind=kind).exists():
        return
    try:
        set_stream(str(stream.client_id), {"kind": kind}, quota_s=settings.ONLOOKER.developer_quota_s)
    except Stream.DoesNotExist:  # removed just now
        return
    stream.kind = kind
    log.info("kind set by billing", extra=fields(stream=stream.pk, kind=str(kind)))


def _begin(row: Subscription) -> Billed:
    customer = row.customer
    return till.create_subscription(
        customer.stripe_id, key=row.key, client_id=row.stream.client_id, attempt=customer.key_round
    )


def _find_unlisted(row: Subscription) -> Billed | None:
    """The list holds what has not ended; whether it really has is asked once more before a stream loses its kind."""
    if not row.stripe_id:
        return None
    try:
        billed = till.read_subscription(row.stripe_id)
    except TillError as error:
        if error.is_missing:
            return None
        raise
    return None if billed.status in ENDED else billed


def _follow(row: Subscription, billed: Billed, look: Look, *, now: datetime) -> None:
    row.stripe_id, row.status, row.invoice_url = billed.stripe_id, billed.status, billed.invoice_url
    if billed.status in PAID:
        look.kinds.append((row.stream, Stream.Kind.ENTERPRISE))
        if row.past_due_since:
            _write_notice(row, Notice.Kind.PAID, now=now)
        row.past_due_since, row.told = None, 0
    elif billed.status in LATE:
        row.past_due_since = row.past_due_since or now
        grace = grace_at(now, since=row.past_due_since)
        if grace.is_over:
            look.cancel(billed)
            _end(row, look, now=now)
            return
        if grace.mails_due > row.told:
            kind = Notice.Kind.PAYMENT_FAILED if grace.mails_due == 1 else Notice.Kind.PAYMENT_REMINDER
            _write_notice(row, kind, now=now, ends_at=grace.ends_at)
            row.told = grace.mails_due
    elif billed.status not in UNFINISHED:
        log.warning("unknown status of a subscription", extra=fields(status=billed.status))
    row.save()


def _end(row: Subscription, look: Look, *, now: datetime) -> None:
    look.kinds.append((row.stream, Stream.Kind.DEVELOPER))
    _write_notice(row, Notice.Kind.ENDED, now=now)
    row.delete()


def _write_notice(row: Subscription, kind: Notice.Kind, *, now: datetime, ends_at: datetime | None = None) -> None:
    stream = row.stream
    if stream.owner_id is not None:
        Notice.objects.create(
            account_id=stream.owner_id,
            kind=kind,
            client_id=stream.client_id,
            stream_name=stream.name,
            ends_at=ends_at,
            created_at=now,
            try_at=now,
        )
