"""Events are in the outbox with what happened, and leave it when a receiver accepted them: at least once."""

import json
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import transaction
from django.utils import timezone

from onlooker.console.accounts.models import Account
from onlooker.console.webhooks import deliverer as deliverer_module
from onlooker.console.webhooks.endpoints import change_endpoint, replace_secret, replay, send_test
from onlooker.console.webhooks.outbox import BATCH, RETRY_AFTER_S, TRIES, delete_past_deliveries
from onlooker.console.webhooks.trouble_mails import send_disabled_mails
from onlooker.streams.organisations import RefusedError, organisation_of
from onlooker.webhooks import events
from onlooker.webhooks.events import emit, emit_many
from onlooker.webhooks.models import Delivery, Endpoint
from onlooker.webhooks.pinned_post import Trouble
from onlooker.webhooks.signature import sign
from testkit.mailbox import Mailbox
from testkit.webhook_receiver import ReceivedConnection, Receiver, answer, close, hang, running_receiver
from webhook_runs import deliver, webhook_in, webhook_of

pytest_plugins = ["pages", "consoles"]
pytestmark = pytest.mark.django_db(transaction=True)
EVENT = "device.enrolled"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("receiver")


@pytest.fixture
def receiver(folder: Path) -> Iterator[Receiver]:
    with running_receiver(folder) as one:
        yield one


def is_signed(request: ReceivedConnection, secret: str) -> bool:
    said = request.headers
    right = sign(secret, said["webhook-id"], int(said["webhook-timestamp"]), request.body)
    return right in said["webhook-signature"].split(" ")


def make_due(endpoint: Endpoint) -> None:
    """All that waits, now."""
    Endpoint.objects.filter(pk=endpoint.pk).update(rest_until=timezone.now())
    endpoint.waiting().update(next_try_at=timezone.now())


def test_an_event_is_delivered_signed_and_once(owner: Account, receiver: Receiver) -> None:
    made = webhook_of(owner, receiver)
    assert emit(organisation_of(owner), EVENT, {"device": "a"}) == 1
    deliver(receiver)
    (request,) = receiver.received
    delivery = Delivery.objects.get()
    assert json.loads(request.body) == json.loads(delivery.body)
    said = json.loads(request.body)
    assert (said["type"], said["organisation"], said["data"]) == (
        EVENT,
        made.endpoint.organisation_id,
        {"device": "a"},
    )
    assert request.headers["webhook-id"] == delivery.message_id
    assert request.header("content-type") == "application/json"
    assert is_signed(request, made.secret)
    assert (delivery.tries, delivery.last_status, delivery.delivered_at is not None) == (1, 204, True)
    assert deliver(receiver) == 0


def test_an_event_of_a_transaction_that_fails_never_was(owner: Account, receiver: Receiver) -> None:
    webhook_of(owner, receiver)
    with transaction.atomic():
        assert emit(organisation_of(owner), EVENT, {}) == 1
        transaction.set_rollback(True)
    assert not Delivery.objects.exists()


def test_an_endpoint_gets_the_events_it_chose_and_disabled_ones_none(
    owner: Account, viewer: Account, receiver: Receiver
) -> None:
    chosen = webhook_of(owner, receiver, events=["stream.silent"]).endpoint
    every = webhook_of(owner, receiver).endpoint
    off = webhook_of(owner, receiver).endpoint
    change_endpoint(off, enabled=False)
    webhook_of(viewer, receiver)
    emit(organisation_of(owner), EVENT, {})
    emit(organisation_of(owner), "stream.silent", {})
    assert emit(None, EVENT, {}) == 0, "a stream that was removed"
    assert list(chosen.deliveries.values_list("event", flat=True)) == ["stream.silent"]
    assert every.deliveries.count() == 2
    assert Delivery.objects.count() == 3
    with pytest.raises(ValueError, match="There is no event"):
        emit(organisation_of(owner), "stream.sneezed", {})


def test_a_queue_that_is_full_drops_and_counts(
    owner: Account, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MOST_WAITING", 5)
    webhook_of(owner, receiver)
    assert emit_many(organisation_of(owner), EVENT, [{"device": str(number)} for number in range(8)]) == 5
    assert emit(organisation_of(owner), EVENT, {}) == 0
    assert Delivery.objects.count() == 5
    with pytest.raises(ValueError, match="larger than"):
        emit(organisation_of(owner), EVENT, {"device": "a" * 30_000})


def test_a_failure_is_tried_again_later_and_later_and_then_given_up(owner: Account, receiver: Receiver) -> None:
    endpoint = webhook_of(owner, receiver).endpoint
    receiver.behaviour = answer(500)
    emit(organisation_of(owner), EVENT, {})
    for tries in range(1, TRIES + 1):
        deliver(receiver)
        delivery = Delivery.objects.get()
        assert (delivery.tries, delivery.last_status, delivery.last_reason) == (tries, 500, Trouble.STATUS)
        if tries < TRIES:
            wait = RETRY_AFTER_S[tries - 1]
            due_in = (delivery.next_try_at - timezone.now()).total_seconds()
            assert 0.9 * wait - 1 < due_in <= 1.1 * wait
            endpoint.refresh_from_db()
            assert endpoint.rest_until > timezone.now(), "others wait, too"
        make_due(endpoint)
    assert delivery.failed_at
    assert deliver(receiver) == 0
    assert len({request.headers["webhook-id"] for request in receiver.received}) == 1
    assert sum(RETRY_AFTER_S) >= 3 * 86_400


def test_a_receiver_that_recovers_gets_everything(owner: Account, receiver: Receiver) -> None:
    endpoint = webhook_of(owner, receiver).endpoint
    receiver.behaviour = close
    emit_many(organisation_of(owner), EVENT, [{"device": str(number)} for number in range(BATCH + 5)])
    deliver(receiver)
    failed = len(receiver.received)
    assert failed <= deliverer_module.LETTERS_AT_ONCE, "a receiver that fails is not asked for all of them"
    make_due(endpoint)
    deliver(receiver)
    assert len(receiver.received) == failed + 1, "one to see whether it is back"
    receiver.behaviour = answer(200)
    for _ in range(4):
        make_due(endpoint)
        deliver(receiver)
    assert not endpoint.waiting().exists()
    endpoint.refresh_from_db()
    assert (endpoint.failures, endpoint.failing_since) == (0, None)


def test_after_three_days_it_is_disabled_and_owners_are_told_once(
    owner: Account, receiver: Receiver, mailbox: Mailbox
) -> None:
    endpoint = webhook_of(owner, receiver, name="Tickets").endpoint
    receiver.behaviour = answer(503)
    emit(organisation_of(owner), EVENT, {})
    deliver(receiver)
    Endpoint.objects.update(failing_since=timezone.now() - timedelta(days=3))
    make_due(endpoint)
    deliver(receiver)
    endpoint.refresh_from_db()
    assert endpoint.disabled_why == Endpoint.Disabled.FAILED
    assert (send_disabled_mails(), send_disabled_mails()) == (1, 0)
    (mail,) = mailbox.to("owner@example.org")
    assert mail["Subject"] == "A webhook of owner@example.org was disabled"
    text = " ".join(mail.get_body(("plain",)).get_content().split())
    assert "Tickets" in text
    assert "no delivery succeeded for three days. 1 event waits" in text
    assert receiver.url not in text, "it may contain a secret"

    with pytest.raises(RefusedError, match="Enable it first"):
        send_test(endpoint)
    receiver.behaviour = answer(200)
    change_endpoint(endpoint, enabled=True)
    endpoint.waiting().update(next_try_at=timezone.now())
    deliver(receiver)
    assert Delivery.objects.get().delivered_at


def test_a_receiver_that_is_gone_is_disabled_at_once(owner: Account, receiver: Receiver) -> None:
    endpoint = webhook_of(owner, receiver).endpoint
    receiver.behaviour = answer(410)
    emit(organisation_of(owner), EVENT, {})
    deliver(receiver)
    endpoint.refresh_from_db()
    assert (endpoint.disabled_why, Delivery.objects.get().failed_at is None) == (Endpoint.Disabled.GONE, False)


def test_both_secrets_sign_for_a_day(owner: Account, receiver: Receiver) -> None:
    made = webhook_of(owner, receiver)
    new = replace_secret(made.endpoint)
    send_test(made.endpoint)
    deliver(receiver)
    assert is_signed(receiver.received[0], made.secret)
    assert is_signed(receiver.received[0], new)
    made.endpoint.secrets.exclude(expires_at=None).update(expires_at=timezone.now())
    send_test(made.endpoint)
    deliver(receiver)
    assert not is_signed(receiver.received[1], made.secret)
    assert is_signed(receiver.received[1], new)
    newest = replace_secret(made.endpoint)
    assert made.endpoint.secrets.count() == 2
    assert newest not in str(list(made.endpoint.secrets.values())), "sealed"


def test_a_delivery_is_sent_again_with_the_same_id(owner: Account, receiver: Receiver) -> None:
    webhook_of(owner, receiver)
    emit(organisation_of(owner), EVENT, {})
    deliver(receiver)
    again = replay(Delivery.objects.get())
    assert again.is_waiting
    deliver(receiver)
    first, second = receiver.received
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    assert Delivery.objects.get().delivered_at


def test_a_receiver_that_hangs_delays_no_other_organisation(
    owner: Account, viewer: Account, receiver: Receiver, tmp_path: Path
) -> None:
    with running_receiver(tmp_path) as slow:
        slow.behaviour = hang
        for _ in range(5):
            webhook_of(owner, slow)
        emit(organisation_of(owner), EVENT, {})
        webhook_of(viewer, receiver)
        emit(organisation_of(viewer), EVENT, {})
        started = time.monotonic()
        deliver(receiver, limit_s=4.0)
        got_after = Delivery.objects.get(endpoint__organisation=organisation_of(viewer)).delivered_at
        assert got_after
        took = time.monotonic() - started
        assert (timezone.now() - got_after).total_seconds() > took - 2.5, "it did not wait for the one that hangs"
        tried = Delivery.objects.filter(endpoint__organisation=organisation_of(owner), tries=1)
        assert tried.count() == deliverer_module.ENDPOINTS_OF_ORGANISATION, "the others have their turn later"


def test_two_deliverers_share_the_work(owner: Account, receiver: Receiver) -> None:
    """What one has reserved the other leaves alone."""
    endpoint = webhook_of(owner, receiver).endpoint
    emit(organisation_of(owner), EVENT, {})
    Endpoint.objects.update(rest_until=timezone.now() + timedelta(seconds=60))
    assert deliver(receiver) == 0
    make_due(endpoint)
    assert deliver(receiver) == 1


def test_old_deliveries_go(owner: Account, receiver: Receiver) -> None:
    webhook_in(organisation_of(owner), receiver)
    emit_many(organisation_of(owner), EVENT, [{}, {}])
    Delivery.objects.filter(pk=Delivery.objects.order_by("pk")[0].pk).update(
        created_at=timezone.now() - timedelta(days=15)
    )
    assert (delete_past_deliveries(), delete_past_deliveries()) == (1, 0)
    assert Delivery.objects.count() == 1
