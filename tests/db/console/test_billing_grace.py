"""A failed payment: seven days with mails, then a developer stream; or paid in between, and all is well."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from onlooker.console.billing.dunning import dunning_state_at
from onlooker.console.billing.models import GRACE_PERIOD, Notice, Subscription
from payments import deliver, do_chores, fail_payment, kind_of, live_subscriptions

pytest_plugins = ["pages", "stripes"]

DAY = timedelta(days=1)
SINCE = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.fixture
def failed_at(person, entrance, stripe, mailbox) -> datetime:
    assert deliver(fail_payment(stripe, person.upgrade(entrance))) == 200
    return Subscription.objects.get().past_due_since


def subjects(mailbox) -> list[str]:
    return [str(mail["Subject"]) for mail in mailbox.to("owner@example.org")]


def test_mails_come_at_once_and_three_and_one_day_before_the_end(failed_at, mailbox, entrance, owner, stripe):
    expected = []
    steps = {
        timedelta(0): "The payment for Entrance failed",
        4 * DAY: "Entrance becomes a developer stream in 3 days",
        6 * DAY: "Entrance becomes a developer stream in 1 day",
    }
    for after, subject in steps.items():
        do_chores(now=failed_at + after - timedelta(seconds=1))
        if after:
            assert subjects(mailbox) == expected
        do_chores(now=failed_at + after + timedelta(seconds=1))
        expected.append(subject)
        assert subjects(mailbox) == expected
        assert kind_of(entrance) == "enterprise"
    do_chores(now=failed_at + GRACE_PERIOD - timedelta(seconds=1))
    assert kind_of(entrance) == "enterprise"
    do_chores(now=failed_at + GRACE_PERIOD)
    assert kind_of(entrance) == "developer"
    assert subjects(mailbox) == [*expected, "The subscription for Entrance has ended"]
    assert live_subscriptions(stripe, owner) == []
    assert not Subscription.objects.exists()


def test_mails_say_what_to_do(failed_at, mailbox):
    do_chores()
    text = mailbox.mails[0].get_body(("plain",)).get_content()
    assert "https://console.example.org/billing/" in text
    assert f"{failed_at + GRACE_PERIOD:%Y, %H:%M} UTC" in text
    assert "https://console.example.org/billing/" in mailbox.mails[0].get_body(("html",)).get_content()


def test_page_says_until_when(failed_at, person):
    page = person.browser.get("/billing/").content.decode()
    assert "The last payment failed." in page
    assert f"{failed_at + GRACE_PERIOD:%Y, %H:%M} UTC" in page


def test_chores_that_were_away_write_only_the_newest_mail(failed_at, mailbox, entrance):
    Notice.objects.all().delete()
    do_chores(now=failed_at + 6 * DAY + timedelta(hours=1))
    assert subjects(mailbox) == ["Entrance becomes a developer stream in 1 day"]


def test_other_card_pays_at_once(failed_at, person, entrance, mailbox):
    do_chores(now=failed_at + 5 * DAY)
    person.change_card("4242424242424242")
    row = Subscription.objects.get()
    assert (row.status, row.past_due_since, row.told) == ("active", None, 0)
    do_chores()
    assert subjects(mailbox)[-1] == "The payment for Entrance went through"
    do_chores(now=failed_at + 8 * DAY)
    assert kind_of(entrance) == "enterprise"


def test_payment_at_stripe_is_noticed_without_its_webhook(failed_at, entrance, stripe):
    """The mail a day before the end asks Stripe first, and so does the end itself."""
    row = Subscription.objects.get()
    method = {
        "type": "card",
        "card": {"number": "4242424242424242", "exp_month": "1", "exp_year": "2034", "cvc": "1" * 3},
    }
    made = stripe.call("POST", "/v1/payment_methods", method)["id"]
    values = {"invoice_settings": {"default_payment_method": made}}
    stripe.call("POST", f"/v1/customers/{row.customer.stripe_id}", values)
    invoices = stripe.call("GET", f"/v1/invoices?subscription={row.stripe_id}")["data"]
    unpaid = [one["id"] for one in invoices if one["status"] == "open"]
    stripe.call("POST", f"/v1/invoices/{unpaid[0]}/pay")
    do_chores(now=failed_at + 9 * DAY)
    assert kind_of(entrance) == "enterprise"
    assert Subscription.objects.get().status == "active"


def test_second_failure_has_a_grace_of_its_own(failed_at, person, entrance, stripe):
    person.change_card("4242424242424242")
    row = Subscription.objects.get()
    stripe.call("POST", f"/v1/subscriptions/{row.stripe_id}", {"items": [{"plan": "price_enterprise"}]})
    assert deliver(fail_payment(stripe, row)) == 200
    assert Subscription.objects.get().past_due_since > failed_at
    assert Subscription.objects.get().told == 1


def test_mail_server_that_is_away_loses_no_mail(failed_at, mailbox, settings):
    port = settings.EMAIL_PORT
    settings.EMAIL_PORT = 1
    do_chores()
    assert Notice.objects.count() == 1
    settings.EMAIL_PORT = port
    do_chores()
    assert subjects(mailbox) == ["The payment for Entrance failed"]


def test_unverified_address_gets_no_mail(failed_at, owner, mailbox):
    owner.emailaddress_set.update(verified=False)
    do_chores()
    assert mailbox.mails == []
    assert not Notice.objects.exists()


@given(st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=20)))
def test_grace_only_goes_forward(after):
    grace = dunning_state_at(SINCE + after, since=SINCE)
    assert 1 <= grace.mails_due <= 3
    assert grace.is_over == (after >= GRACE_PERIOD)
    assert grace.next_at > SINCE + after or grace.is_over
    assert dunning_state_at(grace.next_at, since=SINCE).mails_due >= grace.mails_due


def test_missed_webhooks_heal_within_a_day(person, entrance, stripe):
    row = person.upgrade(entrance)
    fail_payment(stripe, row)
    do_chores(now=timezone.now() + timedelta(hours=23))
    assert Subscription.objects.get().past_due_since is None
    do_chores(now=timezone.now() + timedelta(hours=25))
    assert Subscription.objects.get().status == "past_due"
