"""A Stripe that takes requests and says nothing: everybody else is served, and no row stays locked for it."""

import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import msgspec
import pytest
from django.db import DatabaseError, connection, connections
from django.utils import timezone

from memberships import owner_of
from onlooker.console.accounts.deletion import erase_account
from onlooker.console.accounts.models import Account
from onlooker.console.billing import stripe_api
from onlooker.console.billing.models import Checkout, Customer, Subscription
from onlooker.console.billing.reconciliation import reconcile_customer, reconcile_due_customers
from onlooker.console.billing.stripe_api import CONCURRENT_CALLS, PAGE_LIMITS, StripeApiError
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Stream
from payments import GOOD_CARD, do_chores, kind_of, live_subscriptions
from wire import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
pytest_plugins = ["pages", "stripes"]
CLICKS = 8


def begin(work: Callable[[], object], *, answers: list[object]) -> threading.Thread:
    def run() -> None:
        try:
            answers.append(work())
        except (DatabaseError, StripeApiError) as error:  # the test says what it should have been
            answers.append(error)
        finally:
            connections.close_all()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


@pytest.fixture
def mute(stripe, settings) -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0), backlog=100) as hole:
        hole.settimeout(10)
        url = f"http://127.0.0.1:{hole.getsockname()[1]}"
        settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, stripe_api_url=url)
        yield hole


def other_connections(condition: str = "true") -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            f" AND backend_type = 'client backend' AND {condition}"
        )
        return cursor.fetchone()[0]


def waiting_for_locks() -> int:
    return other_connections("wait_event_type = 'Lock'")


def test_round_of_chores_begins_no_more_customers_when_its_time_is_over(owner, stranger, stripe, monkeypatch):
    for number, account in enumerate((owner, stranger)):
        Customer.objects.create(account=account, stripe_id=f"cus_{number}")
    monkeypatch.setattr("onlooker.console.billing.reconciliation.ROUND_LIMIT_S", -1.0)
    reconcile_due_customers(now=timezone.now())
    assert stripe.asked == []


def test_stream_is_not_locked_while_stripe_is_asked(person, entrance, owner, monkeypatch):
    person.upgrade(entrance)
    Stream.objects.filter(pk=entrance.pk).update(kind="developer")  # so that settling has something to set
    second = create_stream("Exit", owner=owner, kind="developer").stream
    Subscription.objects.create(stream=second, customer=Customer.objects.get())
    asked, go_on = slow_down(monkeypatch)
    answers: list[object] = []
    thread = begin(lambda: reconcile_customer(Customer.objects.get().pk, now=timezone.now()), answers=answers)
    assert asked.wait(10)
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM streams_stream WHERE id = %s FOR NO KEY UPDATE NOWAIT", [entrance.pk])
    go_on.set()
    thread.join(20)
    assert answers == [True]
    assert [kind_of(entrance), kind_of(second)] == ["enterprise", "enterprise"]


def test_settling_many_times_at_once_gives_one_subscription(person, entrance, owner, stripe):
    person.upgrade(entrance)
    answers: list[object] = []
    settle = [lambda: reconcile_customer(Customer.objects.get().pk, now=timezone.now()) for _ in range(6)]
    for thread in [begin(one, answers=answers) for one in settle]:
        thread.join(20)
    assert len(live_subscriptions(stripe, owner)) == 1
    assert True in answers


def slow_down(monkeypatch) -> tuple[threading.Event, threading.Event]:
    """Stripe makes the next subscription, and answers when it is told to."""
    asked, go_on = threading.Event(), threading.Event()
    create = stripe_api.create_subscription

    def wait(*values: object, **more: object) -> object:
        made = create(*values, **more)
        asked.set()
        assert go_on.wait(20)
        return made

    monkeypatch.setattr(stripe_api, "create_subscription", wait)
    return asked, go_on


@pytest.mark.parametrize(
    ("page", "calls", "kept_at_most"),
    [("upgrade", CONCURRENT_CALLS, 0), ("done", 1, CONCURRENT_CALLS), ("cancel", 1, CONCURRENT_CALLS)],
)
def test_pages_that_wait_for_stripe_keep_few_connections(
    *, page, calls, kept_at_most, sign_in, entrance, mute, monkeypatch
):
    owner = owner_of(entrance)
    customer = Customer.objects.create(account=owner, stripe_id="cus_1")
    Checkout.objects.create(customer=customer, stripe_id="cs_1")
    if page == "cancel":
        Subscription.objects.create(customer=customer, stream=entrance, stripe_id="sub_1", status="active")
    path = "/billing/done/" if page == "done" else f"/billing/{entrance.client_id}/{page}/"
    monkeypatch.setattr(stripe_api, "SLOT_WAIT_S", 0.1)
    before = other_connections()
    answers: list[object] = []
    browsers = [sign_in(owner) for _ in range(CLICKS)]
    ask = [browser.post if page == "cancel" else browser.get for browser in browsers]
    threads = [begin(lambda one=one: one(path).status_code, answers=answers) for one in ask]
    unanswered = [mute.accept()[0] for _ in range(calls)]
    wait_for(lambda: sum(thread.is_alive() for thread in threads), lambda count: count == CONCURRENT_CALLS)
    assert len(answers) == CLICKS - CONCURRENT_CALLS
    wait_for(other_connections, lambda count: count - before <= kept_at_most)
    for one in (*unanswered, mute):
        one.close()
    for thread in threads:
        thread.join(20)
    assert len(answers) == CLICKS
    assert set(answers) <= {302, 503}


def test_page_gives_up_after_one_call_that_is_not_answered(sign_in, owner, entrance, mute, monkeypatch):
    assert (PAGE_LIMITS.answer_s, PAGE_LIMITS.retries, PAGE_LIMITS.all_s) == (8.0, 0, 8.0)
    client = stripe_api._client
    monkeypatch.setattr(stripe_api, "_client", lambda *to: client(*to[:2], replace(to[2], answer_s=0.2)))
    Customer.objects.create(account=owner, stripe_id="cus_1")
    assert sign_in(owner).get(f"/billing/{entrance.client_id}/upgrade/").status_code == 503
    mute.accept()[0].close()
    mute.setblocking(False)
    with pytest.raises(BlockingIOError):
        mute.accept()


def test_account_removed_while_it_is_settled_does_not_get_stuck(person, entrance, owner, stripe, monkeypatch):
    person.enter_card(person.ask_upgrade(entrance), GOOD_CARD)
    customer = Customer.objects.get()
    asked, go_on = slow_down(monkeypatch)
    answers: list[object] = []
    threads = [begin(lambda: reconcile_customer(customer.pk, now=timezone.now()), answers=answers)]
    assert asked.wait(10)
    threads.append(begin(lambda: erase_account(Account.objects.get(pk=owner.pk)), answers=answers))
    wait_for(waiting_for_locks, lambda count: count == 1)
    go_on.set()
    for thread in threads:
        thread.join(20)
    assert sorted(map(str, answers)) == ["1", "True"]
    do_chores()
    assert not Customer.objects.exists()
    with pytest.raises(ValueError, match="Not Found"):
        stripe.call("GET", f"/v1/customers/{customer.stripe_id}")
