"""Staff learns nothing by guessing in addresses what no page shows, and odd addresses break nothing."""

import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from onlooker.console.accounts.models import Account
from onlooker.gateway.models import Job
from onlooker.streams.administration import create_stream
from sign_in_forms import add_second_factor

pytest_plugins = ["pages"]
SignIn = Callable[[Account | None], Client]


@pytest.fixture
def door(staff: Account, sign_in: SignIn) -> Client:
    """A browser of somebody who may enter, and is no superuser."""
    Account.objects.filter(pk=staff.pk).update(is_superuser=False)
    add_second_factor(staff)
    return sign_in(Account.objects.get(pk=staff.pk))


@pytest.mark.parametrize(
    ("path", "lookup", "value"),
    [
        ("accounts/account", "password__startswith", "argon2"),
        ("accounts/account", "password", "!"),
        ("accounts/account", "email", "owner@example.org"),
        ("accounts/account", "id", "9" * 30),
        ("streams/stream", "organisation__memberships__account__password__startswith", "a"),
        ("streams/stream", "access_tokens__sha256", "a"),
        ("streams/usage", "stream__organisation__memberships__account__password__startswith", "a"),
        ("streams/membership", "account__password__startswith", "a"),
        ("members/invitation", "id__startswith", "a"),
        ("gateway/job", "attachments__0__startswith", "secret"),
        ("gateway/job", "params__contains", "a"),
    ],
)
def test_only_what_the_filters_offer_can_be_asked(door: Client, path: str, lookup: str, value: str) -> None:
    assert door.get(f"/staff/{path}/", {lookup: value}).status_code == 400


def test_the_filters_themselves_work(door: Client, owner: Account) -> None:
    now = timezone.now()
    stream = create_stream("Lobby", owner=owner, kind="developer").stream
    Job.objects.create(
        **{"job_id": uuid.uuid4(), "stream": stream, "service": "measure", "version": 1, "params": b""},
        **{"attachments": [], "request_id": "r", "accepted_at": now, "expires_at": now},
        deadline_at=now + timedelta(minutes=1),
    )
    questions = {
        "accounts/account": [{"is_active__exact": "1", "is_staff__exact": "0"}, {"o": "-1"}, {"q": "owner"}],
        "streams/stream": [{"kind__exact": "developer"}, {"enabled__exact": "1"}, {"removed_at__isempty": "1"}],
        "gateway/job": [{"state": "waiting"}, {"p": "1"}],
    }
    for path, asked in questions.items():
        for parameters in asked:
            answer = door.get(f"/staff/{path}/", parameters)
            assert answer.status_code == 200, parameters
            assert len(answer.context["cl"].result_list) >= 1, parameters
