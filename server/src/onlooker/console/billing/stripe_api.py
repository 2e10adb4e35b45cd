"""Stripe's API: the one module that knows it. What it returns is in stripe_records.py.

Few threads call Stripe at a time, each for a limited time: a Stripe that does not answer must not stop the console.
"""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings
from django.db import connection

from onlooker.console.billing.stripe_records import Card, CheckoutSession, Invoice, Money, Price, StripeSubscription
from onlooker.logs import fields

if TYPE_CHECKING:
    from stripe import StripeClient


log = logging.getLogger(__name__)

CONCURRENT_CALLS = 3
"""In this process. A reconciliation holds a database connection meanwhile, so: fewer than the pool has."""
SLOT_WAIT_S = 1.0
"""How long to wait for a slot, without holding a connection."""
CONNECT_LIMIT_S = 3.0
KEY_NAME, STREAM_NAME = "onlooker_key", "onlooker_stream"
"""Metadata of Stripe's records."""
_MISSING = 404


class StripeApiError(Exception):
    """Stripe did not answer, or refused. The message holds no personal data and can be logged."""

    def __init__(self, kind: str, status: int | None, code: str | None = None) -> None:
        super().__init__(" ".join(str(part) for part in (kind, status, code) if part))
        self.status = status
        self.is_missing = status == _MISSING or code == "resource_missing"

    @property
    def is_answered(self) -> bool:
        """Whether a retry with the same idempotency key would only repeat the answer."""
        return self.status is not None and self.status not in (409, 429)


@dataclass(frozen=True)
class TimeLimits:
    """For one answer, its retries, and all calls made while holding a slot."""

    answer_s: float
    retries: int
    all_s: float


PAGE_LIMITS = TimeLimits(answer_s=8.0, retries=0, all_s=8.0)
"""Someone is waiting for the page; the chores do what is left."""
CHORE_LIMITS = TimeLimits(answer_s=10.0, retries=1, all_s=20.0)

_slots = threading.BoundedSemaphore(CONCURRENT_CALLS)


class _HeldSlot(threading.local):
    """The slot that this thread holds."""

    limits: TimeLimits | None = None
    until = 0.0


_held = _HeldSlot()


@contextmanager
def stripe_slot(limits: TimeLimits = PAGE_LIMITS) -> Iterator[TimeLimits]:
    """Held for one call, or around several. Raises StripeApiError if no slot is free, or if time is up."""
    if not connection.in_atomic_block:
        connection.close()  # back to the pool: others need it meanwhile
    if _held.limits is not None:
        if time.monotonic() > _held.until:
            raise StripeApiError("TookTooLong", None)
        yield _held.limits
        return
    if not _slots.acquire(timeout=SLOT_WAIT_S):
        log.warning("not calling Stripe: too many calls in progress", extra=fields(calls=CONCURRENT_CALLS))
        raise StripeApiError("TooManyCalls", None)
    _held.limits, _held.until = limits, time.monotonic() + limits.all_s
    try:
        yield limits
    finally:
        _held.limits = None
        _slots.release()


@lru_cache(maxsize=2)
def _client(secret_key: str, api_url: str, limits: TimeLimits) -> "StripeClient":
    import stripe

    stripe.enable_telemetry = False
    logging.getLogger("stripe").setLevel(logging.WARNING)  # it logs whole bodies, with addresses and secrets
    logging.getLogger("urllib3").setLevel(logging.WARNING)
    http = stripe.RequestsClient(timeout=(CONNECT_LIMIT_S, limits.answer_s))
    return stripe.StripeClient(
        secret_key, base_addresses={"api": api_url}, max_network_retries=limits.retries, http_client=http
    )


@contextmanager
def _stripe() -> Iterator[Any]:
    """Stripe's client, loosely typed: its answers are parsed in this module only."""
    import stripe

    try:
        with stripe_slot() as limits:
            yield _client(settings.ONLOOKER.stripe_secret_key, settings.ONLOOKER.stripe_api_url, limits).v1
    except stripe.StripeError as error:
        failure = StripeApiError(type(error).__name__, error.http_status, error.code)
        if not failure.is_missing:
            log.warning("Stripe refused or did not answer", extra=fields(error=str(failure)))
        raise failure from None


def create_customer(key: UUID, *, attempt: int) -> str:
    """Without an e-mail address: a repeated request then stays the same, even if the address has changed."""
    with _stripe() as stripe:
        created = stripe.customers.create(
            {"metadata": {KEY_NAME: str(key)}}, {"idempotency_key": f"customer-{key}-{attempt}"}
        )
    return str(created.id)


def delete_customer(stripe_id: str) -> None:
    """Ends its subscriptions too."""
    try:
        with _stripe() as stripe:
            stripe.customers.delete(stripe_id)
    except StripeApiError as error:
        if not error.is_missing:
            raise


def read_card(customer_id: str) -> Card | None:
    """The card that pays; raises StripeApiError, with is_missing if there is no such customer."""
    with _stripe() as stripe:
        customer = stripe.customers.retrieve(customer_id, {"expand": ["invoice_settings.default_payment_method"]})
    if getattr(customer, "deleted", False):
        raise StripeApiError("Deleted", 404)
    method = customer.invoice_settings.default_payment_method
    if method is None:
        return None
    card = getattr(method, "card", None)
    if card is None:
        return Card(method.id, str(method.type), "", "")
    return Card(method.id, str(card.brand).title(), card.last4, f"{card.exp_month:02}/{card.exp_year}")


def set_default_method(customer_id: str, payment_method: str, *, key: str) -> None:
    with _stripe() as stripe:
        stripe.customers.update(
            customer_id, {"invoice_settings": {"default_payment_method": payment_method}}, {"idempotency_key": key}
        )


def open_checkout(customer_id: str, *, email: str, return_url: str, cancel_url: str, key: str) -> tuple[str, str]:
    """A page at Stripe where a card is entered: its id and its URL."""
    with _stripe() as stripe:
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


def read_checkout(stripe_id: str) -> CheckoutSession:
    with _stripe() as stripe:
        session = stripe.checkout.sessions.retrieve(stripe_id, {"expand": ["setup_intent"]})
    intent = session.setup_intent
    method = intent.payment_method if intent is not None and intent.status == "succeeded" else None
    return CheckoutSession(str(session.status), str(session.customer), str(method or ""))


def expire_checkout(stripe_id: str) -> bool:
    """No card can be entered there any more. False if that comes too late, and the session may be complete."""
    try:
        with _stripe() as stripe:
            stripe.checkout.sessions.expire(stripe_id)
    except StripeApiError as error:
        if error.status != 400 and not error.is_missing:
            raise
        return error.is_missing
    return True


def create_subscription(customer_id: str, *, key: UUID, client_id: UUID, attempt: int) -> StripeSubscription:
    """Created even if the first payment fails; it is then incomplete until it is paid."""
    with _stripe() as stripe:
        created = stripe.subscriptions.create(
            {
                "customer": customer_id,
                "items": [{"price": settings.ONLOOKER.stripe_price}],
                "payment_behavior": "allow_incomplete",
                "metadata": {KEY_NAME: str(key), STREAM_NAME: str(client_id)},
                "expand": ["latest_invoice"],
            },
            {"idempotency_key": f"subscription-{key}-{attempt}"},
        )
    return _parse_subscription(created)


def list_subscriptions(customer_id: str) -> list[StripeSubscription]:
    """All that have not ended."""
    with _stripe() as stripe:
        found = stripe.subscriptions.list({"customer": customer_id, "limit": 100, "expand": ["data.latest_invoice"]})
        return [_parse_subscription(one) for one in found.auto_paging_iter()]


def read_subscription(stripe_id: str) -> StripeSubscription:
    with _stripe() as stripe:
        return _parse_subscription(stripe.subscriptions.retrieve(stripe_id, {"expand": ["latest_invoice"]}))


def cancel_subscription(stripe_id: str) -> None:
    """Immediately; it may have ended already."""
    try:
        with _stripe() as stripe:
            stripe.subscriptions.cancel(stripe_id)
    except StripeApiError as error:
        if not error.is_missing:
            raise


def pay_invoice(invoice_id: str, *, key: str) -> None:
    """Retry a payment. A declined card is no error: the subscription's status shows it."""
    try:
        with _stripe() as stripe:
            stripe.invoices.pay(invoice_id, {}, {"idempotency_key": key})
    except StripeApiError as error:
        if error.status not in (400, 402):  # 400: paid or void by now
            raise


def read_price() -> Price:
    with _stripe() as stripe:
        price = stripe.prices.retrieve(settings.ONLOOKER.stripe_price)
    if getattr(price, "recurring", None) is None:
        log.error("ONLOOKER_STRIPE_PRICE must name a recurring price", extra=fields(price=str(price.id)))
        raise StripeApiError("PriceNotRecurring", None)
    amount = getattr(price, "unit_amount_decimal", None)
    money = None if amount is None else Money(Decimal(amount), str(price.currency))
    return Price(money, str(price.recurring.interval), int(price.recurring.interval_count))


def list_invoices(customer_id: str, *, limit: int) -> list[Invoice]:
    with _stripe() as stripe:
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


def _parse_subscription(found: Any) -> StripeSubscription:
    invoice = found.latest_invoice
    return StripeSubscription(
        stripe_id=str(found.id),
        status=str(found.status),
        key=str(getattr(found.metadata, KEY_NAME, "")),
        invoice_id=str(invoice.id) if invoice is not None else "",
        invoice_url=str(getattr(invoice, "hosted_invoice_url", None) or ""),
    )
