"""Changing and resetting a password."""

import msgspec

from onlooker.console.accounts.models import Account
from onlooker.streams.administration import account_of
from sign_in_forms import PASSWORD, is_signed_in, link_in, sign_in_by_form, text_of

pytest_plugins = ["pages"]

NEW = "a ladder by the white wall"


def ask_for_reset(browser, email):
    return browser.post("/accounts/password/reset/", {"email": email})


def follow(browser, mail):
    """Where the form is, and that the key is not in its address."""
    page = browser.get(link_in(mail), follow=True)
    [(address, _)] = page.redirect_chain
    assert "set-password" in address
    return address


def test_a_reset_lets_in_with_the_new_password_only_and_ends_all_sessions(sign_in, mailbox, owner) -> None:
    before, browser = sign_in(owner), sign_in(None)
    ask_for_reset(browser, owner.email)
    [mail] = mailbox.to(owner.email)
    browser.post(follow(browser, mail), {"password1": NEW, "password2": NEW})
    assert not is_signed_in(before)
    assert not is_signed_in(browser)
    assert b"The e-mail address or the password is wrong" in sign_in_by_form(browser, owner.email, PASSWORD).content
    sign_in_by_form(browser, owner.email, NEW)
    assert is_signed_in(browser)
    assert "A new password was set" in text_of(mailbox.to(owner.email)[1])


def test_a_reset_link_works_once(sign_in, mailbox, owner) -> None:
    browser = sign_in(None)
    ask_for_reset(browser, owner.email)
    [mail] = mailbox.to(owner.email)
    browser.post(follow(browser, mail), {"password1": NEW, "password2": NEW})
    assert b"does not work" in sign_in(None).get(link_in(mail)).content


def test_an_unknown_address_looks_the_same_and_gets_a_mail_too(sign_in, mailbox, owner) -> None:
    answers = [ask_for_reset(sign_in(None), email) for email in (owner.email, "nobody@example.org")]
    assert {answer.headers["location"] for answer in answers} == {"/accounts/password/reset/done/"}
    [mail] = mailbox.to("nobody@example.org")
    assert "has no active account" in text_of(mail)
    assert link_in(mail) == "/accounts/signup/"


def test_where_signing_up_is_closed_the_mail_does_not_offer_it(sign_in, mailbox, settings, db) -> None:
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, signup="closed")
    ask_for_reset(sign_in(None), "nobody@example.org")
    assert "signup" not in text_of(mailbox.mails[0])


def test_an_account_made_by_the_command_line_gets_a_password_by_a_reset_and_is_verified_then(
    sign_in, mailbox, db
) -> None:
    account_of("maker@example.org")
    browser = sign_in(None)
    ask_for_reset(browser, "maker@example.org")
    browser.post(follow(browser, mailbox.mails[0]), {"password1": NEW, "password2": NEW})
    sign_in_by_form(browser, "maker@example.org", NEW)
    assert not is_signed_in(browser)
    browser.post(link_in(mailbox.mails[-1]))
    assert is_signed_in(browser)


def test_without_mails_the_page_says_what_to_do(sign_in, settings, owner) -> None:
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, email_url="")
    assert b"onlooker account password" in ask_for_reset(sign_in(None), owner.email).content
    assert b"onlooker account password" in sign_in(owner).get("/accounts/email/").content


def test_a_change_needs_the_old_password_and_ends_other_sessions(sign_in, mailbox, owner) -> None:
    browser, other = sign_in(owner), sign_in(owner)
    values = {"oldpassword": "wrong", "password1": NEW, "password2": NEW}
    assert browser.post("/accounts/password/change/", values).status_code == 200
    key = browser.session.session_key
    answer = browser.post("/accounts/password/change/", values | {"oldpassword": PASSWORD})
    assert answer.headers["location"] == "/accounts/"
    assert is_signed_in(browser)
    assert browser.session.session_key != key
    assert not is_signed_in(other)
    assert Account.objects.get(pk=owner.pk).check_password(NEW)
    assert "was changed" in text_of(mailbox.to(owner.email)[0])
