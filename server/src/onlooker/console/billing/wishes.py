"""What an owner can ask for: an enterprise stream, a card, and the end of it.

A wish is written down first and carried out after, so a Stripe that does not answer only makes it later.
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
from onlooker.console.billing import till
from onlooker.console.billing.checkouts import want_subscription
from onlooker.console.billing.line import TillError, line
from onlooker.console.billing.models import Checkout, Customer, Subscription
from onlooker.console.billing.records import Card
from onlooker.console.billing.settling import CHECKOUT_FOR, settle_customer
from onlooker.console.billing.subscriptions import set_kind
from onlooker.streams.models import Stream

OPEN_AT_MOST = 5
"""Checkouts of one customer; each is asked after until it is done or expired."""


def find_card(account: Account) -> Card | None:
    """The card on file; raises TillError."""
    customer = Customer.objects.filter(account=account).exclude(stripe_id="").first()
    if customer is None:
        return None
    try:
        return till.read_card(customer.stripe_id)
    except TillError as error:
        if not error.is_missing:
            raise
    settle_customer(customer.pk, now=timezone.now())  # it was deleted at Stripe
    return None


def open_checkout(account: Account, stream: Stream | None, *, form_key: UUID) -> str:
    """Address of Stripe's page for a card; the same for a form that is sent twice. Raises TillError."""
    with line():
        customer, _ = Customer.objects.get_or_create(account=account)
        try:
            stripe_id, url = _ask_checkout(customer, account.email, stream=stream, form_key=form_key)
        except TillError as error:
            if error.is_answered:
                Customer.objects.filter(pk=customer.pk).update(key_round=F("key_round") + 1)
            raise
        Checkout.objects.get_or_create(stripe_id=stripe_id, defaults={"customer": customer, "stream": stream})
        soon = timezone.now() + CHECKOUT_FOR
        Customer.objects.filter(pk=customer.pk, settle_at__gt=soon).update(settle_at=soon)
        return url


def _ask_checkout(customer: Customer, email: str, *, stream: Stream | None, form_key: UUID) -> tuple[str, str]:
    if not customer.stripe_id:
        customer.stripe_id = till.create_customer(customer.key, attempt=customer.key_round)
        customer.save(update_fields=["stripe_id"])
    _expire_oldest(customer)
    away = reverse("billing-upgrade", args=[stream.client_id]) if stream else reverse("billing")
    return till.open_checkout(
        customer.stripe_id,
        email=email,
        return_url=settings.ONLOOKER.console_url + reverse("billing-done"),
        cancel_url=settings.ONLOOKER.console_url + away,
        key=f"{form_key}-{customer.key}-{stream.pk if stream else 'card'}-{customer.key_round}",
    )


def _expire_oldest(customer: Customer) -> None:
    """So that there is room for one more."""
    for checkout in customer.checkouts.filter(done_at=None).order_by("-id")[OPEN_AT_MOST - 1 :]:
        if till.expire_checkout(checkout.stripe_id):
            checkout.delete()


def subscribe(account: Account, stream: Stream) -> Subscription | None:
    """With the card on file; None where it came to nothing. Raises TillError where nothing was begun."""
    with line():
        with _customer_of(account) as customer:
            want_subscription(customer, stream)
        settle_soon(customer)
    return Subscription.objects.filter(stream=stream).first()


def unsubscribe(account: Account, stream: Stream) -> bool:
    """The stream is a developer stream at once; says whether it is cancelled at Stripe too, else the chores do it.

    Raises TillError where nothing was begun.
    """
    with line():
        with _customer_of(account) as customer:
            if customer.subscriptions.filter(stream=stream).update(wanted=False):
                set_kind(stream, Stream.Kind.DEVELOPER)
        settle_soon(customer)
    return not customer.subscriptions.filter(stream=stream).exists()


def settle_soon(customer: Customer) -> bool:
    """Now if Stripe answers, else by the chores."""
    try:
        return settle_customer(customer.pk, now=timezone.now())
    except TillError:
        return False


@contextmanager
def _customer_of(account: Account) -> Iterator[Customer]:
    """Locked, and due to be settled. It may be locked while Stripe is asked: a line is held by whoever waits for it."""
    with transaction.atomic():
        Customer.objects.get_or_create(account=account)
        customer = Customer.objects.select_for_update(no_key=True).get(account=account)
        customer.settle_at = timezone.now()
        customer.save(update_fields=["settle_at"])
        yield customer
