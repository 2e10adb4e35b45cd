"""A plugin: billing that is on, and a fake of Stripe beneath it."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from django.core.cache import cache
from django.test import Client

from onlooker.console.accounts.models import Account
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Stream
from payments import Person
from testkit.fake_stripe import FakeStripe, running_fake_stripe


@pytest.fixture(scope="session")
def running_stripe() -> Iterator[FakeStripe]:
    with running_fake_stripe() as fake:
        yield fake


@pytest.fixture
def stripe(running_stripe: FakeStripe, settings: Any) -> FakeStripe:
    """Billing is on; the fake is as new."""
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, **running_stripe.settings)
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    cache.clear()
    running_stripe.forget()
    return running_stripe


@pytest.fixture
def entrance(owner: Account) -> Stream:
    """A developer stream."""
    return create_stream("Entrance", owner=owner, kind="developer").stream


@pytest.fixture
def person(sign_in: Callable[[Account | None], Client], owner: Account, stripe: FakeStripe) -> Person:
    return Person(sign_in(owner), stripe)
