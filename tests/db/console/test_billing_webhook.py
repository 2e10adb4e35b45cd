"""What Stripe tells us: only if it is Stripe, each thing once, and in any order."""

import time

import pytest
from django.db import transaction
from django.test import Client

from onlooker.console.billing.models import Customer, Notice, StripeEvent, Subscription
from onlooker.console.billing.webhook import RELEVANT_TYPES
from payments import deliver, fail_payment, kind_of, live_subscriptions
from testkit.fake_stripe.webhooks import Delivery

pytest_plugins = ["pages", "stripes"]


@pytest.fixture
def told(person, entrance, stripe) -> list[Delivery]:
    """Signed by localstripe and the fake, about somebody whose payment failed after an upgrade; none arrived yet."""
    person.enter_card(person.ask_upgrade(entrance), "4242424242424242")
    customer = Customer.objects.get().stripe_id
    person.browser.get("/billing/done/")
    failed = fail_payment(stripe, Subscription.objects.get())
    stripe.webhooks.wait_for("customer.subscription.created", about=customer)
    stripe.webhooks.wait_for("invoice.payment_succeeded", about=customer)
    about = [one for one in stripe.webhooks.deliveries if customer.encode() in one.body]
    assert {one.event["type"] for one in about} >= {"checkout.session.completed", "customer.subscription.created"}
    return [*about, failed]


def end_state() -> tuple[object, ...]:
    row = Subscription.objects.get()
    notices = sorted(Notice.objects.values_list("kind", flat=True))
    return (
        row.status,
        row.told,
        row.wanted,
        row.stream.kind,
        notices,
        StripeEvent.objects.filter(handled_at=None).count(),
    )


def test_each_event_ten_times_is_handled_once(told, stripe):
    for one in told:
        assert {deliver(one) for _ in range(10)} == {200}
    ours = {one.event["id"] for one in told if one.event["type"].startswith(RELEVANT_TYPES)}
    assert set(StripeEvent.objects.values_list("stripe_id", flat=True)) == ours
    asked = len(stripe.asked)
    assert deliver(told[0]) == 200
    assert len(stripe.asked) == asked


def test_old_news_does_not_bring_back_what_was_cancelled(told, person, entrance, owner, stripe):
    person.browser.post(f"/billing/{entrance.client_id}/cancel/")
    for one in told:
        assert deliver(one) == 200
    assert kind_of(entrance) == "developer"
    assert live_subscriptions(stripe, owner) == []


@pytest.mark.parametrize("age_s", [301, 86_400])
def test_old_signature_is_refused(stripe, db, age_s):
    assert deliver(stripe.webhooks.sign("customer.updated", {}, at=int(time.time()) - age_s)) == 400


@pytest.mark.parametrize(
    "signature",
    ["", "garbage", "t=,v1=", "t=1,v1=\u00e9", "v1=00", "t=99999999999999999999,v1=aa", "t=nan,v1=a", "t=1=2,v1"],
)
def test_wrong_signature_is_refused(stripe, db, signature):
    assert deliver(stripe.webhooks.sign("customer.updated", {}), signature=signature) == 400
    assert not StripeEvent.objects.exists()


def test_signature_of_another_body_is_refused_with_a_problem(stripe, db):
    one, other = (stripe.webhooks.sign("customer.updated", {"id": name}) for name in "ab")
    answer = Client(SERVER_NAME="console.example.org").post(
        "/billing/webhook/", one.body, "application/json", secure=True, headers={"stripe-signature": other.signature}
    )
    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == "bad_request"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"\xff\xfe", 400),
        (b"[]", 400),
        (b"null", 400),
        (b'{"id": 1, "type": []}', 400),
        (b"[" * 100_000, 400),
        (b'{"id": "evt_1", "type": "customer.updated"}', 200),
        (b'{"id": "evt_1", "type": "customer.updated", "data": {"object": {"object": "customer", "id": {}}}}', 200),
        (b'{"id": "evt_1", "type": "customer.updated", "data": {"object": {"customer": "cus_\\u0000"}}}', 200),
        (b'{"id": "evt_1", "type": "radar.early_fraud_warning.created", "data": {"object": {}}}', 200),
    ],
)
def test_signed_nonsense_does_no_harm(stripe, db, body, status):
    at = int(time.time())
    try:
        signature = stripe.webhooks.signature_of(body, at=at)
        assert deliver(Delivery(body, signature)) == status
    finally:
        assert not StripeEvent.objects.exists()


def test_events_are_posted(stripe, db):
    assert Client(SERVER_NAME="console.example.org").get("/billing/webhook/", secure=True).status_code == 405


def test_any_order_and_repetition_gives_the_same_end(told, owner, stripe):
    again = [*told[::-1], *told[1:], told[0]]
    for is_answer_lost, order in ((False, again), (True, again[::-1])):
        with transaction.atomic():
            if is_answer_lost:
                Subscription.objects.update(stripe_id="", status="")
            assert {deliver(one) for one in order} == {200}
            assert end_state() == ("past_due", 1, True, "enterprise", ["payment_failed"], 0)
            assert len(live_subscriptions(stripe, owner)) == 1
            transaction.set_rollback(True)  # the next order begins where this one did


def test_subscription_deleted_at_stripe_makes_a_developer_stream(person, entrance, stripe):
    subscription = person.upgrade(entrance)
    ended = stripe.call("DELETE", f"/v1/subscriptions/{subscription.stripe_id}")
    event = stripe.webhooks.sign("customer.subscription.deleted", ended)
    assert deliver(event) == 200
    assert kind_of(entrance) == "developer"
    assert list(Notice.objects.values_list("kind", flat=True)) == ["ended"]


def test_customer_deleted_at_stripe_can_begin_anew(person, entrance, stripe):
    subscription = person.upgrade(entrance)
    stripe.call("DELETE", f"/v1/subscriptions/{subscription.stripe_id}")
    stripe.call("DELETE", f"/v1/customers/{subscription.customer.stripe_id}")
    gone = {"object": "customer", "id": subscription.customer.stripe_id}
    event = stripe.webhooks.sign("customer.deleted", gone)
    assert deliver(event) == 200
    assert kind_of(entrance) == "developer"
    person.stripe.asked.clear()
    answer = person.browser.post(f"/billing/{entrance.client_id}/upgrade/")
    person.enter_card(answer["Location"], "4242424242424242")
    person.browser.get("/billing/done/")
    assert kind_of(entrance) == "enterprise"
