"""The work of a refusal does not tell whether there is an account: as much is hashed, and as much is asked."""

from collections.abc import Callable

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.db import connection
from django.test.utils import CaptureQueriesContext

from onlooker.console.accounts.models import Account
from onlooker.streams.administration import account_of
from sign_in_forms import sign_in_by_form

pytest_plugins = ["pages"]

hashed: list[str] = []


class CountingHasher(MD5PasswordHasher):
    """Computing a hash of the real one takes a second; nothing else of a refusal takes as long."""

    def encode(self, password: str, salt: str) -> str:
        hashed.append(password)
        return super().encode(password, salt)


@pytest.fixture
def hasher(settings) -> None:
    settings.PASSWORD_HASHERS = [f"{__name__}.CountingHasher"]
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {"login": None, "login_failed": None, "signup": None}


def hashed_by(act: Callable[[], object]) -> list[str]:
    hashed.clear()
    act()
    return list(hashed)


def test_a_wrong_password_is_hashed_once_for_every_kind_of_account(hasher, sign_in, owner) -> None:
    Account.objects.create_user("unverified@example.org", "correct horse battery staple")
    Account.objects.create_user("disabled@example.org", "correct horse battery staple", is_active=False)
    account_of("made-by-command@example.org")
    for name in ("nobody", "owner", "unverified", "disabled", "made-by-command"):
        by = hashed_by(lambda name=name: sign_in_by_form(sign_in(None), f"{name}@example.org", "a wrong guess"))
        assert len(by) == 1, name


def test_signing_up_hashes_as_much_for_a_known_address(hasher, sign_in, mailbox, owner) -> None:
    def sign_up(email: str) -> object:
        values = {"email": email, "password1": "seven lamps over the quay"}
        return sign_in(None).post("/accounts/signup/", values)

    new, known = (hashed_by(lambda email=email: sign_up(email)) for email in ("new@example.org", owner.email))
    assert len(new) == len(known) > 0


def test_the_database_is_asked_the_same_for_every_kind_of_account(sign_in, owner) -> None:
    account_of("made-by-command@example.org")
    asked = []
    for name in ("owner", "made-by-command", "nobody"):
        address = f"198.51.100.{len(asked)}"
        with CaptureQueriesContext(connection) as queries:
            sign_in_by_form(sign_in(None), f"{name}@example.org", "a wrong guess", REMOTE_ADDR=address)
        asked.append([query["sql"].split("WHERE")[0] for query in queries if "accounts_account" in query["sql"]])
    assert asked[0] == asked[1] == asked[2] != []
