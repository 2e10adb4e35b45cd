"""The one file that knows Stripe's interface."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings

from onlooker.console.billing.line import Patience, TillError, line
from onlooker.console.billing.records import Billed, Card, CheckoutState, Invoice, Money, Price
from onlooker.logs import fields

if TYPE_CHECKING:
    from stripe import StripeClient

log = logging.getLogger(__name__)

CONNECT_LIMIT_S = 3.0
KEY_NAME, STREAM_NAME = "onlooker_key", "onlooker_stream"


@lru_cache(maxsize=2)
def _client(secret_key: str, api_url: str, patience: Patience) -> "StripeClient":
    import stripe

    stripe.enable_telemetry = False
    logging.getLogger("stripe").setLevel(logging.WARNING)  # it logs whole bodies, with addresses and secrets
    logging.getLogger("urllib3").setLevel(logging.WARNING)
    http = stripe.RequestsClient(timeout=(CONNECT_LIMIT_S, patience.answer_s))
    return stripe.StripeClient(
        secret_key, base_addresses={"api": api_url}, max_network_retries=patience.retries, http_client=http
    )


@contextmanager
def _asking() -> Iterator[Any]:
    """Stripe's client, typed loosely: what comes back is read here and nowhere else."""
    import stripe

    try:
        with line() as patience:
            yield _client(settings.ONLOOKER.stripe_secret_key, settings.ONLOOKER.stripe_api_url, patience).v1
    except stripe.StripeError as error:
        failure = TillError(type(error).__name__, error.http_status, error.code)
        if not failure.is_missing:
            log.warning("Stripe refused, or did not answer", extra=fields(error=str(failure)))
        raise failure from None


def create_customer(key: UUID, *, attempt: int) -> str:
    """No address yet: with the same key Stripe then answers the same, whatever the account is called by now."""
    with _asking() as stripe:
        made = stripe.customers.create(
            {"metadata": {KEY_NAME: str(key)}}, {"idempotency_key": f"customer-{key}-{attempt}"}
        )
    return str(made.id)


def delete_customer(stripe_id: str) -> None:
    """Ends its subscriptions too."""
    try:
        with _asking() as stripe:
            stripe.customers.delete(stripe_id)
    except TillError as error:
        if not error.is_missing:
            raise


def read_card(customer_id: str) -> Card | None:
    """The card that pays for a customer's subscriptions; raises TillError with is_missing for no such customer."""
    with _asking() as stripe:
        customer = stripe.customers.retrieve(customer_id, {"expand": ["invoice_settings.default_payment_method"]})
    if getattr(customer, "deleted", False):
        raise TillError("Deleted", 404)
    method = customer.invoice_settings.default_payment_method
    if method is None:
        return None
    card = getattr(method, "card", None)
    if card is None:
        return Card(method.id, str(method.type), "", "")
    return Card(method.id, str(card.brand).title(), card.last4, f"{card.exp_month:02}/{card.exp_year}")


def set_default_method(customer_id: str, payment_method: str, *, key: str) -> None:
    with _asking() as stripe:
        stripe.customers.update(
            customer_id, {"invoice_settings": {"default_payment_method": payment_method}}, {"idempotency_key": key}
        )


def open_checkout(customer_id: str, *, email: str, return_url: str, cancel_url: str, key: str) -> tuple[str, str]:
    """A page of Stripe's where a card is entered: its id and its address."""
    with _asking() as stripe:
        stripe.customers.update(customer_id, {"email": email}, {"idempotency_key": f"address-{key}"})
        session = stripe.checkout.sessions.create(
            {
                "mode": "setup",
                "customer": customer_id,
                "allowed_payment_method_types": ["card"],
                "success_url": return_url,
                "cancel_url": cancel_url,
            },
            {"idempotency_key": f"checkout-{key}"},
        )
    return str(session.id), str(session.url)


def read_checkout(stripe_id: str) -> CheckoutState:
    with _asking() as stripe:
        session = stripe.checkout.sessions.retrieve(stripe_id, {"expand": ["setup_intent"]})
    intent = session.setup_intent
    method = intent.payment_method if intent is not None and intent.status == "succeeded" else None
    return CheckoutState(str(session.status), str(session.customer), str(method or ""))


def expire_checkout(stripe_id: str) -> bool:
    """Nobody can enter a card there any more; False: it is too late for that, something may follow from it."""
    try:
        with _asking() as stripe:
            stripe.checkout.sessions.expire(stripe_id)
    except TillError as error:
        if error.status != 400 and not error.is_missing:
            raise
        return error.is_missing
    return True


def create_subscription(customer_id: str, *, key: UUID, client_id: UUID, attempt: int) -> Billed:
    """One that cannot be paid at once is made too, and stays incomplete until it is."""
    with _asking() as stripe:
        made = stripe.subscriptions.create(
            {
                "customer": customer_id,
                "items": [{"price": settings.ONLOOKER.stripe_price}],
                "payment_behavior": "allow_incomplete",
                "metadata": {KEY_NAME: str(key), STREAM_NAME: str(client_id)},
                "expand": ["latest_invoice"],
            },
            {"idempotency_key": f"subscription-{key}-{attempt}"},
        )
    return _read_billed(made)


def list_subscriptions(customer_id: str) -> list[Billed]:
    """All that have not ended."""
    with _asking() as stripe:
        found = stripe.subscriptions.list({"customer": customer_id, "limit": 100, "expand": ["data.latest_invoice"]})
        return [_read_billed(one) for one in found.auto_paging_iter()]


def read_subscription(stripe_id: str) -> Billed:
    with _asking() as stripe:
        return _read_billed(stripe.subscriptions.retrieve(stripe_id, {"expand": ["latest_invoice"]}))


def cancel_subscription(stripe_id: str) -> None:
    """At once; one that has ended already is fine too."""
    try:
        with _asking() as stripe:
            stripe.subscriptions.cancel(stripe_id)
    except TillError as error:
        if not error.is_missing:
            raise


def pay_invoice(invoice_id: str, *, key: str) -> None:
    """Try again to take what is due; a card that is declined is no error, the subscription's status says it."""
    try:
        with _asking() as stripe:
            stripe.invoices.pay(invoice_id, {}, {"idempotency_key": key})
    except TillError as error:
        if error.status not in (400, 402):  # 400: paid or void by now
            raise


def read_price() -> Price:
    with _asking() as stripe:
        price = stripe.prices.retrieve(settings.ONLOOKER.stripe_price)
    if getattr(price, "recurring", None) is None:
        log.error("ONLOOKER_STRIPE_PRICE must name a recurring price", extra=fields(price=str(price.id)))
        raise TillError("PriceNotRecurring", None)
    amount = getattr(price, "unit_amount_decimal", None)
    money = None if amount is None else Money(Decimal(amount), str(price.currency))
    return Price(money, str(price.recurring.interval), int(price.recurring.interval_count))


def list_invoices(customer_id: str, *, limit: int) -> list[Invoice]:
    with _asking() as stripe:
        found = stripe.invoices.list({"customer": customer_id, "limit": limit}).data
    return [
        Invoice(
            datetime.fromtimestamp(one.created, UTC),
            Money(Decimal(one.total), str(one.currency)),
            str(one.status),
            str(getattr(one, "hosted_invoice_url", None) or ""),
        )
        for one in found
    ]


def _read_billed(found: Any) -> Billed:
    invoice = found.latest_invoice
    return Billed(
        stripe_id=str(found.id),
        status=str(found.status),
        key=str(getattr(found.metadata, KEY_NAME, "")),
        invoice_id=str(invoice.id) if invoice is not None else "",
        invoice_url=str(getattr(invoice, "hosted_invoice_url", None) or ""),
    )
