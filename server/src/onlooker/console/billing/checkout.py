"""What an owner can request: to enter a card, to subscribe a stream, and to cancel its subscription.

A request is recorded first and carried out afterwards, so a Stripe that does not answer only delays it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.urls import reverse
from django.utils import timezone

from onlooker.console.accounts.models import Account
from onlooker.console.billing import stripe_api
from onlooker.console.billing.models import Checkout, Customer, Subscription
from onlooker.console.billing.reconciliation import CHECKOUT_INTERVAL, reconcile_customer, want_subscription
from onlooker.console.billing.stripe_api import StripeApiError, stripe_slot
from onlooker.console.billing.stripe_records import Card
from onlooker.console.billing.subscriptions import set_kind
from onlooker.streams.models import Stream

OPEN_CHECKOUTS_LIMIT = 5
"""Per customer; each is polled until it is complete or expired."""


def find_card(account: Account) -> Card | None:
    """The card on file; raises StripeApiError."""
    customer = Customer.objects.filter(account=account).exclude(stripe_id="").first()
    if customer is None:
        return None
    try:
        return stripe_api.read_card(customer.stripe_id)
    except StripeApiError as error:
        if not error.is_missing:
            raise
    reconcile_customer(customer.pk, now=timezone.now())  # deleted at Stripe
    return None


def open_checkout(account: Account, stream: Stream | None, *, form_key: UUID) -> str:
    """The URL of Stripe's page for a card; the same for a form that is sent twice. Raises StripeApiError."""
    with stripe_slot():
        customer, _ = Customer.objects.get_or_create(account=account)
        try:
            stripe_id, url = _request_checkout(customer, account.email, stream=stream, form_key=form_key)
        except StripeApiError as error:
            if error.is_answered:
                Customer.objects.filter(pk=customer.pk).update(key_round=F("key_round") + 1)
            raise
        Checkout.objects.get_or_create(stripe_id=stripe_id, defaults={"customer": customer, "stream": stream})
        soon = timezone.now() + CHECKOUT_INTERVAL
        Customer.objects.filter(pk=customer.pk, settle_at__gt=soon).update(settle_at=soon)
        return url


def _request_checkout(customer: Customer, email: str, *, stream: Stream | None, form_key: UUID) -> tuple[str, str]:
    if not customer.stripe_id:
        customer.stripe_id = stripe_api.create_customer(customer.key, attempt=customer.key_round)
        customer.save(update_fields=["stripe_id"])
    _expire_oldest(customer)
    away = reverse("billing-upgrade", args=[stream.client_id]) if stream else reverse("billing")
    return stripe_api.open_checkout(
        customer.stripe_id,
        email=email,
        return_url=settings.ONLOOKER.console_url + reverse("billing-done"),
        cancel_url=settings.ONLOOKER.console_url + away,
        key=f"{form_key}-{customer.key}-{stream.pk if stream else 'card'}-{customer.key_round}",
    )


def _expire_oldest(customer: Customer) -> None:
    """Make room for one more."""
    for checkout in customer.checkouts.filter(done_at=None).order_by("-id")[OPEN_CHECKOUTS_LIMIT - 1 :]:
        if stripe_api.expire_checkout(checkout.stripe_id):
            checkout.delete()


def subscribe(account: Account, stream: Stream) -> Subscription | None:
    """With the card on file; None if there was no usable one. Raises StripeApiError if nothing was recorded."""
    with stripe_slot():
        with _customer_of(account) as customer:
            want_subscription(customer, stream)
        reconcile_now(customer)
    return Subscription.objects.filter(stream=stream).first()


def unsubscribe(account: Account, stream: Stream) -> bool:
    """The stream becomes a developer stream at once. False if the chores have yet to cancel it at Stripe.

    Raises StripeApiError if nothing was recorded.
    """
    with stripe_slot():
        with _customer_of(account) as customer:
            if customer.subscriptions.filter(stream=stream).update(wanted=False):
                set_kind(stream, Stream.Kind.DEVELOPER)
        reconcile_now(customer)
    return not customer.subscriptions.filter(stream=stream).exists()


def reconcile_now(customer: Customer) -> bool:
    """If Stripe answers; otherwise the chores do it, and this returns False."""
    try:
        return reconcile_customer(customer.pk, now=timezone.now())
    except StripeApiError:
        return False


@contextmanager
def _customer_of(account: Account) -> Iterator[Customer]:
    """Locked, and due for reconciliation. Callers hold a slot, since others keep the lock while they call Stripe."""
    with transaction.atomic():
        Customer.objects.get_or_create(account=account)
        customer = Customer.objects.select_for_update(no_key=True).get(account=account)
        customer.settle_at = timezone.now()
        customer.save(update_fields=["settle_at"])
        yield customer
