"""Reconciles our records of a customer with Stripe's: the only place that changes either.

A click, a webhook and a chore all lead here. We read what Stripe has now, not what an event says it had, so neither
order nor repetition matters; and each step can be repeated, so none gets lost.
"""

import logging
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from onlooker.console.accounts.models import Account
from onlooker.console.billing import stripe_api
from onlooker.console.billing.configuration import is_billing_on
from onlooker.console.billing.dunning import dunning_state_at, send_notices
from onlooker.console.billing.models import Checkout, Customer, StripeEvent, Subscription
from onlooker.console.billing.stripe_api import CHORE_LIMITS, PAGE_LIMITS, StripeApiError, TimeLimits, stripe_slot
from onlooker.console.billing.stripe_records import INCOMPLETE, PAST_DUE, CheckoutSession, StripeSubscription
from onlooker.console.billing.subscriptions import StripeState, read_stripe_state, reconcile_subscription, set_kind
from onlooker.logs import fields
from onlooker.streams.models import MemberRole, Membership, Stream

log = logging.getLogger(__name__)

SUBSCRIBED_INTERVAL = timedelta(days=1)
"""How often to reconcile a customer with subscriptions, in case an event got lost."""
CHECKOUT_INTERVAL = timedelta(hours=1)
"""The same while a checkout is open."""
IDLE_INTERVAL = timedelta(days=30)
"""The same for a customer without subscriptions."""
SHORTEST_WAIT, LONGEST_WAIT = timedelta(minutes=1), timedelta(minutes=15)
"""How long to wait after a failure."""
CUSTOMERS_A_ROUND = 20
FAILURES_A_ROUND = 2
"""Each call to a Stripe that does not answer takes long, and other chores wait."""
ROUND_LIMIT_S = 20.0
"""After this no further customer is begun."""
KEPT_FOR = timedelta(days=30)
"""How long Stripe may send an event again; after that its id is of no use."""


def reconcile_customer(customer_id: int, *, now: datetime, wait: bool = True, limits: TimeLimits = PAGE_LIMITS) -> bool:
    """False if it is already in progress elsewhere, or the customer is gone. Raises StripeApiError; a chore retries.

    Finished checkouts are committed first: a subscription must be recorded here before it is created at Stripe.
    Otherwise a crash in between would create it again with another key, and charge twice.
    """
    with stripe_slot(limits):
        with _locked(customer_id, wait=wait) as customer:
            if customer is None:
                return False
            newest = customer.events.aggregate(newest=Max("id"))["newest"] or 0
            error = _do_steps(_finish_checkouts(customer, now))
        with _locked(customer_id, wait=wait) as customer:
            if customer is None:
                return False
            if error is None or error.is_answered:
                error = _reconcile_subscriptions(customer, now=now) or error
            if customer.pk is not None:  # deleted with its account
                _record_outcome(customer, error, now=now)
                _record_events(customer, error, newest=newest, now=now)
    if error:
        raise error
    return True


@contextmanager
def _locked(customer_id: int, *, wait: bool) -> Iterator[Customer | None]:
    """A customer's row is locked before those of its account and streams, here and in `lock_customer`."""
    with transaction.atomic():
        rows = Customer.objects.select_for_update(skip_locked=not wait, no_key=True)
        yield rows.filter(pk=customer_id).first()


def _finish_checkouts(customer: Customer, now: datetime) -> Iterator[Callable[[], None]]:
    checkouts = list(customer.checkouts.filter(done_at=None).select_related("stream").order_by("id"))
    if customer.account_id is None or not checkouts:
        return
    state = _read_state(customer)
    for checkout in checkouts:
        checkout.customer = customer
        yield partial(finish_checkout, checkout, state.subscriptions, now=now)


def _reconcile_subscriptions(customer: Customer, *, now: datetime) -> StripeApiError | None:
    kinds: list[tuple[Stream, Stream.Kind]] = []
    error = _do_steps(_steps(customer, kinds, now=now))
    for stream, kind in kinds:
        set_kind(stream, kind)
    return error


def _steps(
    customer: Customer, kinds: list[tuple[Stream, Stream.Kind]], *, now: datetime
) -> Iterator[Callable[[], None]]:
    """Each is committed or rolled back by itself; later ones see what earlier ones did."""
    if customer.account_id is None:
        yield partial(_delete_customer, customer, kinds)
        return
    state = _read_state(customer)
    state.kinds = kinds
    for row in customer.subscriptions.select_related("stream").order_by("id"):
        row.customer = customer
        yield partial(reconcile_subscription, row, state, now=now)
    yield partial(_cancel_orphans, customer, state)


def _do_steps(steps: Iterator[Callable[[], None]]) -> StripeApiError | None:
    """Returns the first failure; if Stripe does not answer, no further step is tried."""
    first: StripeApiError | None = None
    while True:
        try:
            with transaction.atomic():
                step = next(steps, None)
                if step is None:
                    return first
                step()
        except StripeApiError as error:
            first = first or error
            if not error.is_answered:
                return first


def _read_state(customer: Customer) -> StripeState:
    if not customer.stripe_id:
        if not customer.subscriptions.exists():
            return StripeState(has_card=False, subscriptions=[])
        customer.stripe_id = stripe_api.create_customer(customer.key, attempt=customer.key_round)
    try:
        return read_stripe_state(customer.stripe_id)
    except StripeApiError as error:
        if not error.is_missing:
            raise
    log.warning("customer missing at Stripe, creating a new one", extra=fields(customer=customer.pk))
    customer.stripe_id, customer.key = "", uuid.uuid4()
    customer.save(update_fields=["stripe_id", "key"])
    customer.checkouts.filter(done_at=None).delete()
    return StripeState(has_card=False, subscriptions=[])


def _delete_customer(customer: Customer, kinds: list[tuple[Stream, Stream.Kind]]) -> None:
    """The account was deleted: delete Stripe's record of it too, which ends its subscriptions.

    Streams of an organisation that goes on become developer streams.
    """
    stripe_id = customer.stripe_id or stripe_api.create_customer(customer.key, attempt=customer.key_round)
    stripe_api.delete_customer(stripe_id)
    kinds += [(row.stream, Stream.Kind.DEVELOPER) for row in customer.subscriptions.select_related("stream")]
    customer.subscriptions.all().delete()
    customer.delete()


def _cancel_orphans(customer: Customer, state: StripeState) -> None:
    """Subscriptions that we created but no longer have a row for: nobody should pay for nothing."""
    known = {str(key) for key in customer.subscriptions.values_list("key", flat=True)}
    for one in [one for one in state.subscriptions if one.key and one.key not in known]:
        log.warning("cancelling an orphaned subscription", extra=fields(customer=customer.pk))
        state.cancel(one)


def _record_outcome(customer: Customer, error: StripeApiError | None, *, now: datetime) -> None:
    if error:
        log.warning("reconciliation put off", extra=fields(customer=customer.pk, error=str(error)))
        customer.settle_at = now + min(SHORTEST_WAIT * 2 ** min(customer.failures, 10), LONGEST_WAIT)
        customer.failures += 1
        customer.key_round += error.is_answered
    else:
        customer.settle_at = min(_next_times(customer, now))
        customer.failures = 0
    customer.save()


def _next_times(customer: Customer, now: datetime) -> Iterable[datetime]:
    """When reconciliation is due next."""
    yield now + IDLE_INTERVAL
    if customer.checkouts.filter(done_at=None).exists():
        yield now + CHECKOUT_INTERVAL
    for since in customer.subscriptions.values_list("past_due_since", flat=True):
        yield now + SUBSCRIBED_INTERVAL
        if since:
            yield dunning_state_at(now, since=since).next_at


def _record_events(customer: Customer, error: StripeApiError | None, *, newest: int, now: datetime) -> None:
    """Events that came before we asked Stripe are handled; later ones may report something newer."""
    events = customer.events.filter(handled_at=None, id__lte=newest)
    if error:
        events.update(error=str(error))
    else:
        events.update(handled_at=now, error="")


def want_subscription(customer: Customer, stream: Stream) -> Subscription:
    """Record that a stream is to have a subscription; one that is being cancelled is replaced by a new one."""
    row, _ = Subscription.objects.get_or_create(stream=stream, defaults={"customer": customer})
    if not row.wanted:
        row.wanted, row.key, row.stripe_id, row.status = True, uuid.uuid4(), "", ""
        row.past_due_since, row.told = None, 0
        row.save()
    return row


def finish_checkout(checkout: Checkout, subscriptions: list[StripeSubscription], *, now: datetime) -> None:
    """With a new card: make it the default, pay what is due, and subscribe the stream that the checkout was for."""
    session = _read_session(checkout)
    if session and session.status == "open":
        return
    customer = checkout.customer
    if not session or session.customer_id != customer.stripe_id or not session.payment_method:  # usually expired
        checkout.delete()
        return
    if not customer.checkouts.filter(pk__gt=checkout.pk, done_at__isnull=False).exists():  # else a newer card is in use
        _use_card(customer, subscriptions, payment_method=session.payment_method)
    stream = checkout.stream
    if stream and stream.removed_at is None and _owns(customer, stream):
        want_subscription(customer, stream)
    checkout.done_at = now
    checkout.save(update_fields=["done_at"])


def _owns(customer: Customer, stream: Stream) -> bool:
    """Only an owner of its organisation pays for a stream."""
    owners = Membership.objects.filter(organisation=stream.organisation_id, role=MemberRole.OWNER)
    return owners.filter(account=customer.account_id).exists()


def _read_session(checkout: Checkout) -> CheckoutSession | None:
    try:
        return stripe_api.read_checkout(checkout.stripe_id)
    except StripeApiError as error:
        if error.is_missing:
            return None
        raise


def _use_card(customer: Customer, subscriptions: list[StripeSubscription], *, payment_method: str) -> None:
    key = f"{payment_method}-{customer.key_round}"
    stripe_api.set_default_method(customer.stripe_id, payment_method, key=f"default-{key}")
    for one in subscriptions:
        if one.status in PAST_DUE | INCOMPLETE and one.invoice_id:
            stripe_api.pay_invoice(one.invoice_id, key=f"pay-{one.invoice_id}-{key}")


def do_billing_chores(*, now: datetime | None = None) -> None:
    now = now or timezone.now()
    if is_billing_on():
        expedite_removals(now=now)
        reconcile_due_customers(now=now)
    else:
        drop_removed_customers()
    send_notices(now=now)
    StripeEvent.objects.filter(handled_at__lt=now - KEPT_FOR).delete()
    Checkout.objects.filter(done_at__lt=now - KEPT_FOR).delete()


def expedite_removals(*, now: datetime) -> None:
    """Reconcile soon after a stream or an account was removed, since removal knows nothing of billing."""
    removed = Q(account=None) | Q(subscriptions__stream__removed_at__isnull=False) | Q(subscriptions__wanted=False)
    waiting = Customer.objects.filter(removed, settle_at__gt=now + LONGEST_WAIT).values("pk")
    Customer.objects.filter(pk__in=waiting).update(settle_at=now)


def reconcile_due_customers(*, now: datetime) -> None:
    """Customers that are due, and those with an event from Stripe that is not handled yet."""
    due = Q(settle_at__lte=now) | Q(failures=0, events__handled_at=None, events__isnull=False)
    customers = Customer.objects.filter(due).order_by("settle_at").values_list("pk", flat=True).distinct()
    failures = 0
    give_up_at = time.monotonic() + ROUND_LIMIT_S
    for customer_id in list(customers[:CUSTOMERS_A_ROUND]):
        if time.monotonic() > give_up_at:
            return
        try:
            reconcile_customer(customer_id, now=now, wait=False, limits=CHORE_LIMITS)
        except StripeApiError:
            failures += 1
            if failures >= FAILURES_A_ROUND:
                return


def drop_removed_customers() -> None:
    """Without keys we can't call Stripe: staff have to cancel there by hand, and the rows must not block removal."""
    ended = Q(stream__removed_at__isnull=False) | Q(customer__account=None)
    for row in Subscription.objects.filter(ended).select_related("stream"):
        log.error("cancel this subscription at Stripe by hand", extra=fields(subscription=row.stripe_id))
        row.delete()
        set_kind(row.stream, Stream.Kind.DEVELOPER)
    for customer in Customer.objects.filter(account=None, subscriptions=None):
        log.error("delete this customer at Stripe by hand", extra=fields(customer=customer.stripe_id))
        customer.delete()


def lock_customer(*, account: Account, **values: Any) -> None:
    """Before an account is deleted: lock its customer first, in the order of reconciliation, to prevent a deadlock."""
    list(Customer.objects.select_for_update(no_key=True).filter(account=account))
