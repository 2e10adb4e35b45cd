"""A plugin: people, browsers without a window, and a mail server, for tests of the console's pages."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.test import Client
from django.utils import translation

from onlooker.console.accounts.models import Account
from testkit.mailbox import Mailbox, running_mail_server

PASSWORD = "correct horse battery staple"


class Browser(Client):
    """Comes over HTTPS, unless told otherwise."""

    is_secure = True

    def generic(self, *arguments: Any, **values: Any) -> Any:
        return super().generic(*arguments, **values | {"secure": self.is_secure})


@pytest.fixture
def mailbox(settings: Any) -> Iterator[Mailbox]:
    with running_mail_server() as box:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", box.port
        settings.EMAIL_USE_TLS = False
        yield box


def make_account(email: str, **values: object) -> Account:
    account = Account.objects.create_user(email, PASSWORD, **values)
    EmailAddress.objects.create(user=account, email=email, verified=True, primary=True)
    return account


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
    """A browser in which somebody is signed in, or nobody. Django goes on in the language of the last page."""

    def open_browser(account: Account | None) -> Client:
        browser = Browser(SERVER_NAME="console.example.org", headers={"origin": "https://console.example.org"})
        if account:
            browser.force_login(account)
        return browser

    yield open_browser
    translation.deactivate()
