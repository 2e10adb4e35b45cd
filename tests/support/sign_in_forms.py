"""What people do at the console's door, for tests: sign up, sign in, follow links in mails, type codes."""

import re
import time
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value
from django.core.cache import cache
from django.test import Client

from onlooker.console.accounts.models import Account

HOST = "https://console.example.org"
PASSWORD = "correct horse battery staple"
"""As in the plugin `pages`, which must not be imported."""


def sign_in_by_form(browser: Client, email: str, password: str = PASSWORD, **values: Any) -> Any:
    return browser.post("/accounts/login/", {"login": email, "password": password}, **values)


def is_signed_in(browser: Client) -> bool:
    return browser.get("/accounts/").status_code == 200


def confirm_identity(browser: Client, password: str = PASSWORD) -> None:
    """So that what needs it is not asked for again for some minutes."""
    assert browser.post("/accounts/reauthenticate/", {"password": password}).status_code == 302


def text_of(mail: Any) -> str:
    return str(mail.get_body(("plain",)).get_content())


def link_in(mail: Any) -> str:
    """The path of the first link, which must lead to the console."""
    found = re.search(r"https?://[^\s/]+(/\S*)", text_of(mail))
    assert found
    assert found[0].startswith(HOST + "/"), found[0]
    return found[1]


def add_second_factor(account: Account) -> str:
    """The secret of an authenticator app."""
    secret = generate_totp_secret()
    TOTP.activate(account, secret)
    return secret


def code_of(secret: str) -> str:
    """What the app shows now; waits where it would change within a moment."""
    left_s = 30 - time.time() % 30
    if left_s < 3:
        time.sleep(left_s)
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30)))


def forget_used_codes() -> None:
    """As if half a minute had passed: a code counts once."""
    cache.clear()


def second_factors(account: Account) -> set[str]:
    return set(Authenticator.objects.filter(user=account).values_list("type", flat=True))
