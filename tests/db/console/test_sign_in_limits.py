"""Guessing is throttled by account and address: a guesser does not keep the owner out."""

from concurrent.futures import ThreadPoolExecutor

from allauth.mfa.models import Authenticator
from django.core.cache import cache
from django.db import connection

from onlooker.console.accounts.deletion import delete_expired_counts
from sign_in_forms import add_second_factor, is_signed_in, link_in, sign_in_by_form, text_of

pytest_plugins = ["pages"]

GUESSER = "203.0.113.9"


def guess(browser, email, times, *, address=GUESSER):
    return [sign_in_by_form(browser, email, "a wrong guess", REMOTE_ADDR=address) for _ in range(times)]


def test_the_eleventh_wrong_try_of_a_minute_is_refused_and_known_accounts_do_not_differ(sign_in, owner) -> None:
    for email in (owner.email, "nobody@example.org"):
        answers = guess(sign_in(None), email, 12)
        assert [answer.status_code for answer in answers] == [200] * 10 + [429] * 2
        assert answers[-1].headers["retry-after"] == "60"


def test_even_the_right_password_is_refused_to_a_throttled_guesser(sign_in, owner) -> None:
    guess(sign_in(None), owner.email, 10)
    assert sign_in_by_form(sign_in(None), owner.email, REMOTE_ADDR=GUESSER).status_code == 429


def test_the_owner_gets_in_from_another_address(sign_in, owner) -> None:
    guess(sign_in(None), owner.email, 11)
    browser = sign_in(None)
    sign_in_by_form(browser, owner.email, REMOTE_ADDR="198.51.100.1")
    assert is_signed_in(browser)


def test_ipv6_addresses_count_by_network(sign_in, owner) -> None:
    for last in range(10):
        guess(sign_in(None), owner.email, 1, address=f"2001:db8::{last:x}")
    assert guess(sign_in(None), owner.email, 1, address="2001:db8::ffff")[0].status_code == 429
    assert guess(sign_in(None), owner.email, 1, address="2001:db8:0:1::1")[0].status_code == 200


def test_right_ones_do_not_count(sign_in, owner) -> None:
    for _ in range(12):
        assert sign_in_by_form(sign_in(None), owner.email).status_code == 302


def test_at_once_no_more_are_looked_at_than_one_after_the_other(sign_in, transactional_db) -> None:
    def guess_once(_: int) -> int:
        try:
            return guess(sign_in(None), "nobody@example.org", 1)[0].status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(guess_once, range(40)))
    assert set(answers) <= {200, 429}
    assert answers.count(200) <= 10


def test_wrong_codes_are_throttled_and_told(sign_in, mailbox, owner) -> None:
    add_second_factor(owner)
    browser = sign_in(None)
    sign_in_by_form(browser, owner.email)
    answers = [browser.post("/accounts/2fa/authenticate/", {"code": "000000"}).status_code for _ in range(11)]
    assert answers == [200] * 10 + [429]
    [mail] = mailbox.to(owner.email)
    assert "five wrong codes" in text_of(mail)
    assert Authenticator.objects.filter(user=owner).exists()


def test_one_address_cannot_fill_a_mailbox(sign_in, mailbox, owner) -> None:
    browser = sign_in(None)
    answers = [browser.post("/accounts/password/reset/", {"email": owner.email}).status_code for _ in range(12)]
    assert answers == [302] * 10 + [429] * 2, "over the limit of mails the page stays the same"
    assert len(mailbox.to(owner.email)) == 3
    browser.post("/accounts/password/reset/", {"email": owner.email}, REMOTE_ADDR="198.51.100.1")
    assert link_in(mailbox.to(owner.email)[3])


def test_signing_up_and_reauthenticating_have_limits(sign_in, mailbox, owner) -> None:
    stranger, browser = sign_in(None), sign_in(owner)
    values = {"email": "new@example.org", "password1": "short"}
    assert [stranger.post("/accounts/signup/", values).status_code for _ in range(11)] == [200] * 10 + [429]
    answers = [browser.post("/accounts/reauthenticate/", {"password": "wrong"}).status_code for _ in range(11)]
    assert answers == [200] * 10 + [429]


def test_counts_are_not_pushed_out_and_expired_ones_go(sign_in, owner) -> None:
    guess(sign_in(None), owner.email, 10)
    cache.set_many({f"something-{number}": number for number in range(400)}, timeout=-1)
    assert guess(sign_in(None), owner.email, 1)[0].status_code == 429
    assert delete_expired_counts() == 400
    assert guess(sign_in(None), owner.email, 1)[0].status_code == 429


def test_an_address_has_a_hundred_wrong_tries_a_minute_over_all_accounts(sign_in, db, settings) -> None:
    assert settings.ACCOUNT_RATE_LIMITS["login_failed"] == "10/m/key,100/m/ip"
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {"login_failed": "10/m/key,12/m/ip"}
    browser = sign_in(None)
    answers = [guess(browser, f"person{number}@example.org", 1)[0].status_code for number in range(14)]
    assert answers == [200] * 12 + [429] * 2


def test_many_addresses_cannot_either(sign_in, mailbox, owner) -> None:
    browser = sign_in(None)
    for number in range(34):
        browser.post("/accounts/password/reset/", {"email": owner.email}, REMOTE_ADDR=f"198.51.100.{number}")
    assert len(mailbox.to(owner.email)) == 10
