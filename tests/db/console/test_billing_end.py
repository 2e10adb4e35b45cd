"""The end of a subscription: cancelled by its owner, or with its stream or account."""

import msgspec
import pytest
from django.db.models import ProtectedError
from django.utils import timezone

from onlooker.console.billing.checkout import unsubscribe
from onlooker.console.billing.models import Checkout, Customer, Notice, StripeEvent, Subscription
from onlooker.console.billing.subscriptions import has_subscription
from onlooker.streams.administration import create_stream, remove_stream
from onlooker.streams.models import StateChange, Stream
from payments import do_chores, kind_of, live_subscriptions

pytest_plugins = ["pages", "stripes"]


def test_cancelling_asks_first_and_says_what_happens(person, entrance):
    person.upgrade(entrance)
    page = person.browser.get(f"/billing/{entrance.client_id}/cancel/").content.decode()
    assert "It ends immediately" in page
    assert "is not refunded" in page
    assert kind_of(entrance) == "enterprise"


def test_cancelling_makes_a_developer_stream_at_once(person, entrance, owner, stripe):
    person.upgrade(entrance)
    answer = person.browser.post(f"/billing/{entrance.client_id}/cancel/", follow=True)
    assert "Subscription cancelled. “Entrance” is now a developer stream." in answer.content.decode()
    assert kind_of(entrance) == "developer"
    assert live_subscriptions(stripe, owner) == []
    assert not Subscription.objects.exists()


def test_cancelled_stream_can_be_upgraded_again(person, entrance, owner, stripe):
    person.upgrade(entrance)
    person.browser.post(f"/billing/{entrance.client_id}/cancel/")
    assert person.ask_upgrade(entrance) == "/billing/"
    assert kind_of(entrance) == "enterprise"
    assert len(live_subscriptions(stripe, owner)) == 1


def test_upgrade_while_cancelling_is_stuck_gives_one_subscription(person, entrance, owner, stripe):
    person.upgrade(entrance)
    stripe.break_at("down", method="DELETE")
    unsubscribe(owner, entrance)
    assert kind_of(entrance) == "developer"
    person.ask_upgrade(entrance)
    stripe.mend()
    do_chores()
    assert kind_of(entrance) == "enterprise"
    assert len(live_subscriptions(stripe, owner)) == 1


def test_over_quota_is_logged_when_it_is_cancelled(person, entrance):
    person.upgrade(entrance)
    entrance.usage.create(month=timezone.now().date().replace(day=1), video_s=4 * 3600)
    person.browser.post(f"/billing/{entrance.client_id}/cancel/")
    assert StateChange.objects.filter(stream=entrance).latest("id").state == "quota"


def test_removed_stream_is_cancelled_by_the_chores(person, entrance, owner, stripe):
    person.upgrade(entrance)
    remove_stream(entrance)
    with pytest.raises(ProtectedError):
        entrance.delete()
    do_chores()
    assert live_subscriptions(stripe, owner) == []
    Stream.objects.get(pk=entrance.pk).delete()
    assert not Notice.objects.exists()


def test_removed_stream_is_retried_until_stripe_agrees(person, entrance, owner, stripe):
    person.upgrade(entrance)
    remove_stream(entrance)
    stripe.break_at("down", method="DELETE")
    do_chores()
    assert Subscription.objects.count() == 1
    assert Customer.objects.get().failures == 1
    stripe.mend()
    do_chores()
    assert not Subscription.objects.exists()
    assert live_subscriptions(stripe, owner) == []


@pytest.mark.parametrize("how", ["", "down", "error", "lost"])
def test_deleted_account_is_forgotten_by_stripe(person, entrance, owner, stripe, how):
    person.upgrade(entrance)
    customer = Customer.objects.get().stripe_id
    remove_stream(entrance)
    owner.delete()
    if how:
        stripe.break_at(how, method="DELETE")
        do_chores()
        stripe.mend()
    do_chores()
    with pytest.raises(ValueError, match="Not Found"):
        stripe.call("GET", f"/v1/customers/{customer}")
    assert not any(table.objects.exists() for table in (Customer, Subscription, StripeEvent, Checkout))


def test_customer_whose_making_got_no_answer_is_deleted_with_its_account(person, entrance, owner, stripe):
    stripe.break_at("lost", method="POST", path="/v1/customers")
    assert person.browser.post(f"/billing/{entrance.client_id}/upgrade/").status_code == 503
    stripe.mend()
    made = stripe.call("GET", "/v1/customers?limit=100")["total_count"]
    remove_stream(entrance)
    owner.delete()
    do_chores()
    assert stripe.call("GET", "/v1/customers?limit=100")["total_count"] == made - 1


def test_staff_can_ask_whether_a_stream_is_paid_for(person, entrance, owner):
    assert not has_subscription(entrance)
    person.upgrade(entrance)
    assert has_subscription(entrance)


def test_stream_that_staff_granted_is_left_alone(person, entrance, owner):
    granted = create_stream("Granted", owner=owner, kind="enterprise").stream
    person.upgrade(entrance)
    person.browser.post(f"/billing/{entrance.client_id}/cancel/")
    do_chores()
    assert kind_of(granted) == "enterprise"


def test_rows_are_not_in_the_way_once_billing_was_switched_off(person, entrance, owner, settings, caplog):
    subscription = person.upgrade(entrance)
    remove_stream(entrance)
    owner.delete()
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, stripe_secret_key="")
    do_chores()
    assert not any(table.objects.exists() for table in (Customer, Subscription))
    assert any(subscription.stripe_id in str(record.fields) for record in caplog.records if hasattr(record, "fields"))
