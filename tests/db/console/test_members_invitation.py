"""An invitation is answered by the owner of the invited address, and tells others nothing."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import AnonymousUser
from django.template import Context, Template
from django.test import Client
from django.utils import timezone

from memberships import invite_to, organisation_with, share_stream, viewers
from onlooker.console.accounts.models import Account
from onlooker.console.members.invitations import mask_address, open_invitations
from onlooker.console.members.models import Invitation
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Stream

pytest_plugins = ["pages"]
SignIn = Callable[[Account | None], Client]


@pytest.fixture
def stream(owner: Account) -> Stream:
    made = create_stream("Lobby", owner=owner, kind="developer").stream
    theirs = organisation_with(made)
    theirs.name = "Museum"
    theirs.save()
    return made


@pytest.fixture
def invitation(stream: Stream) -> Invitation:
    return invite_to(stream, "viewer@example.org")


def url_of(invitation: Invitation) -> str:
    return f"/invitations/{invitation.pk}/"


def test_somebody_who_was_invited_sees_what_for_and_accepts(
    invitation: Invitation, stream: Stream, viewer: Account, sign_in: SignIn
) -> None:
    browser = sign_in(viewer)
    assert browser.get(f"/streams/{stream.client_id}/").status_code == 404
    page = browser.get(url_of(invitation)).content.decode()
    for words in ("Museum", "As a viewer", "Lobby", "owner@example.org"):
        assert words in page
    assert not viewers().exists()
    assert browser.post(url_of(invitation), {"answer": "accept"}).url == "/streams/"
    assert viewers().get().account == viewer
    assert browser.get(f"/streams/{stream.client_id}/").status_code == 200
    assert browser.get(url_of(invitation)).status_code == 404


def test_declining_leaves_nothing(invitation: Invitation, viewer: Account, sign_in: SignIn) -> None:
    assert sign_in(viewer).post(url_of(invitation), {"answer": "decline"}).url == "/streams/"
    assert (viewers().count(), Invitation.objects.count()) == (0, 0)


def test_an_answer_that_is_none_changes_nothing(invitation: Invitation, viewer: Account, sign_in: SignIn) -> None:
    assert sign_in(viewer).post(url_of(invitation), {"answer": "perhaps"}).status_code == 200
    assert (viewers().count(), Invitation.objects.count()) == (0, 1)


@pytest.mark.parametrize("who", ["nobody", "stranger"])
def test_others_see_only_for_whom_it_is(invitation: Invitation, stranger: Account, sign_in: SignIn, who: str) -> None:
    browser = sign_in(stranger if who == "stranger" else None)
    page = browser.get(url_of(invitation)).content.decode()
    assert "v...@example.org" in page
    for secret in ("viewer@example.org", "Lobby", "Museum", "owner@example.org"):
        assert secret not in page
    assert browser.post(url_of(invitation), {"answer": "accept"}).status_code == 404
    assert (viewers().count(), Invitation.objects.count()) == (0, 1)


def test_an_address_that_is_not_verified_is_not_enough(
    invitation: Invitation, viewer: Account, sign_in: SignIn
) -> None:
    EmailAddress.objects.filter(user=viewer).update(verified=False)
    assert not open_invitations(viewer)
    assert "Museum" not in sign_in(viewer).get(url_of(invitation)).content.decode()
    assert sign_in(viewer).post(url_of(invitation), {"answer": "accept"}).status_code == 404
    assert not viewers().exists()


def test_an_invitation_ends_after_its_time(invitation: Invitation, viewer: Account, sign_in: SignIn) -> None:
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert sign_in(viewer).post(url_of(invitation), {"answer": "accept"}).status_code == 404
    assert not open_invitations(viewer)
    assert not viewers().exists()


def test_a_viewer_who_accepts_another_invitation_sees_both_sites(
    invitation: Invitation, owner: Account, viewer: Account, sign_in: SignIn
) -> None:
    """As those that a release before sent for single streams."""
    other = create_stream("Yard", owner=owner, kind="developer").stream
    member = share_stream(other, viewer)
    assert sign_in(viewer).post(url_of(invitation), {"answer": "accept"}).status_code == 302
    assert viewers().get() == member
    assert {link.site.name for link in member.site_links.all()} == {"Lobby", "Yard"}


def test_an_invitation_lowers_no_role(invitation: Invitation, stream: Stream, viewer: Account, sign_in: SignIn) -> None:
    member = share_stream(stream, viewer, "manager")
    assert sign_in(viewer).post(url_of(invitation), {"answer": "accept"}).status_code == 302
    member.refresh_from_db()
    assert (member.role, member.site_links.count()) == ("manager", 0)


def test_open_invitations_stand_on_top_of_the_list_of_streams(
    invitation: Invitation, viewer: Account, stranger: Account
) -> None:
    assert list(open_invitations(viewer)) == [invitation]
    assert list(open_invitations(stranger)) == []
    shown = Template("{% load invitations %}{% show_invitations %}")
    page = shown.render(Context({"user": viewer}))
    assert shown.render(Context({"user": AnonymousUser()})).strip() == ""
    assert "Museum" in page
    assert url_of(invitation) in page


def test_a_mask_shows_only_the_beginning_and_the_host() -> None:
    assert mask_address("someone@example.org") == "s...@example.org"
