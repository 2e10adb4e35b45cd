"""Brings us and Stripe to agreement about one customer: the only place that changes either.

Whatever happens (a click, a webhook, a chore, the same again) leads here. We read what Stripe has now, not what
an event says it had, so neither order nor repetition matters; and each step can be repeated, so none gets lost.
"""

import logging
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial

from django.db import transaction
from django.db.models import Max

from onlooker.console.billing import till
from onlooker.console.billing.checkouts import finish_checkout
from onlooker.console.billing.grace import grace_at
from onlooker.console.billing.line import IN_PAGE, Patience, TillError, line
from onlooker.console.billing.look import Look, look_at_customer
from onlooker.console.billing.models import Customer
from onlooker.console.billing.subscriptions import set_kind, settle_subscription
from onlooker.logs import fields
from onlooker.streams.models import Stream

log = logging.getLogger(__name__)

AGREED_FOR = timedelta(days=1)
"""How long we believe that nothing changed without our being told."""
CHECKOUT_FOR = timedelta(hours=1)
"""The same while somebody may be on Stripe's page for cards."""
IDLE_FOR = timedelta(days=30)
"""The same for a customer without subscriptions."""
SHORTEST_WAIT, LONGEST_WAIT = timedelta(minutes=1), timedelta(minutes=15)
"""How long to wait after a failure."""


def settle_customer(customer_id: int, *, now: datetime, wait: bool = True, patience: Patience = IN_PAGE) -> bool:
    """False where somebody else is doing it at this moment, or nobody is there; raises TillError, and tries later.

    What follows from checkouts is committed first: a subscription must be known here before Stripe is asked for it.
    Else one that is cut off after the asking would ask again under another key, and charge twice.
    """
    with line(patience):
        with _locked(customer_id, wait=wait) as customer:
            if customer is None:
                return False
            newest = customer.events.aggregate(newest=Max("id"))["newest"] or 0
            error = _do_steps(_finish_checkouts(customer, now))
        with _locked(customer_id, wait=wait) as customer:
            if customer is None:
                return False
            if error is None or error.is_answered:
                error = _settle_subscriptions(customer, now=now) or error
            if customer.pk is not None:  # it is gone when its account was
                _note_outcome(customer, error, now=now)
                _note_events(customer, error, newest=newest, now=now)
    if error:
        raise error
    return True


@contextmanager
def _locked(customer_id: int, *, wait: bool) -> Iterator[Customer | None]:
    """A customer's row is locked before its account's and its streams', here and in removals.py."""
    with transaction.atomic():
        rows = Customer.objects.select_for_update(skip_locked=not wait, no_key=True)
        yield rows.filter(pk=customer_id).first()


def _finish_checkouts(customer: Customer, now: datetime) -> Iterator[Callable[[], None]]:
    checkouts = list(customer.checkouts.filter(done_at=None).select_related("stream").order_by("id"))
    if customer.account_id is None or not checkouts:
        return
    look = _look(customer)
    for checkout in checkouts:
        checkout.customer = customer
        yield partial(finish_checkout, checkout, look.billed, now=now)


def _settle_subscriptions(customer: Customer, *, now: datetime) -> TillError | None:
    kinds: list[tuple[Stream, Stream.Kind]] = []
    error = _do_steps(_steps(customer, kinds, now=now))
    for stream, kind in kinds:
        set_kind(stream, kind)
    return error


def _steps(
    customer: Customer, kinds: list[tuple[Stream, Stream.Kind]], *, now: datetime
) -> Iterator[Callable[[], None]]:
    """Each is kept or undone on its own; later ones see what earlier ones did."""
    if customer.account_id is None:
        yield partial(_forget_customer, customer)
        return
    look = _look(customer)
    look.kinds = kinds
    for row in customer.subscriptions.select_related("stream").order_by("id"):
        row.customer = customer
        yield partial(settle_subscription, row, look, now=now)
    yield partial(_cancel_strays, customer, look)


def _do_steps(steps: Iterator[Callable[[], None]]) -> TillError | None:
    """The first failure; a Stripe that does not answer is not asked for more."""
    first: TillError | None = None
    while True:
        try:
            with transaction.atomic():
                step = next(steps, None)
                if step is None:
                    return first
                step()
        except TillError as error:
            first = first or error
            if not error.is_answered:
                return first


def _look(customer: Customer) -> Look:
    if not customer.stripe_id:
        if not customer.subscriptions.exists():
            return Look(has_card=False, billed=[])
        customer.stripe_id = till.create_customer(customer.key, attempt=customer.key_round)
    try:
        return look_at_customer(customer.stripe_id)
    except TillError as error:
        if not error.is_missing:
            raise
    log.warning("Stripe has lost a customer, beginning anew", extra=fields(customer=customer.pk))
    customer.stripe_id, customer.key = "", uuid.uuid4()
    customer.save(update_fields=["stripe_id", "key"])
    customer.checkouts.filter(done_at=None).delete()
    return Look(has_card=False, billed=[])


def _forget_customer(customer: Customer) -> None:
    """The account is deleted: so is Stripe's record of it, which ends its subscriptions too."""
    till.delete_customer(customer.stripe_id or till.create_customer(customer.key, attempt=customer.key_round))
    customer.subscriptions.all().delete()
    customer.delete()


def _cancel_strays(customer: Customer, look: Look) -> None:
    """Subscriptions that we made and have no row for any more: nobody shall pay for nothing."""
    known = {str(key) for key in customer.subscriptions.values_list("key", flat=True)}
    for one in [one for one in look.billed if one.key and one.key not in known]:
        log.warning("cancelling a stray subscription", extra=fields(customer=customer.pk))
        look.cancel(one)


def _note_outcome(customer: Customer, error: TillError | None, *, now: datetime) -> None:
    if error:
        log.warning("settling put off", extra=fields(customer=customer.pk, error=str(error)))
        customer.settle_at = now + min(SHORTEST_WAIT * 2 ** min(customer.failures, 10), LONGEST_WAIT)
        customer.failures += 1
        customer.key_round += error.is_answered
    else:
        customer.settle_at = min(_moments(customer, now))
        customer.failures = 0
    customer.save()


def _moments(customer: Customer, now: datetime) -> Iterable[datetime]:
    """When something is due next."""
    yield now + IDLE_FOR
    if customer.checkouts.filter(done_at=None).exists():
        yield now + CHECKOUT_FOR
    for since in customer.subscriptions.values_list("past_due_since", flat=True):
        yield now + AGREED_FOR
        if since:
            yield grace_at(now, since=since).next_at


def _note_events(customer: Customer, error: TillError | None, *, newest: int, now: datetime) -> None:
    """Those that came in before we asked Stripe are handled; later ones may tell something newer."""
    events = customer.events.filter(handled_at=None, id__lte=newest)
    if error:
        events.update(error=str(error))
    else:
        events.update(handled_at=now, error="")
