"""Deleting an account: asked twice, and nothing of it is left."""

from datetime import timedelta

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.utils import timezone

from memberships import share_stream
from onlooker.console.accounts.deletion import delete_unconfirmed_accounts
from onlooker.console.accounts.models import Account
from onlooker.streams.administration import account_of, create_stream
from onlooker.streams.models import AccessToken, Membership, Organisation, Stream
from sign_in_forms import add_second_factor, confirm_identity, is_signed_in, sign_in_by_form, text_of

pytest_plugins = ["pages"]

ADDRESS = "/accounts/delete/"


def test_it_asks_who_one_is_and_for_the_address(sign_in, owner) -> None:
    browser = sign_in(owner)
    assert "reauthenticate" in browser.post(ADDRESS, {"email": owner.email}).headers["location"]
    browser = sign_in(owner)
    confirm_identity(browser)
    create_stream("Lobby", owner=owner, kind="developer")
    assert b"Lobby" in browser.get(ADDRESS).content
    assert browser.post(ADDRESS, {"email": "other@example.org"}).status_code == 200
    assert browser.post(ADDRESS).status_code == 200
    assert Account.objects.filter(pk=owner.pk).exists()


def test_everything_that_belongs_to_it_goes(sign_in, mailbox, owner, stranger) -> None:
    mine = create_stream("Lobby", owner=owner, kind="enterprise").stream
    other = create_stream("Yard", owner=stranger, kind="developer").stream
    share_stream(other, owner)
    share_stream(mine, stranger)
    elsewhere = sign_in(None)
    sign_in_by_form(elsewhere, owner.email)
    browser = sign_in(owner)
    add_second_factor(owner)
    confirm_identity(browser)
    answer = browser.post(ADDRESS, {"email": " OWNER@example.org "})
    assert answer.headers["location"] == "/accounts/login/"
    assert [is_signed_in(one) for one in (browser, elsewhere)] == [False, False]
    mine.refresh_from_db()
    assert (mine.organisation, mine.name, mine.removed_at is not None) == (None, "", True)
    assert not AccessToken.objects.filter(stream=mine).exists()
    assert [member.account for member in Membership.objects.all()] == [stranger]
    assert [one.name for one in Organisation.objects.all()] == ["stranger@example.org"]
    assert Stream.objects.get(pk=other.pk).removed_at is None
    for table in (EmailAddress, Authenticator, UserSession):
        assert not table.objects.filter(user_id=owner.pk).exists()
    assert list(Account.objects.all()) == [stranger]
    assert "has been deleted" in text_of(mailbox.to("owner@example.org")[0])


def test_the_address_is_free_again(sign_in, mailbox, owner) -> None:
    browser = sign_in(owner)
    confirm_identity(browser)
    browser.post(ADDRESS, {"email": owner.email})
    sign_in(None).post("/accounts/signup/", {"email": owner.email, "password1": "seven lamps over the quay"})
    assert mailbox.to(owner.email)[-1]["Subject"] == "Onlooker: Confirm your e-mail address"


def test_accounts_that_nobody_ever_confirmed_are_forgotten_after_a_week(sign_in, mailbox, owner) -> None:
    for email in ("old@example.org", "owns@example.org"):
        sign_in(None).post("/accounts/signup/", {"email": email, "password1": "seven lamps over the quay"})
    create_stream("Lobby", owner=account_of("owns@example.org"), kind="developer")
    account_of("made-by-command@example.org")
    assert delete_unconfirmed_accounts(timezone.now() + timedelta(days=6)) == 0
    assert delete_unconfirmed_accounts(timezone.now() + timedelta(days=8)) == 1
    assert not Account.objects.filter(email="old@example.org").exists()
    assert Account.objects.count() == 3
