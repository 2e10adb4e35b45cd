"""Clicking again and again, and leftovers at Stripe: there is an end to what is asked."""

from dataclasses import replace
from datetime import timedelta

from django.core.cache import cache
from django.utils import timezone

from onlooker.console.billing import stripe_api
from onlooker.console.billing.checkout import OPEN_CHECKOUTS_LIMIT
from onlooker.console.billing.models import Checkout, Customer, Subscription
from onlooker.streams.administration import create_stream
from payments import GOOD_CARD, do_chores, kind_of

pytest_plugins = ["pages", "stripes"]


def test_checkouts_are_throttled(person, entrance, stripe):
    codes = [person.browser.post("/billing/card/").status_code for _ in range(11)]
    assert codes == [303] * 10 + [429]
    assert person.browser.post(f"/billing/{entrance.client_id}/upgrade/").status_code == 429


def test_upgrades_are_throttled(person, owner, stripe):
    granted = create_stream("Granted", owner=owner, kind="enterprise").stream
    codes = [person.browser.post(f"/billing/{granted.client_id}/upgrade/").status_code for _ in range(31)]
    assert codes == [200] * 30 + [429]


def test_only_the_newest_checkouts_stay_open(person, entrance, stripe):
    urls = []
    for _ in range(OPEN_CHECKOUTS_LIMIT + 3):
        cache.clear()
        urls.append(person.browser.post("/billing/card/")["Location"])
    names = [url.rpartition("/")[2] for url in urls]
    assert list(Checkout.objects.order_by("id").values_list("stripe_id", flat=True)) == names[3:]
    assert [stripe.checkout.sessions[name]["status"] for name in names] == ["expired"] * 3 + [
        "open"
    ] * OPEN_CHECKOUTS_LIMIT
    person.enter_card(urls[-1], GOOD_CARD)
    person.browser.get("/billing/done/")
    assert "Visa ending in 4242" in person.browser.get("/billing/").content.decode()


def test_checkout_that_stripe_does_not_know_is_dropped(person, entrance):
    row = person.upgrade(entrance)
    Checkout.objects.create(customer=row.customer, stripe_id="cs_gone")
    do_chores(now=timezone.now() + timedelta(days=2))
    assert Customer.objects.get().failures == 0
    assert not Checkout.objects.filter(stripe_id="cs_gone").exists()


def test_subscription_that_expired_unpaid_is_not_cancelled_again(person, entrance, stripe, monkeypatch):
    person.upgrade(entrance)
    found = stripe_api.list_subscriptions

    def list_expired(customer_id: str) -> list[stripe_api.StripeSubscription]:
        return [replace(one, status="incomplete_expired") for one in found(customer_id)]

    monkeypatch.setattr(stripe_api, "list_subscriptions", list_expired)
    for days in (2, 4):
        do_chores(now=timezone.now() + timedelta(days=days))
    assert not [one for one in stripe.asked if one.method == "DELETE"]
    assert Customer.objects.get().failures == 0
    assert not Subscription.objects.exists()
    assert kind_of(entrance) == "developer"


def test_checkout_with_a_card_is_not_dropped_for_newer_ones(person, entrance, stripe, monkeypatch):
    monkeypatch.setattr("onlooker.console.billing.checkout.OPEN_CHECKOUTS_LIMIT", 2)
    person.enter_card(person.ask_upgrade(entrance), GOOD_CARD)
    for _ in range(3):
        person.browser.post("/billing/card/")
    person.browser.get("/billing/done/")
    assert kind_of(entrance) == "enterprise"
