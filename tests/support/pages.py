"""A plugin: people who sign in, and a mail server, for tests of the console's pages."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils import translation

from console_people import make_account, open_browser
from onlooker.console.accounts.models import Account
from testkit.mailbox import Mailbox, running_mail_server


@pytest.fixture
def mailbox(settings: Any) -> Iterator[Mailbox]:
    with running_mail_server() as box:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", box.port
        settings.EMAIL_USE_TLS = False
        yield box


@pytest.fixture
def owner(db: None) -> Account:
    return make_account("owner@example.org")


@pytest.fixture
def viewer(db: None) -> Account:
    return make_account("viewer@example.org")


@pytest.fixture
def stranger(db: None) -> Account:
    return make_account("stranger@example.org")


@pytest.fixture
def staff(db: None) -> Account:
    return make_account("staff@example.org", is_staff=True, is_superuser=True)


@pytest.fixture
def sign_in(db: None) -> Iterator[Callable[[Account | None], Client]]:
    """Django goes on in the language of the last page."""
    yield open_browser
    translation.deactivate()
