"""How long a refusal takes does not tell whether there is an account; with a real password hasher."""

import random
import time

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db import connection
from django.test.utils import CaptureQueriesContext

from onlooker.console.accounts.models import Account
from onlooker.streams.administration import account_of
from sign_in_forms import sign_in_by_form

pytest_plugins = ["pages"]

TRIES = 25


class QuickerHasher(PBKDF2PasswordHasher):
    """The one in use with a tenth of its rounds, so that there can be more tries; differences show the better."""

    iterations = PBKDF2PasswordHasher.iterations // 10


@pytest.fixture
def real_hasher(settings) -> None:
    settings.PASSWORD_HASHERS = [f"{__name__}.QuickerHasher"]
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {"login": None, "login_failed": None, "signup": None}


def unlike(actions: dict, *, base: str, tries: int) -> dict[str, float]:
    """Which actions take another time than the base, as ratios; {} as soon as none does.

    Compared is the computing of the try of each that was disturbed least, taken in turns, in ever new order. On a busy
    machine a quiet try may be long in coming, so there are three times the tries before a difference is believed.
    """
    least: dict[str, float] = {}
    ratios: dict[str, float] = {}
    for number in range(3 * tries + 1):
        for name in random.sample(list(actions), len(actions)):
            started = time.thread_time()
            actions[name](number)
            took = time.thread_time() - started
            if number > 0:  # the first warms up
                least[name] = min(took, least.get(name, took))
        if number >= tries:
            ratios = {name: took / least[base] for name, took in least.items()}
            if all(0.9 < ratio < 1.1 for ratio in ratios.values()):
                return {}
    return {name: ratio for name, ratio in ratios.items() if not 0.9 < ratio < 1.1}


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_wrong_password_takes_the_same_time_for_every_kind_of_account(real_hasher, sign_in, db) -> None:
    password = "correct horse battery staple"
    known = Account.objects.create_user("known@example.org", password)
    known.emailaddress_set.create(email=known.email, verified=True, primary=True)
    Account.objects.create_user("unverified@example.org", password)
    Account.objects.create_user("disabled@example.org", password, is_active=False)
    account_of("made-by-command@example.org")

    def guess(name):
        return lambda _: sign_in_by_form(sign_in(None), f"{name}@example.org", "a wrong guess")

    names = ["nobody", "known", "unverified", "disabled", "made-by-command"]
    started = time.thread_time()
    guess("nobody")(0)
    assert time.thread_time() - started > 0.03, "this is no real hasher"
    assert unlike({name: guess(name) for name in names}, base="nobody", tries=TRIES) == {}


def test_the_database_is_asked_the_same_for_every_kind_of_account(sign_in, owner) -> None:
    account_of("made-by-command@example.org")
    asked = []
    for name in ("owner", "made-by-command", "nobody"):
        address = f"198.51.100.{len(asked)}"
        with CaptureQueriesContext(connection) as queries:
            sign_in_by_form(sign_in(None), f"{name}@example.org", "a wrong guess", REMOTE_ADDR=address)
        asked.append([query["sql"].split("WHERE")[0] for query in queries if "accounts_account" in query["sql"]])
    assert asked[0] == asked[1] == asked[2] != []


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_signing_up_takes_the_same_time_for_a_known_address(real_hasher, settings, sign_in, mailbox, db) -> None:
    """With all the rounds of the hasher: making an account costs more than finding one, and is small beside them."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
    for number in range(19):
        Account.objects.create_user(f"known{number}@example.org")

    def sign_up(email):
        values = {"password1": "seven lamps over the quay"}
        return lambda number: sign_in(None).post("/accounts/signup/", values | {"email": email.format(number)})

    assert (
        unlike({"new": sign_up("new{}@example.org"), "known": sign_up("known{}@example.org")}, base="new", tries=6)
        == {}
    )
