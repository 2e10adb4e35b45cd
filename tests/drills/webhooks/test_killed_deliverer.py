"""Events are in the outbox with what happened, and leave it when a receiver accepted them: at least once."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import timezone

from onlooker.console.accounts.models import Account
from onlooker.streams.organisations import organisation_of
from onlooker.webhooks.events import emit_many
from onlooker.webhooks.models import Delivery, Endpoint
from testkit.webhook_receiver import Receiver, answer, hang, running_receiver
from webhook_runs import webhook_of

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


def test_a_console_that_is_killed_in_between_loses_nothing(owner: Account, receiver: Receiver) -> None:
    """Killed while the receiver has the request and has not answered: it comes again, with the same id."""
    from consoles import running_console  # a plugin: pytest has to import it first

    endpoint = webhook_of(owner, receiver).endpoint
    receiver.behaviour = hang
    emit_many(organisation_of(owner), EVENT, [{"device": str(number)} for number in range(3)])
    settings = {
        "webhooks_allow_private": "127.0.0.0/8,::1/128",
        "webhooks_authority_file": receiver.authority,
    }
    with running_console(**settings) as console:
        receiver.wait_for(3)
        console.process.send_signal(signal.SIGKILL)
        console.process.wait(10)
    before = {request.headers["webhook-id"] for request in receiver.received}
    assert Delivery.objects.filter(tries=0, delivered_at=None).count() == 3
    endpoint.refresh_from_db()
    assert endpoint.rest_until > timezone.now(), "reserved, for a while"
    Endpoint.objects.update(rest_until=timezone.now())
    receiver.behaviour = answer(200)
    with running_console(**settings) as console:
        receiver.wait_for(6)
        ends_at = time.monotonic() + 10
        while endpoint.waiting().exists():
            assert time.monotonic() < ends_at
            time.sleep(0.05)
        assert console.count("onlooker_webhook_tries_total") == 3
    assert {request.headers["webhook-id"] for request in receiver.received[3:]} == before
    assert Delivery.objects.exclude(delivered_at=None).count() == 3
