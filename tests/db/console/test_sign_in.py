"""Signing in and out, and what is the same for everybody who may not."""

import pytest

from onlooker.console.accounts.models import Account
from onlooker.streams.administration import account_of
from sign_in_forms import PASSWORD, is_signed_in, sign_in_by_form

pytest_plugins = ["pages"]


def test_the_right_password_lets_in(sign_in, owner) -> None:
    browser = sign_in(None)
    answer = sign_in_by_form(browser, "OWNER@example.org")
    assert (answer.status_code, answer.headers["location"]) == (302, "/streams/")
    assert is_signed_in(browser)


def test_one_comes_back_to_the_page_one_wanted_and_to_no_other_host(sign_in, owner) -> None:
    asked = sign_in(None).get("/accounts/")
    assert asked.headers["location"] == "/accounts/login/?next=/accounts/"
    values = {"login": owner.email, "password": PASSWORD}
    answers = [
        sign_in(None).post("/accounts/login/", values | {"next": to}) for to in ("/accounts/", "https://evil.example/")
    ]
    assert [answer.headers["location"] for answer in answers] == ["/accounts/", "/streams/"]


def test_wrong_ones_are_all_answered_alike(sign_in, mailbox, owner) -> None:
    account_of("made-by-command@example.org")
    Account.objects.create_user("unverified@example.org", PASSWORD)
    Account.objects.create_user("disabled@example.org", PASSWORD, is_active=False)
    names = ["owner", "made-by-command", "unverified", "disabled", "nobody"]
    pages = set()
    for name in names:
        answer = sign_in_by_form(sign_in(None), f"{name}@example.org", "wrong wrong wrong")
        assert answer.status_code == 200
        page = answer.content.decode().replace(name, "")
        pages.add(page.split("</h1>")[1].split("csrfmiddlewaretoken")[0])
        assert "The e-mail address or the password is wrong" in page
    assert len(pages) == 1
    assert mailbox.mails == []


def test_a_disabled_account_is_out_at_once(sign_in, owner) -> None:
    browser = sign_in(owner)
    assert is_signed_in(browser)
    Account.objects.filter(pk=owner.pk).update(is_active=False)
    assert not is_signed_in(browser)
    assert sign_in_by_form(sign_in(None), owner.email).headers["location"] == "/accounts/inactive/"


def test_signing_out_is_a_post(sign_in, owner) -> None:
    browser = sign_in(owner)
    browser.get("/accounts/logout/")
    assert is_signed_in(browser)
    assert browser.post("/accounts/logout/").headers["location"] == "/accounts/login/"
    assert not is_signed_in(browser)


def test_an_address_one_asked_to_change_to_does_not_sign_in(sign_in, owner) -> None:
    owner.emailaddress_set.create(email="other@example.org")
    assert b"The e-mail address or the password is wrong" in sign_in_by_form(sign_in(None), "other@example.org").content


@pytest.mark.parametrize("password", ["y" * 257, "y" * 100_000])
def test_a_password_that_nobody_can_have_is_just_wrong(sign_in, owner, password) -> None:
    answer = sign_in_by_form(sign_in(None), owner.email, password)
    assert b"The e-mail address or the password is wrong" in answer.content
