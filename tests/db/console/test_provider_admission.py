"""Who gets in with an organisation's provider: never as somebody who has an account, never beyond the organisation."""

from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.utils import timezone

from onlooker.console.accounts.models import Account
from onlooker.console.accounts.sessions import PROVIDER_LIFETIME_LIMIT_S
from onlooker.console.sign_in.models import GroupRole, IdentityProvider, ProvenDomain
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Membership, Organisation
from onlooker.streams.organisations import add_member, create_organisation
from provider_sign_ins import PAGE, RETURN, begin, make_organisation, parameters_of, roles_of, says
from sign_in_forms import add_second_factor, code_of, confirm_identity, is_signed_in, link_in, sign_in_by_form, text_of
from testkit.lying_provider import running_lying_provider

pytest_plugins = ["pages"]

ALICE = "alice@acme.example"
AUTHENTICATE = "/accounts/2fa/authenticate/"


@pytest.fixture
def provider(settings, owner):
    settings.SIGN_IN_ALLOWS_LOOPBACK = True
    with running_lying_provider() as lying:
        lying.userinfo = {"email": ALICE, "email_verified": True, "groups": ["screens"]}
        make_organisation(owner, lying.issuer)
        yield lying


@pytest.fixture
def acme(provider):
    return Organisation.objects.get(name="Acme")


def come_back(browser, provider, **values):
    asked = parameters_of(begin(browser, **values))
    provider.nonce = asked["nonce"]
    return browser.get(RETURN, {"code": "a code", "state": asked["state"]})


def test_a_new_person_of_a_proven_domain_is_a_member_at_once(provider, sign_in, mailbox) -> None:
    browser = sign_in(None)
    assert come_back(browser, provider, next="/accounts/").headers["location"] == "/accounts/"
    account = Account.objects.get(email=ALICE)
    assert not account.has_usable_password()
    assert EmailAddress.objects.get(user=account).verified
    assert roles_of(ALICE) == {"Acme": "manager"}
    assert not mailbox.mails


def test_nothing_that_the_provider_says_about_people_is_stored(provider, sign_in) -> None:
    come_back(sign_in(None), provider)
    row = SocialAccount.objects.get()
    assert (row.uid, row.extra_data) == ("alice", {})


@pytest.mark.parametrize(
    "claims", [{"email_verified": False}, {"email_verified": None}, {"email": "alice@gmail.example"}]
)
def test_an_address_that_nobody_proved_is_confirmed_by_our_own_mail(provider, sign_in, mailbox, claims) -> None:
    provider.userinfo |= claims
    email = provider.userinfo["email"]
    browser = sign_in(None)
    assert come_back(browser, provider).headers["location"] == "/accounts/confirm-email/"
    assert not is_signed_in(browser)
    assert roles_of(email) == {}
    browser.post(link_in(mailbox.to(email)[0]))
    assert is_signed_in(browser)
    assert roles_of(email) == {"Acme": "manager"}


def test_without_mail_such_an_address_is_refused_with_the_remedy(provider, sign_in, monkeypatch) -> None:
    monkeypatch.setattr("onlooker.console.sign_in.admission.is_mail_on", lambda: False)
    provider.userinfo["email_verified"] = False
    answer = come_back(sign_in(None), provider)
    assert says(answer, "onlooker sign-in domain")
    assert not Account.objects.filter(email=ALICE).exists()


@pytest.mark.parametrize("is_verified", [True, False])
def test_an_account_that_exists_is_never_taken_over(provider, sign_in, owner, is_verified) -> None:
    """Whatever the provider says about the address, and although the domain is its own."""
    provider.userinfo |= {"email": owner.email, "email_verified": is_verified}
    ProvenDomain.objects.create(domain="example.org", organisation=Organisation.objects.get(name="Acme"))
    browser = sign_in(None)
    answer = come_back(browser, provider)
    assert answer.status_code == 403
    assert says(answer, "There is already an account")
    assert not is_signed_in(browser)
    assert not SocialAccount.objects.exists()


def test_an_address_that_somebody_else_asked_to_change_to_is_free(provider, sign_in, stranger) -> None:
    EmailAddress.objects.create(user=stranger, email=ALICE, verified=False, primary=False)
    browser = sign_in(None)
    come_back(browser, provider)
    assert is_signed_in(browser)


@pytest.mark.parametrize("email", [None, "", "not an address", 5, ["alice@acme.example"]])
def test_without_an_address_there_is_no_account(provider, sign_in, email) -> None:
    provider.userinfo["email"] = email
    assert says(come_back(sign_in(None), provider), "did not tell your e-mail address")


def test_the_strongest_group_counts_and_roles_follow(provider, sign_in) -> None:
    provider.userinfo["groups"] = ["numbers", "screens", "unknown"]
    come_back(sign_in(None), provider)
    assert roles_of(ALICE) == {"Acme": "manager"}
    provider.userinfo["groups"] = ["numbers"]
    come_back(sign_in(None), provider)
    assert roles_of(ALICE) == {"Acme": "analyst"}


@pytest.mark.parametrize("groups", [None, [], "", {}, [5, None, {}], ["x" * 300], "elsewhere"])
def test_without_a_group_nobody_gets_in(provider, sign_in, groups) -> None:
    provider.userinfo["groups"] = groups
    browser = sign_in(None)
    assert says(come_back(browser, provider), "None of your groups")
    assert not is_signed_in(browser)


def test_one_group_may_be_a_text(provider, sign_in) -> None:
    provider.userinfo["groups"] = "numbers"
    come_back(sign_in(None), provider)
    assert roles_of(ALICE) == {"Acme": "analyst"}


def test_everybody_else_has_the_default_role(provider, sign_in) -> None:
    IdentityProvider.objects.update(default_role="viewer")
    provider.userinfo["groups"] = []
    come_back(sign_in(None), provider)
    assert roles_of(ALICE) == {"Acme": "viewer"}


def test_groups_that_go_end_the_membership_and_groups_that_come_back_begin_it(provider, sign_in) -> None:
    browser = sign_in(None)
    come_back(browser, provider)
    provider.userinfo["groups"] = []
    assert come_back(sign_in(None), provider).status_code == 403
    assert roles_of(ALICE) == {}
    assert not_seen(browser)
    provider.userinfo["groups"] = ["numbers"]
    come_back(sign_in(None), provider)
    assert roles_of(ALICE) == {"Acme": "analyst"}


def not_seen(browser) -> bool:
    number = Organisation.objects.get(name="Acme").pk
    return browser.get(f"/organisations/{number}/").status_code == 404


def test_a_member_whom_an_owner_removed_stays_out_until_invited_again(provider, sign_in, acme) -> None:
    browser = sign_in(None)
    come_back(browser, provider)
    Membership.objects.get(account__email=ALICE).delete()
    assert not_seen(browser)
    again = sign_in(None)
    answer = come_back(again, provider)
    assert says(answer, "no longer a member")
    assert not is_signed_in(again)
    assert roles_of(ALICE) == {}
    add_member(acme, Account.objects.get(email=ALICE), "viewer")  # an invitation that was accepted
    come_back(again, provider)
    assert is_signed_in(again)


def test_the_last_owner_stays_one(provider, sign_in, owner, acme) -> None:
    GroupRole.objects.create(provider=acme.identity_provider, group="owners", role="owner")
    provider.userinfo["groups"] = ["owners"]
    come_back(sign_in(None), provider)
    Membership.objects.get(account=owner).delete()
    provider.userinfo["groups"] = ["numbers"]
    come_back(sign_in(None), provider)
    assert roles_of(ALICE) == {"Acme": "owner"}


def test_without_roles_by_group_only_members_get_in(provider, sign_in, owner, acme) -> None:
    GroupRole.objects.all().delete()
    assert says(come_back(sign_in(None), provider), "to invite alice@acme.example")
    assert not Account.objects.filter(email=ALICE).exists()
    connect(sign_in(owner), provider)
    browser = sign_in(None)
    come_back(browser, provider)
    assert is_signed_in(browser)
    assert roles_of(owner.email) == {"Acme": "owner"}


def connect(browser, provider):
    confirm_identity(browser)
    return come_back(browser, provider)


def test_who_is_signed_in_connects_the_account_after_confirming_who_they_are(
    provider, sign_in, owner, mailbox, django_capture_on_commit_callbacks
) -> None:
    browser = sign_in(owner)
    assert browser.post(PAGE).headers["location"].startswith("/accounts/reauthenticate/")
    with django_capture_on_commit_callbacks(execute=True):
        assert connect(browser, provider).headers["location"] == "/streams/"
    assert SocialAccount.objects.get().user == owner
    assert list(owner.security_events.values_list("action", "detail")) == [("provider.connected", "Acme")]
    assert any("Acme" in text_of(mail) for mail in mailbox.to(owner.email))
    again = sign_in(None)
    come_back(again, provider)
    assert is_signed_in(again)


def test_an_identity_belongs_to_one_account(provider, sign_in, owner, stranger, acme) -> None:
    connect(sign_in(owner), provider)
    assert says(connect(sign_in(stranger), provider), "belongs to another account")
    assert roles_of(stranger.email) == {}


def test_an_account_has_one_identity_at_a_provider(provider, sign_in, owner) -> None:
    connect(sign_in(owner), provider)
    provider.claims, provider.userinfo = {"sub": "bob"}, provider.userinfo | {"sub": "bob"}
    assert says(connect(sign_in(owner), provider), "connected with somebody else")


@pytest.mark.parametrize(
    "path",
    ["accounts/email/", "accounts/password/change/", "accounts/password/set/", "accounts/2fa/webauthn/add/",
     "accounts/delete/", "accounts/sessions/"],
)  # fmt: skip
def test_a_session_of_the_provider_does_not_change_the_account(provider, sign_in, path) -> None:
    browser = sign_in(None)
    come_back(browser, provider)
    for answer in (browser.get(f"/{path}"), browser.post(f"/{path}", {})):
        assert answer.headers["location"] == "/accounts/closed/"
    assert says(browser.get("/accounts/closed/"), "set a password by e-mail")


def test_a_session_of_the_provider_is_no_staff_and_changes_no_provider(provider, sign_in, owner, acme) -> None:
    owner.is_staff = owner.is_superuser = True
    owner.save()
    secret = add_second_factor(owner)
    browser = sign_in(owner)
    confirm_identity(browser)
    come_back(browser, provider)
    again = sign_in(None)
    assert come_back(again, provider).headers["location"] == AUTHENTICATE
    again.post(AUTHENTICATE, {"code": code_of(secret)})
    assert is_signed_in(again)
    assert again.get("/staff/", follow=True).redirect_chain[-1][0] == "/accounts/closed/"
    assert again.get(f"/organisations/{acme.pk}/sign-in/").status_code == 404


def test_a_second_factor_is_asked_for_and_the_session_still_has_its_bounds(provider, sign_in, owner, acme) -> None:
    other = create_organisation("Other", owner)
    secret = add_second_factor(owner)
    browser = sign_in(owner)
    confirm_identity(browser)
    come_back(browser, provider)
    again = sign_in(None)
    assert come_back(again, provider).headers["location"] == AUTHENTICATE
    assert not is_signed_in(again)
    assert again.post(AUTHENTICATE, {"code": code_of(secret)}).headers["location"] == "/streams/"
    assert again.get(f"/organisations/{other.pk}/").status_code == 404


def test_the_account_itself_signs_in_without_these_bounds(provider, sign_in, owner, acme) -> None:
    other = create_organisation("Other", owner)
    connect(sign_in(owner), provider)
    browser = sign_in(None)
    come_back(browser, provider)
    browser.post("/accounts/logout/")
    sign_in_by_form(browser, owner.email)
    assert browser.get(f"/organisations/{other.pk}/").status_code == 200


def test_a_session_of_the_provider_ends_after_half_a_day(provider, sign_in, monkeypatch) -> None:
    browser = sign_in(None)
    come_back(browser, provider)
    later = (timezone.now() + timedelta(seconds=PROVIDER_LIFETIME_LIMIT_S - 60)).timestamp()
    monkeypatch.setattr("onlooker.console.accounts.sessions.time.time", lambda: later)
    assert is_signed_in(browser)
    monkeypatch.setattr("onlooker.console.accounts.sessions.time.time", lambda: later + 120)
    assert not is_signed_in(browser)


def test_a_disabled_account_does_not_get_in(provider, sign_in) -> None:
    come_back(sign_in(None), provider)
    Account.objects.filter(email=ALICE).update(is_active=False)
    browser = sign_in(None)
    assert come_back(browser, provider).headers["location"] == "/accounts/inactive/"
    assert not is_signed_in(browser)


def test_two_organisations_share_nothing(provider, sign_in, stranger, settings: Any) -> None:
    """The same subject of another organisation's provider is somebody else, and no address is ours to give."""
    come_back(sign_in(None), provider)
    second = create_organisation("Second", stranger)
    row = IdentityProvider.objects.get()
    copied = IdentityProvider.objects.create(
        organisation=second, address="second", issuer=row.issuer, client_id="onlooker", sealed_secret=row.sealed_secret
    )
    GroupRole.objects.create(provider=copied, group="screens", role="owner")
    browser = sign_in(None)
    target = browser.post("/sign-in/second/").context["target"]
    asked = parameters_of(target)
    provider.nonce = asked["nonce"]
    answer = browser.get("/sign-in/second/return/", {"code": "a code", "state": asked["state"]})
    assert says(answer, "There is already an account")
    assert roles_of(ALICE) == {"Acme": "manager"}


def test_a_session_of_the_provider_reaches_its_organisation_only(provider, sign_in, owner, acme) -> None:
    """An organisation's provider could say that anybody is here: it opens nothing of others'."""
    other = create_organisation("Other", owner)
    streams = {
        one: create_stream(one.name, owner=owner, organisation=one, kind="developer").stream for one in (acme, other)
    }
    connect(sign_in(owner), provider)
    browser = sign_in(None)
    come_back(browser, provider)
    page = browser.get("/streams/").content.decode()
    assert str(streams[acme].client_id) in page
    assert str(streams[other].client_id) not in page
    assert browser.get(f"/streams/{streams[acme].client_id}/").status_code == 200
    for path in (
        "",
        "dashboard/",
        "dashboard/table.csv",
        "dashboard/table.parquet",
        "dashboard/report.pdf",
        "dashboard/live/",
        "settings/",
        "audit/",
    ):
        assert browser.get(f"/streams/{streams[other].client_id}/{path}").status_code == 404, path
    assert browser.get(f"/organisations/{other.pk}/").status_code == 404
    assert "Other" not in browser.get("/organisations/", follow=True).content.decode()
    assert "Other" not in browser.get("/accounts/").content.decode()
