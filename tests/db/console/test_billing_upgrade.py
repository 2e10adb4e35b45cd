"""Making a stream an enterprise entrance, with and without a card on file."""

from decimal import Decimal

import pytest
from django.utils import translation

from onlooker.console.billing.models import Subscription
from onlooker.console.billing.price_text import describe_cost, describe_payments
from onlooker.console.billing.stripe_records import Money, Price
from onlooker.streams.administration import create_stream
from onlooker.streams.models import StateChange
from payments import CONFIRMED_CARD, DECLINED_CARD, FAILING_CARD, deliver, kind_of, live_subscriptions

pytest_plugins = ["pages", "stripes"]


def test_page_says_what_it_costs(person, entrance):
    page = person.browser.get(f"/billing/{entrance.client_id}/upgrade/").content.decode()
    assert "25.00 EUR a month" in page
    assert "Enter card and subscribe" in page


@pytest.mark.parametrize(
    ("interval", "count", "cost", "payments"),
    [
        ("month", 1, "1,234.50 EUR a month", "You pay every month, in advance, by card."),
        ("month", 3, "1,234.50 EUR every 3 months", "You pay every 3 months, in advance, by card."),
        ("year", 1, "1,234.50 EUR a year", "You pay every year, in advance, by card."),
        ("week", 2, "1,234.50 EUR every 2 weeks", "You pay every 2 weeks, in advance, by card."),
        ("day", 1, "1,234.50 EUR a day", "You pay every day, in advance, by card."),
    ],
)
def test_what_it_costs_is_said_in_words(interval, count, cost, payments):
    price = Price(Money(Decimal(123450), "eur"), interval, count)
    assert (describe_cost(price), describe_payments(price)) == (cost, payments)
    assert describe_cost(Price(None, interval, count)) == ""


def test_amounts_are_written_as_the_reader_writes_them():
    with translation.override("de"):
        assert str(Money(Decimal(123450), "eur")) == "1.234,50 EUR"


def test_upgrade_without_a_card_goes_through_checkout(person, entrance, owner, stripe):
    url = person.ask_upgrade(entrance)
    assert url.startswith(f"{stripe.url}/pay/cs_test_")
    assert kind_of(entrance) == "developer"
    person.enter_card(url, "4242424242424242")
    page = person.browser.get("/billing/done/", follow=True).content.decode()
    assert "is now an enterprise stream" in page
    assert "Visa ending in 4242" in page
    assert kind_of(entrance) == "enterprise"
    [live] = live_subscriptions(stripe, owner)
    assert live["metadata"]["onlooker_stream"] == str(entrance.client_id)
    assert StateChange.objects.filter(stream=entrance).exists()


def test_webhook_alone_finishes_it_when_nobody_comes_back(person, entrance, stripe):
    person.enter_card(person.ask_upgrade(entrance), "4242424242424242")
    assert deliver(stripe.webhooks.of_kind("checkout.session.completed")[-1]) == 200
    assert kind_of(entrance) == "enterprise"


def test_second_stream_uses_the_card_on_file(person, entrance, owner, stripe):
    person.upgrade(entrance)
    second = create_stream("Exit", owner=owner, kind="developer").stream
    assert "Visa ending in 4242" in person.browser.get(f"/billing/{second.client_id}/upgrade/").content.decode()
    assert person.ask_upgrade(second) == "/billing/"
    assert kind_of(second) == "enterprise"
    assert len(live_subscriptions(stripe, owner)) == 2


def test_form_sent_twice_opens_one_checkout(person, entrance):
    assert person.ask_upgrade(entrance) == person.ask_upgrade(entrance)


def test_coming_back_again_changes_nothing(person, entrance, owner, stripe):
    person.upgrade(entrance)
    for _ in range(3):
        person.browser.get("/billing/done/")
    assert len(live_subscriptions(stripe, owner)) == 1
    person.browser.post(f"/billing/{entrance.client_id}/cancel/")
    person.browser.get("/billing/done/")
    assert kind_of(entrance) == "developer"
    assert live_subscriptions(stripe, owner) == []


def test_declined_card_leaves_a_developer_stream(person, entrance, stripe):
    url = person.ask_upgrade(entrance)
    with pytest.raises(ValueError, match="declined"):
        person.enter_card(url, DECLINED_CARD)
    person.browser.get("/billing/done/")
    assert kind_of(entrance) == "developer"
    assert not Subscription.objects.exists()


@pytest.mark.parametrize("number", [FAILING_CARD, CONFIRMED_CARD])
def test_unpaid_first_invoice_is_not_enterprise_yet(person, entrance, number):
    assert person.upgrade(entrance, number=number).status == "incomplete"
    assert kind_of(entrance) == "developer"
    assert "The first payment is not complete yet" in person.browser.get("/billing/").content.decode()


def test_other_card_pays_the_unpaid_first_invoice(person, entrance, owner, stripe):
    person.upgrade(entrance, number=FAILING_CARD)
    person.change_card("4242424242424242")
    assert kind_of(entrance) == "enterprise"
    assert len(live_subscriptions(stripe, owner)) == 1


def test_granted_enterprise_stream_asks_for_nothing(person, owner, stripe):
    granted = create_stream("Granted", owner=owner, kind="enterprise").stream
    assert "It was granted by staff" in person.browser.get(f"/billing/{granted.client_id}/upgrade/").content.decode()
    answer = person.browser.post(f"/billing/{granted.client_id}/upgrade/")
    assert answer.status_code == 200
    assert stripe.count("POST", "/v1/customers") == 0


def test_confirmed_first_payment_makes_it_enterprise(person, entrance, stripe):
    subscription = person.upgrade(entrance, number=CONFIRMED_CARD)
    invoices = stripe.call("GET", f"/v1/invoices?subscription={subscription.stripe_id}")["data"]
    payment = stripe.call("GET", f"/v1/payment_intents/{invoices[0]['payment_intent']}")
    confirmation = {"client_secret": payment["client_secret"], "success": "true"}
    stripe.call("POST", f"/v1/payment_intents/{payment['id']}/_authenticate", confirmation)
    paid = stripe.call("GET", f"/v1/invoices/{invoices[0]['id']}")
    event = stripe.webhooks.sign("invoice.payment_succeeded", paid)
    assert deliver(event) == 200
    assert kind_of(entrance) == "enterprise"
