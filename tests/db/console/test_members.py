"""People are invited to an organisation in two steps, many at once."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from memberships import invite_to, share_stream, site_of, viewers
from onlooker.audit.models import OrganisationChain
from onlooker.console.accounts.models import Account
from onlooker.console.members import invitations
from onlooker.console.members.forms import ADDRESSES_AT_ONCE
from onlooker.console.members.invitations import delete_expired_invitations
from onlooker.console.members.models import Invitation
from onlooker.streams.administration import create_stream
from onlooker.streams.models import MemberRole, Membership, Stream
from testkit.mailbox import Mailbox

pytest_plugins = ["pages"]
SignIn = Callable[[Account | None], Client]


@pytest.fixture
def stream(owner: Account) -> Stream:
    cache.clear()
    made = create_stream("Lobby", owner=owner, kind="developer").stream
    site_of(made)
    return made


def people_url(stream: Stream) -> str:
    return f"/organisations/{stream.organisation_id}/"


def ask(browser: Client, stream: Stream, emails: str, role: str = "viewer", **more: str) -> Any:
    given = {"emails": emails, "role": role} | ({"sites": [str(stream.site_id)]} if role == "viewer" else {})
    return browser.post(f"{people_url(stream)}invite/", given | more)


def confirm(browser: Client, stream: Stream, emails: str, role: str = "viewer") -> Any:
    return ask(browser, stream, emails, role, confirmed="yes")


def error_in(answer: Any, field: str = "emails") -> str:
    return str(answer.context["form"].errors[field][0])


def test_nobody_is_invited_before_somebody_confirmed(
    stream: Stream, owner: Account, sign_in: SignIn, mailbox: Mailbox
) -> None:
    browser = sign_in(owner)
    asked = ask(browser, stream, "Viewer@Example.org")
    page = asked.content.decode()
    assert asked.status_code == 200
    for words in ("viewer@example.org", "Lobby", "can get tokens for them with their Login and Password"):
        assert words in page
    assert (Invitation.objects.count(), mailbox.mails) == (0, [])

    assert confirm(browser, stream, "Viewer@Example.org").status_code == 302
    invitation = Invitation.objects.get()
    assert (invitation.email, invitation.role, invitation.invited_by) == ("viewer@example.org", "viewer", owner)
    assert [link.site_id for link in invitation.site_links.all()] == [stream.site_id]
    assert invitation.expires_at - invitation.invited_at == pytest.approx(timedelta(days=7), abs=timedelta(seconds=5))
    (mail,) = mailbox.mails
    text = mail.get_body(("plain",)).get_content()
    assert f"https://console.example.org/invitations/{invitation.pk}/" in text
    assert "owner@example.org" in mail["Subject"]
    assert "Lobby" not in mail.as_string(), "a site's name is free text: it must not travel to strangers"
    assert "viewer@example.org" in browser.get(people_url(stream)).content.decode()


def test_a_pasted_list_is_invited_at_once(stream: Stream, owner: Account, sign_in: SignIn, mailbox: Mailbox) -> None:
    emails = [f"shop{number}@example.org" for number in range(ADDRESSES_AT_ONCE)]
    pasted = ", ".join(emails[:20]) + "\n" + ";\r\n".join(emails[20:]) + "\nSHOP1@example.org\n"
    page = ask(sign_in(owner), stream, pasted, "analyst").content.decode()
    assert page.count("<li>shop") == ADDRESSES_AT_ONCE
    assert confirm(sign_in(owner), stream, pasted, "analyst").status_code == 302
    assert set(Invitation.objects.values_list("email", flat=True)) == set(emails)
    assert len(mailbox.mails) == ADDRESSES_AT_ONCE
    assert "Enter 1 to" in error_in(confirm(sign_in(owner), stream, pasted + " one@more.org", "analyst"))


@pytest.mark.parametrize("email", ["a@" + "ß" * 50 + ".com", "a@" + ("İ" * 20 + ".") * 10 + "com"])
def test_an_address_that_no_mail_can_go_to_is_refused_and_nobody_is_invited(
    stream: Stream, owner: Account, sign_in: SignIn, mailbox: Mailbox, email: str
) -> None:
    confirm(sign_in(owner), stream, email)
    assert (Invitation.objects.count(), mailbox.mails) == (0, [])


@pytest.mark.parametrize(
    ("emails", "complaint"),
    [
        ("owner@example.org", "Already a member: owner@example.org"),
        ("new@example.org viewer@example.org", "Already a member: viewer@example.org"),
        ("new@example.org no-address", "not an e-mail address: no-address"),
        (" , ", "Enter 1 to 50 addresses"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_reason(
    stream: Stream, owner: Account, sign_in: SignIn, mailbox: Mailbox, *, emails: str, complaint: str
) -> None:
    share_stream(stream, Account.objects.create_user("viewer@example.org"))
    for confirmed in ({}, {"confirmed": "yes"}):
        assert complaint in error_in(ask(sign_in(owner), stream, emails, **confirmed))
    assert (Invitation.objects.count(), mailbox.mails) == (0, [])


def test_a_viewer_needs_a_site_of_the_organisation(
    stream: Stream, owner: Account, stranger: Account, sign_in: SignIn
) -> None:
    foreign = site_of(create_stream("Theirs", owner=stranger, kind="developer").stream)
    for sites in ([], [str(foreign.pk)]):
        given = {"emails": "new@example.org", "role": "viewer", "sites": sites, "confirmed": "yes"}
        assert error_in(sign_in(owner).post(f"{people_url(stream)}invite/", given), "sites")
    assert not Invitation.objects.exists()


def test_the_same_address_is_invited_once(stream: Stream, owner: Account, sign_in: SignIn, mailbox: Mailbox) -> None:
    browser = sign_in(owner)
    confirm(browser, stream, "new@example.org")
    assert "Already invited: new@example.org" in error_in(confirm(browser, stream, "NEW@example.org"))
    assert len(mailbox.mails) == 1
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert confirm(browser, stream, "new@example.org").status_code == 302
    assert len(mailbox.mails) == 2


@pytest.mark.parametrize(
    ("chosen", "invited", "subject"),
    [
        ({}, "viewer", "owner@example.org invited you to their organisation"),
        ({"owner": "es"}, "viewer", "owner@example.org le ha invitado a unirse a su organización"),
        ({"owner": "es"}, "nobody", "owner@example.org le ha invitado a unirse a su organización"),
        ({"owner": "es", "viewer": "fr"}, "viewer", "owner@example.org vous a invité dans son organisation"),
    ],
)
def test_an_invitation_is_in_the_language_of_who_reads_it_or_else_of_who_invites(
    stream: Stream,
    owner: Account,
    viewer: Account,
    sign_in: SignIn,
    mailbox: Mailbox,
    *,
    chosen: dict[str, str],
    invited: str,
    subject: str,
) -> None:
    for account in (owner, viewer):
        account.language = chosen.get(account.email.partition("@")[0], "")
        account.save()
    confirm(sign_in(owner), stream, f"{invited}@example.org")
    assert [str(mail["Subject"]).strip() for mail in mailbox.mails] == [subject]  # a folded header begins with a space


def test_nobody_can_tell_who_has_an_account(
    stream: Stream, owner: Account, viewer: Account, sign_in: SignIn, mailbox: Mailbox
) -> None:
    browser = sign_in(owner)
    pages = []
    for email in ("viewer@example.org", "nobody@example.org"):
        confirm(browser, stream, email)
        page = browser.get(people_url(stream)).content.decode()
        pages.append(page.replace(email, "X").replace(str(Invitation.objects.get().pk), "ID"))
        Invitation.objects.all().delete()
    first, second = (page[page.index("<h1>") :] for page in pages)
    assert without_tokens(first) == without_tokens(second)


def without_tokens(page: str) -> list[str]:
    return [line for line in page.splitlines() if "csrf" not in line and "<time" not in line]


def test_an_organisation_has_room_for_so_many_people(
    stream: Stream, owner: Account, sign_in: SignIn, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(invitations, "PEOPLE_PER_ORGANISATION", 4)
    share_stream(stream, Account.objects.create_user("member@example.org"))
    invite_to(stream, "invited@example.org")
    assert "up to 4" in error_in(confirm(sign_in(owner), stream, "one@example.org two@example.org"))
    assert confirm(sign_in(owner), stream, "one@example.org").status_code == 302


def test_an_account_sends_so_many_invitations_an_hour(
    stream: Stream, owner: Account, sign_in: SignIn, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert invitations.MAILS_OF_ONE_SENDER == "200/h/key"
    monkeypatch.setattr(invitations, "MAILS_OF_ONE_SENDER", "3/h/key")
    assert confirm(sign_in(owner), stream, "a@example.org b@example.org c@example.org").status_code == 302
    assert "in the last hour" in error_in(confirm(sign_in(owner), stream, "more@example.org"))
    assert (len(mailbox.mails), Invitation.objects.count()) == (3, 3)


def test_nobody_is_invited_when_the_mail_can_not_be_sent(
    stream: Stream, owner: Account, sign_in: SignIn, mailbox: Mailbox, settings: Any
) -> None:
    settings.EMAIL_PORT = 1
    assert "mail server" in error_in(confirm(sign_in(owner), stream, "new@example.org other@example.org"))
    assert not Invitation.objects.exists()


def test_a_manager_invites_only_those_below(stream: Stream, sign_in: SignIn, viewer: Account, mailbox: Mailbox) -> None:
    share_stream(stream, viewer, MemberRole.MANAGER)
    browser = sign_in(viewer)
    for role in ("owner", "manager"):
        assert error_in(confirm(browser, stream, "new@example.org", role), "role")
    assert confirm(browser, stream, "new@example.org", "analyst").status_code == 302
    assert Invitation.objects.get().role == "analyst"
    above = invite_to(stream, "boss@example.org", role="owner")
    assert browser.post(f"{people_url(stream)}invitations/{above.pk}/revoke/").status_code == 404


def test_revoking_takes_effect_at_once(
    stream: Stream, owner: Account, viewer: Account, sign_in: SignIn, mailbox: Mailbox
) -> None:
    member = share_stream(stream, viewer)
    theirs = sign_in(viewer)
    assert theirs.get(f"/streams/{stream.client_id}/").status_code == 200
    assert sign_in(owner).post(f"{people_url(stream)}members/{member.pk}/remove/").status_code == 302
    assert theirs.get(f"/streams/{stream.client_id}/").status_code == 404

    invitation = invite_to(stream, "viewer@example.org")
    assert theirs.get(f"/invitations/{invitation.pk}/").status_code == 200
    url = f"{people_url(stream)}invitations/{invitation.pk}/revoke/"
    assert sign_in(owner).post(url).status_code == 302
    assert theirs.post(f"/invitations/{invitation.pk}/", {"answer": "accept"}).status_code == 404
    assert not viewers().exists()


def test_an_owner_changes_only_what_belongs_to_the_organisation(
    stream: Stream, owner: Account, viewer: Account, stranger: Account, sign_in: SignIn
) -> None:
    other = create_stream("Other", owner=stranger, kind="developer").stream
    member, invitation = share_stream(other, viewer), invite_to(other, "new@example.org")
    answers: list[HttpResponse] = [
        sign_in(owner).post(f"{people_url(stream)}{path}")
        for path in (
            f"members/{member.pk}/",
            f"members/{member.pk}/remove/",
            f"invitations/{invitation.pk}/revoke/",
            f"sites/{other.site_id}/",
            f"sites/{other.site_id}/remove/",
        )
    ]
    assert [answer.status_code for answer in answers] == [404] * 5
    assert (Membership.objects.filter(pk=member.pk).count(), Invitation.objects.count()) == (1, 1)


def test_expired_invitations_are_removed(stream: Stream) -> None:
    now = timezone.now()
    invite_to(stream, "old@example.org", expires_at=now - timedelta(seconds=1))
    invite_to(stream, "new@example.org")
    assert delete_expired_invitations() == 1
    assert Invitation.objects.get().email == "new@example.org"


@pytest.mark.django_db(transaction=True)
def test_removing_expired_invitations_never_holds_two_logs(stream: Stream, viewer: Account) -> None:
    """Somebody who holds the log of the second one can still get at the first: so nobody waits in a circle."""
    second = create_stream("Door", owner=viewer, kind="developer").stream
    for one in (stream, second):
        invite_to(one, "old@example.org", expires_at=timezone.now() - timedelta(seconds=1))
    deleted: list[int] = []

    def run_chore() -> None:
        deleted.append(delete_expired_invitations())
        connection.close()

    chore = threading.Thread(target=run_chore)
    with transaction.atomic():
        OrganisationChain.objects.select_for_update().get(organisation=second.organisation_id)
        chore.start()
        give_up_at = time.monotonic() + 10
        while Invitation.objects.filter(organisation=stream.organisation_id).exists():
            assert time.monotonic() < give_up_at, "the chore waits for the second one, and still holds the first"
            time.sleep(0.02)
        OrganisationChain.objects.select_for_update(nowait=True).get(organisation=stream.organisation_id)
    chore.join(10)
    assert deleted == [2]
    assert not Invitation.objects.exists()


def test_one_mailbox_gets_thirty_invitations_a_day(
    stream: Stream, owner: Account, sign_in: SignIn, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert invitations.MAILS_TO_ONE_MAILBOX == "30/d/key"
    monkeypatch.setattr(invitations, "MAILS_TO_ONE_MAILBOX", "6/d/key")
    browsers = [sign_in(owner)]
    streams = [stream]
    for number in range(1, 3):
        another = Account.objects.create_user(f"o{number}@example.org")
        browsers.append(sign_in(another))
        streams.append(create_stream("Other", owner=another, kind="developer").stream)
        site_of(streams[-1])
    for number in range(6):
        assert confirm(browsers[number % 3], streams[number % 3], "victim@example.org").status_code == 302
        Invitation.objects.all().delete()
    assert "many invitations today" in error_in(confirm(browsers[0], stream, "victim@example.org"))
    assert len(mailbox.mails) == 6
