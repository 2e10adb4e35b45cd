"""What billing has to do now and then: whatever is due, a bounded part of it a round."""

import logging
import time
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from onlooker.console.billing.configuration import is_billing_on
from onlooker.console.billing.line import IN_CHORE, TillError
from onlooker.console.billing.models import Checkout, Customer, Event, Subscription
from onlooker.console.billing.notices import send_notices
from onlooker.console.billing.settling import LONGEST_WAIT, settle_customer
from onlooker.logs import fields

log = logging.getLogger(__name__)

CUSTOMERS_A_ROUND = 20
FAILURES_A_ROUND = 2
"""A Stripe that does not answer takes long to do so, and other chores wait."""
ROUND_LIMIT_S = 20.0
"""No other customer is begun after it."""
KEPT_FOR = timedelta(days=30)
"""Stripe can send an event again for so long; later its name is of no use."""


def do_billing_chores(*, now: datetime | None = None) -> None:
    now = now or timezone.now()
    if is_billing_on():
        hasten_removals(now=now)
        settle_due(now=now)
    else:
        drop_removed()
    send_notices(now=now)
    Event.objects.filter(handled_at__lt=now - KEPT_FOR).delete()
    Checkout.objects.filter(done_at__lt=now - KEPT_FOR).delete()


def hasten_removals(*, now: datetime) -> None:
    """Whoever removes a stream or an account need not know of billing."""
    removed = Q(account=None) | Q(subscriptions__stream__removed_at__isnull=False) | Q(subscriptions__wanted=False)
    waiting = Customer.objects.filter(removed, settle_at__gt=now + LONGEST_WAIT).values("pk")
    Customer.objects.filter(pk__in=waiting).update(settle_at=now)


def settle_due(*, now: datetime) -> None:
    """Those whose time has come, and those of whom Stripe told something that nobody has looked after."""
    due = Q(settle_at__lte=now) | Q(failures=0, events__handled_at=None, events__isnull=False)
    customers = Customer.objects.filter(due).order_by("settle_at").values_list("pk", flat=True).distinct()
    failures = 0
    give_up_at = time.monotonic() + ROUND_LIMIT_S
    for customer_id in list(customers[:CUSTOMERS_A_ROUND]):
        if time.monotonic() > give_up_at:
            return
        try:
            settle_customer(customer_id, now=now, wait=False, patience=IN_CHORE)
        except TillError:
            failures += 1
            if failures >= FAILURES_A_ROUND:
                return


def drop_removed() -> None:
    """Without keys nobody can tell Stripe: staff has to cancel there by hand, and the rows must not be in the way."""
    for row in Subscription.objects.filter(stream__removed_at__isnull=False):
        log.error("cancel this subscription at Stripe by hand", extra=fields(subscription=row.stripe_id))
        row.delete()
    for customer in Customer.objects.filter(account=None, subscriptions=None):
        log.error("delete this customer at Stripe by hand", extra=fields(customer=customer.stripe_id))
        customer.delete()
