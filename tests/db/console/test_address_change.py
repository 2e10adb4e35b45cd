"""Changing the e-mail address: the new one is verified first, the old one is told."""

from allauth.account.models import EmailAddress

from onlooker.console.accounts.models import Account
from onlooker.streams.administration import account_of
from sign_in_forms import confirm_identity, is_signed_in, link_in, sign_in_by_form, text_of

pytest_plugins = ["pages"]

NEW = "new@example.org"


def ask_for_change(browser, email=NEW):
    return browser.post("/accounts/email/", {"action_add": "", "email": email})


def test_it_asks_who_one_is_first(sign_in, mailbox, owner) -> None:
    answer = ask_for_change(sign_in(owner))
    assert answer.headers["location"].startswith("/accounts/reauthenticate/")
    assert mailbox.mails == []


def test_the_address_changes_when_the_link_is_followed(sign_in, mailbox, owner) -> None:
    browser = sign_in(owner)
    confirm_identity(browser)
    ask_for_change(browser)
    assert Account.objects.get(pk=owner.pk).email == "owner@example.org"
    browser.post(link_in(mailbox.to(NEW)[0]))
    assert Account.objects.get(pk=owner.pk).email == NEW
    assert b"E-mail address changed" in browser.get("/accounts/events/").content
    assert list(EmailAddress.objects.values_list("email", "verified", "primary")) == [(NEW, True, True)]
    assert f"from owner@example.org to {NEW}" in text_of(mailbox.to("owner@example.org")[0])
    again = sign_in(None)
    sign_in_by_form(again, NEW)
    assert is_signed_in(again)


def test_an_address_of_somebody_else_cannot_be_taken_nor_told_from_others(sign_in, mailbox, owner, stranger) -> None:
    account_of("maker@example.org")
    browser = sign_in(owner)
    confirm_identity(browser)
    for email in (stranger.email, "maker@example.org"):
        assert ask_for_change(browser, email).headers["location"] == "/accounts/email/"
        browser.post(link_in(mailbox.to(email)[0]))
        assert Account.objects.get(pk=owner.pk).email == "owner@example.org"


def test_a_change_can_be_called_off(sign_in, mailbox, owner) -> None:
    browser = sign_in(owner)
    confirm_identity(browser)
    ask_for_change(browser)
    assert NEW in browser.get("/accounts/email/").content.decode()
    browser.post("/accounts/email/", {"action_remove": "", "email": NEW})
    assert b"does not work" in browser.get(link_in(mailbox.to(NEW)[0])).content
    assert EmailAddress.objects.get(user=owner).email == "owner@example.org"


def test_an_address_that_is_not_confirmed_opens_nothing(sign_in, mailbox, owner) -> None:
    """The holder of a mailbox that was typed by mistake can't set the account's password."""
    browser = sign_in(owner)
    confirm_identity(browser)
    ask_for_change(browser)
    sign_in(None).post("/accounts/password/reset/", {"email": NEW})
    assert "/password/reset/key/" not in "".join(text_of(mail) for mail in mailbox.to(NEW))


def test_an_address_that_somebody_else_has_not_confirmed_is_free(sign_in, mailbox, owner) -> None:
    browser = sign_in(owner)
    confirm_identity(browser)
    ask_for_change(browser)
    sign_in(None).post(
        "/accounts/signup/", {"email": NEW, "password1": "seven lamps over the quay"}, REMOTE_ADDR="198.51.100.7"
    )
    signed_up = Account.objects.get(email=NEW)
    sign_in(None).post(link_in(mailbox.to(NEW)[-1]))
    assert EmailAddress.objects.get(user=signed_up, email=NEW).verified
    browser.post(link_in(mailbox.to(NEW)[0]))
    assert Account.objects.get(pk=owner.pk).email == "owner@example.org", "it has an owner now"
