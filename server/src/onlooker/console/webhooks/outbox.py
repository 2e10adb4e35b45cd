"""The outbox of webhooks in the database: what is due is taken, and what became of it is written down.

An endpoint is reserved for a while, never for good: what a deliverer that died had taken is taken again.
"""

import random
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography.fernet import InvalidToken
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from onlooker.console.web.secret_key import unseal
from onlooker.webhooks import counters
from onlooker.webhooks.models import WAITING, Delivery, Endpoint
from onlooker.webhooks.pinned_post import PostFailed, Trouble

RESERVED = timedelta(minutes=2)
"""Longer than a round of an endpoint takes."""
BATCH = 20
"""Deliveries of an endpoint in a round; one while it fails."""
RETRY_AFTER_S = (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 73_500)
"""Before each further try; three days in all."""
TRIES = len(RETRY_AFTER_S) + 1
JITTER = 0.1
FAILING_AT_MOST = timedelta(days=3)
FIRST_REST_S, LONGEST_REST_S = 5.0, 300.0
"""An endpoint that fails is left alone for this long, doubled with each failure."""
KEPT = timedelta(days=14)
EXPIRED_AT_ONCE = 5000


@dataclass(frozen=True)
class Letter:
    """A delivery, ready to be signed and sent."""

    delivery: int
    message_id: str
    body: bytes


@dataclass(frozen=True)
class Round:
    """What one endpoint is sent now."""

    endpoint: int
    organisation: int
    url: str
    secrets: tuple[str, ...]
    letters: tuple[Letter, ...]


@transaction.atomic
def take_rounds(now: datetime, limit: int, *, without: Collection[int] = ()) -> list[Round]:
    """Reserve endpoints with something due, the longest waiting first; none of organisations that have enough."""
    due = Delivery.objects.filter(WAITING, endpoint=OuterRef("pk"), next_try_at__lte=now)
    free = Endpoint.objects.filter(Exists(due), disabled_at=None, rest_until__lte=now)
    rows = free.exclude(organisation__in=without).select_for_update(no_key=True, skip_locked=True, of=("self",))
    taken = list(rows.order_by("rest_until", "id")[:limit])
    Endpoint.objects.filter(pk__in=[one.pk for one in taken]).update(rest_until=now + RESERVED)
    return [_read_round(one, now) for one in taken]


def _read_round(endpoint: Endpoint, now: datetime) -> Round:
    rows = endpoint.waiting().filter(next_try_at__lte=now).order_by("next_try_at", "id")
    letters = [Letter(row.pk, row.message_id, row.body.encode()) for row in rows[: 1 if endpoint.failures else BATCH]]
    live = endpoint.secrets.filter(Q(expires_at=None) | Q(expires_at__gt=now)).order_by("-id")
    opened = []
    for secret in live:
        try:
            opened.append(unseal(secret.sealed_secret))
        except InvalidToken:  # sealed with a key that is gone; the round fails with that reason
            continue
    return Round(endpoint.pk, endpoint.organisation_id, endpoint.url, tuple(opened), tuple(letters))


@transaction.atomic
def note_delivered(endpoint: int, delivery: int, status: int, now: datetime) -> None:
    counters.tries("delivered").inc()
    row = Delivery.objects.select_for_update(no_key=True).filter(pk=delivery).first()
    if row is None:  # removed meanwhile
        return
    row.tries, row.last_try_at, row.delivered_at = row.tries + 1, now, now
    row.last_status, row.last_reason = status, ""
    row.save(update_fields=["tries", "last_try_at", "delivered_at", "last_status", "last_reason"])
    Endpoint.objects.filter(pk=endpoint, failures__gt=0).update(failures=0, failing_since=None)


@transaction.atomic
def note_failed(endpoint: int, delivery: int, failure: PostFailed, now: datetime) -> str:
    """When it is tried again, or that it is given up. Returns why the endpoint was disabled, or nothing."""
    counters.tries(failure.trouble).inc()
    place = Endpoint.objects.select_for_update(no_key=True).filter(pk=endpoint).first()
    row = Delivery.objects.select_for_update(no_key=True).filter(pk=delivery).first()
    if place is None or row is None:  # removed meanwhile
        return ""
    row.tries, row.last_try_at = row.tries + 1, now
    row.last_status, row.last_reason = failure.status, failure.trouble
    if failure.trouble == Trouble.GONE or row.tries >= TRIES:
        row.failed_at = now
    else:
        row.next_try_at = now + timedelta(seconds=max(_retry_after(row.tries), failure.pause_s))
    row.save()
    place.failures += 1
    place.failing_since = place.failing_since or now
    why = _why_disabled(place, failure, now)
    if why and not place.disabled_at:
        place.disabled_at, place.disabled_why, place.told_at = now, why, None
        counters.disabled(why).inc()
    else:
        why = ""
    place.save(update_fields=["failures", "failing_since", "disabled_at", "disabled_why", "told_at"])
    return why


def _retry_after(tries: int) -> float:
    return RETRY_AFTER_S[tries - 1] * random.uniform(1, 1 + JITTER)  # noqa: S311


def _why_disabled(endpoint: Endpoint, failure: PostFailed, now: datetime) -> str:
    if failure.trouble == Trouble.GONE:
        return Endpoint.Disabled.GONE
    is_over = endpoint.failing_since is not None and endpoint.failing_since <= now - FAILING_AT_MOST
    return Endpoint.Disabled.FAILED if is_over else ""


@transaction.atomic
def end_round(endpoint: int, now: datetime, pause_s: float = 0.0) -> None:
    """The endpoint is free again, at once or after a rest."""
    row = Endpoint.objects.select_for_update(no_key=True).filter(pk=endpoint).first()
    if row is None:
        return
    rest_s = min(FIRST_REST_S * 2 ** min(row.failures - 1, 10), LONGEST_REST_S) if row.failures else 0.0
    row.rest_until = now + timedelta(seconds=max(rest_s, pause_s))
    row.save(update_fields=["rest_until"])


def delete_past_deliveries(now: datetime | None = None) -> int:
    """A chore: what is older than two weeks goes, also what waits for an endpoint that is disabled."""
    past = Delivery.objects.filter(created_at__lt=(now or timezone.now()) - KEPT).order_by("created_at")
    numbers = list(past.values_list("pk", flat=True)[:EXPIRED_AT_ONCE])
    rows = Delivery.objects.filter(pk__in=numbers)
    counters.events("expired").inc(rows.filter(WAITING).count())
    return rows.delete()[0]
