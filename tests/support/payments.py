"""What tests do with payments: a person before the pages, Stripe's events, failing payments."""

from datetime import datetime
from typing import Any

from django.test import Client
from django.utils import timezone

from onlooker.console.accounts.models import Account
from onlooker.console.billing.models import Customer, Subscription
from onlooker.console.billing.reconciliation import do_billing_chores
from onlooker.streams.models import Stream
from testkit.fake_stripe.stripe import YEARLY_PRICE, FakeStripe
from testkit.fake_stripe.webhooks import Delivery

GOOD_CARD = "4242424242424242"
FAILING_CARD = "4000000000000341"
"""Can be entered, and cannot be charged."""
CONFIRMED_CARD = "4000002500003155"
"""Each payment wants to be confirmed by its owner."""
DECLINED_CARD = "4000000000000002"


class Person:
    """The owner of streams, before the console's pages and Stripe's."""

    def __init__(self, browser: Client, stripe: FakeStripe) -> None:
        self.browser, self.stripe = browser, stripe

    def ask_upgrade(self, stream: Stream) -> str:
        """Where the console sends one to."""
        answer = self.browser.post(f"/billing/{stream.client_id}/upgrade/", {"form_key": str(stream.client_id)})
        assert answer.status_code in (302, 303)
        return answer["Location"]

    def enter_card(self, url: str, number: str) -> None:
        """On Stripe's page, without coming back."""
        self.stripe.checkout.enter_card(url.rpartition("/")[2], number=number)

    def upgrade(self, stream: Stream, *, number: str = GOOD_CARD) -> Subscription:
        """The whole way, for somebody without a card."""
        self.enter_card(self.ask_upgrade(stream), number)
        assert self.browser.get("/billing/done/").status_code == 302
        return Subscription.objects.get(stream=stream)

    def change_card(self, number: str, *, come_back: bool = True) -> None:
        self.enter_card(self.browser.post("/billing/card/")["Location"], number)
        if come_back:
            self.browser.get("/billing/done/")


def kind_of(stream: Stream) -> str:
    return Stream.objects.get(pk=stream.pk).kind


def deliver(delivery: Delivery, *, signature: str | None = None) -> int:
    """What the console answers to a webhook."""
    answer = Client(SERVER_NAME="console.example.org").post(
        "/billing/webhook/",
        delivery.body,
        content_type="application/json",
        headers={"stripe-signature": delivery.signature if signature is None else signature},
        secure=True,
    )
    return answer.status_code


def live_subscriptions(stripe: FakeStripe, owner: Account) -> list[dict[str, Any]]:
    """What Stripe charges this account for."""
    customer = Customer.objects.get(account=owner).stripe_id
    found: list[dict[str, Any]] = stripe.call("GET", f"/v1/subscriptions?customer={customer}&limit=100")["data"]
    return found


def use_card(stripe: FakeStripe, customer: str, number: str) -> None:
    """As staff could do it in Stripe's own pages."""
    method = {"type": "card", "card": {"number": number, "exp_month": "12", "exp_year": "2034", "cvc": "123"}}
    made = stripe.call("POST", "/v1/payment_methods", method)["id"]
    stripe.call("POST", f"/v1/payment_methods/{made}/attach", {"customer": customer})
    stripe.call("POST", f"/v1/customers/{customer}", {"invoice_settings": {"default_payment_method": made}})


def fail_payment(stripe: FakeStripe, subscription: Subscription) -> Delivery:
    """A payment for a running subscription is tried and fails; the event that Stripe sends then."""
    use_card(stripe, subscription.customer.stripe_id, FAILING_CARD)
    path = f"/v1/subscriptions/{subscription.stripe_id}"
    failed = stripe.call("POST", path, {"items": [{"plan": YEARLY_PRICE}]})  # a new period begins at once
    assert failed["status"] == "past_due"
    return stripe.webhooks.sign("customer.subscription.updated", failed)


def do_chores(*, now: datetime | None = None) -> None:
    """As they are done some time later, when all that was put off is due."""
    now = now or timezone.now()
    Customer.objects.filter(failures__gt=0).update(settle_at=now)
    do_billing_chores(now=now)
