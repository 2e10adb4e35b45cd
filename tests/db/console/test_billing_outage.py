"""Stripe breaks or loses its answer in the middle of each step: nothing is lost, and nothing is done twice."""

import threading
from dataclasses import replace

import pytest
from django.db import connection

from console_people import make_account
from memberships import owner_of
from onlooker.console.billing import reconciliation
from onlooker.console.billing.models import Customer, StripeEvent, Subscription
from onlooker.console.billing.reconciliation import do_billing_chores
from onlooker.console.billing.stripe_api import CHORE_LIMITS
from onlooker.streams.administration import create_stream
from payments import Person, deliver, do_chores, kind_of, live_subscriptions

pytest_plugins = ["pages", "stripes"]

HOWS = ["down", "error", "lost"]


@pytest.fixture(autouse=True)
def _once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library repeats a request after half a second; here the next round of chores does."""
    monkeypatch.setattr(reconciliation, "CHORE_LIMITS", replace(CHORE_LIMITS, retries=0))


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("path", ["/v1/customers", "/v1/checkout/sessions"])
def test_checkout_that_cannot_be_opened_says_so_and_can_be_tried_again(person, entrance, stripe, how, path):
    stripe.break_at(how, method="POST", path=path)
    answer = person.browser.post(f"/billing/{entrance.client_id}/upgrade/")
    assert answer.status_code == 503
    assert "Stripe is not responding" in answer.content.decode()
    stripe.mend()
    person.upgrade(entrance)
    assert kind_of(entrance) == "enterprise"
    assert len(live_subscriptions(stripe, owner_of(entrance))) == 1


def test_cancelling_holds_while_stripe_is_away(person, entrance, owner, stripe):
    person.upgrade(entrance)
    stripe.break_at("down")
    page = person.browser.post(f"/billing/{entrance.client_id}/cancel/", follow=True).content.decode()
    assert "Subscription cancelled" not in page
    assert "as soon as it does" in page
    assert kind_of(entrance) == "developer"
    assert "It is being cancelled" in person.browser.get("/billing/").content.decode()
    stripe.mend()
    assert len(live_subscriptions(stripe, owner_of(entrance))) == 1
    do_chores()
    assert live_subscriptions(stripe, owner_of(entrance)) == []


def test_webhook_asks_to_be_sent_again_and_the_chores_handle_it_too(person, entrance, stripe):
    person.enter_card(person.ask_upgrade(entrance), "4242424242424242")
    stripe.break_at("down")
    event = stripe.webhooks.of_kind("checkout.session.completed")[-1]
    assert deliver(event) == 503
    assert StripeEvent.objects.get().error == "APIConnectionError"
    stripe.mend()
    do_chores()
    assert StripeEvent.objects.get().handled_at is not None
    assert kind_of(entrance) == "enterprise"
    assert deliver(event) == 200


def test_event_that_came_while_another_was_handled_is_handled_by_the_chores(person, entrance, stripe):
    row = person.upgrade(entrance)
    stripe.call("DELETE", f"/v1/subscriptions/{row.stripe_id}")
    StripeEvent.objects.create(stripe_id="evt_1", type="customer.subscription.deleted", customer=row.customer)
    do_billing_chores()
    assert kind_of(entrance) == "developer"
    assert StripeEvent.objects.get().handled_at is not None
    asked = len(stripe.asked)
    do_billing_chores()
    assert len(stripe.asked) == asked


def test_one_broken_subscription_does_not_hold_up_the_others(person, entrance, owner, stripe):
    row = person.upgrade(entrance)
    second = create_stream("Exit", owner=owner, kind="developer").stream
    stripe.break_at("error", method="POST", path="/v1/subscriptions")
    person.ask_upgrade(second)
    stripe.call("DELETE", f"/v1/subscriptions/{row.stripe_id}")
    do_chores()
    assert kind_of(entrance) == "developer"
    stripe.mend()
    do_chores()
    assert kind_of(second) == "enterprise"


def test_subscription_that_nobody_knows_of_is_cancelled(person, entrance, owner, stripe):
    person.upgrade(entrance)
    Subscription.objects.all().delete()  # a database brought back from yesterday
    Customer.objects.update(failures=1)
    do_chores()
    assert live_subscriptions(stripe, owner_of(entrance)) == []


@pytest.mark.parametrize(
    ("how", "step"),
    [
        ("down", "GET /v1/checkout/sessions"),
        ("error", "GET /v1/subscriptions"),
        ("down", "GET /v1/customers"),
        ("lost", "POST /v1/customers"),
        ("error", "POST /v1/subscriptions"),
        ("lost", "POST /v1/subscriptions"),
    ],
)
def test_upgrade_is_finished_later(person, entrance, stripe, how, step):
    method, _, path = step.partition(" ")
    person.enter_card(person.ask_upgrade(entrance), "4242424242424242")
    stripe.break_at(how, method=method, path=path)
    page = person.browser.get("/billing/done/", follow=True)
    assert "nothing is lost" in page.content.decode()
    assert kind_of(entrance) == "developer"
    do_chores()
    stripe.mend()
    do_chores()
    assert kind_of(entrance) == "enterprise"
    assert len(live_subscriptions(stripe, owner_of(entrance))) == 1


def test_waiting_grows_and_a_round_gives_up_soon(person, entrance, owner, stripe):
    person.upgrade(entrance)
    stripe.break_at("down")
    waits = []
    for _ in range(6):
        at = Customer.objects.get().settle_at
        do_billing_chores(now=at)
        waits.append((Customer.objects.get().settle_at - at).total_seconds())
    assert waits == [60, 120, 240, 480, 900, 900]


def test_two_clicks_at_a_time_give_one_subscription(transactional_db, stripe, sign_in):
    owner = make_account("owner@example.org")
    first, second = (create_stream(name, owner=owner, kind="developer").stream for name in ("Entrance", "Exit"))
    person = Person(sign_in(owner), stripe)
    person.upgrade(first)
    threads = [threading.Thread(target=_click, args=(sign_in(owner), second)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kind_of(second) == "enterprise"
    assert len(live_subscriptions(stripe, owner)) == 2
    assert stripe.count("POST", "/v1/subscriptions") == 2


def _click(browser, stream) -> None:
    try:
        browser.post(f"/billing/{stream.client_id}/upgrade/")
    finally:
        connection.close()
