"""Visits to Stripe's page for cards: beginning one, and doing what follows from it, once."""

import uuid
from datetime import datetime

from onlooker.console.billing import till
from onlooker.console.billing.line import TillError
from onlooker.console.billing.models import Checkout, Customer, Subscription
from onlooker.console.billing.records import LATE, UNFINISHED, Billed, CheckoutState
from onlooker.streams.models import Stream


def want_subscription(customer: Customer, stream: Stream) -> Subscription:
    """The stream's subscription; one that is just being cancelled is left to be, and a new one takes its place."""
    row, _ = Subscription.objects.get_or_create(stream=stream, defaults={"customer": customer})
    if not row.wanted:
        row.wanted, row.key, row.stripe_id, row.status = True, uuid.uuid4(), "", ""
        row.past_due_since, row.told = None, 0
        row.save()
    return row


def finish_checkout(checkout: Checkout, billed: list[Billed], *, now: datetime) -> None:
    """With a new card: use it from now on, pay what is due, and want a subscription for the stream it was meant for."""
    state = _read(checkout)
    if state and state.status == "open":
        return
    customer = checkout.customer
    if not state or state.customer_id != customer.stripe_id or not state.payment_method:  # expired, mostly
        checkout.delete()
        return
    if not customer.checkouts.filter(pk__gt=checkout.pk, done_at__isnull=False).exists():  # else there is a newer card
        _use_card(customer, billed, payment_method=state.payment_method)
    stream = checkout.stream
    if stream and stream.removed_at is None and stream.owner_id == customer.account_id:
        want_subscription(customer, stream)
    checkout.done_at = now
    checkout.save(update_fields=["done_at"])


def _read(checkout: Checkout) -> CheckoutState | None:
    try:
        return till.read_checkout(checkout.stripe_id)
    except TillError as error:
        if error.is_missing:
            return None
        raise


def _use_card(customer: Customer, billed: list[Billed], *, payment_method: str) -> None:
    key = f"{payment_method}-{customer.key_round}"
    till.set_default_method(customer.stripe_id, payment_method, key=f"default-{key}")
    for one in billed:
        if one.status in LATE | UNFINISHED and one.invoice_id:
            till.pay_invoice(one.invoice_id, key=f"pay-{one.invoice_id}-{key}")
