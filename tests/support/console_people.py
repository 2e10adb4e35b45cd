"""People who have accounts, and browsers without a window in which they are signed in."""

from typing import Any

from allauth.account.models import EmailAddress
from django.test import Client

from onlooker.console.accounts.models import Account

PASSWORD = "correct horse battery staple"


class Browser(Client):
    """Comes over HTTPS, unless told otherwise."""

    is_secure = True

    def generic(self, *arguments: Any, **values: Any) -> Any:
        return super().generic(*arguments, **values | {"secure": self.is_secure})


def make_account(email: str, **values: object) -> Account:
    account = Account.objects.create_user(email, PASSWORD, **values)
    EmailAddress.objects.create(user=account, email=email, verified=True, primary=True)
    return account


def open_browser(account: Account | None) -> Client:
    """In which somebody is signed in, or nobody."""
    browser = Browser(SERVER_NAME="console.example.org", headers={"origin": "https://console.example.org"})
    if account:
        browser.force_login(account)
    return browser
