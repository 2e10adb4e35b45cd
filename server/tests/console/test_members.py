"""An owner invites viewers in two steps, and revokes them at once."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from onlooker.audit.models import AuditChain
from onlooker.console.accounts.models import Account
from onlooker.console.members.invitations import delete_expired_invitations
from onlooker.console.members.models import Invitation
from onlooker.streams.administration import create_stream, remove_stream
from onlooker.streams.models import Member, Stream
from testkit.mailbox import Mailbox

pytest_plugins = ["pages"]
SignIn = Callable[[Account | None], Client]


@pytest.fixture
def stream(owner: Account) -> Stream:
    cache.clear()
    return create_stream("Lobby", owner=owner, kind="developer").stream


@pytest.fixture
def others(stranger: Account, staff: Account) -> list[Account]:
    return [stranger, staff]


def members_url(stream: Stream) -> str:
    return f"/streams/{stream.client_id}/members/"


def confirm(browser: Client, stream: Stream, email: str):
    return browser.post(f"{members_url(stream)}invite/", {"email": email, "confirmed": "yes"})


def error_in(answer) -> str:
    return str(answer.context["form"].errors["email"][0])


def test_nobody_is_invited_before_the_owner_confirmed(
    stream: Stream, owner: Account, sign_in: SignIn, mailbox: Mailbox
) -> None:
    browser = sign_in(owner)
    asked = browser.post(f"{members_url(stream)}invite/", {"email": "Viewer@Example.org"})
    page = asked.content.decode()
    assert asked.status_code == 200
    assert "viewer@example.org" in page
    assert "can get tokens for it with its Login and Password" in page
    assert "They can&#x27;t change it." in page or "They can't change it." in page
    assert (Invitation.objects.count(), mailbox.mails) == (0, [])

    assert confirm(browser, stream, "Viewer@Example.org").status_code == 302
    invitation = Invitation.objects.get()
    assert invitation.email == "viewer@example.org"
    assert invitation.expires_at - invitation.invited_at == pytest.approx(timedelta(days=7), abs=timedelta(seconds=5))
    (mail,) = mailbox.mails
    text = mail.get_body(("plain",)).get_content()
    assert f"https://console.example.org/invitations/{invitation.pk}/" in text
    assert "owner@example.org" in mail["Subject"]
    assert "Lobby" not in mail.as_string(), "a stream's name is free text: it must not travel to strangers"
    assert "viewer@example.org" in browser.get(members_url(stream)).content.decode()


@pytest.mark.parametrize("email", ["a@" + "ß" * 50 + ".com", "a@" + ("İ" * 20 + ".") * 10 + "com"])
def test_an_address_that_no_mail_can_go_to_is_refused_and_nobody_is_invited(
    stream: Stream, owner: Account, sign_in: SignIn, mailbox: Mailbox, email: str
) -> None:
    assert error_in(confirm(sign_in(owner), stream, email))
    assert not Invitation.objects.exists()


@pytest.mark.parametrize(
    ("email", "complaint"),
    [
        ("owner@example.org", "your own"),
        ("viewer@example.org", "already a viewer of this stream"),
        ("no address", "valid"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_reason(
    stream: Stream, sign_in: SignIn, mailbox: Mailbox, email: str, complaint: str
) -> None:
    Member.objects.create(stream=stream, account=Account.objects.create_user("viewer@example.org"))
    for confirmed in ({}, {"confirmed": "yes"}):
        answer = sign_in(stream.owner).post(f"{members_url(stream)}invite/", {"email": email} | confirmed)
        assert complaint in error_in(answer)
    assert (Invitation.objects.count(), mailbox.mails) == (0, [])


def test_the_same_address_is_invited_once(stream: Stream, owner: Account, sign_in: SignIn, mailbox: Mailbox) -> None:
    browser = sign_in(owner)
    confirm(browser, stream, "new@example.org")
    assert "already been invited" in error_in(confirm(browser, stream, "NEW@example.org"))
    assert len(mailbox.mails) == 1
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert confirm(browser, stream, "new@example.org").status_code == 302
    assert len(mailbox.mails) == 2


def test_an_owner_can_not_tell_who_has_an_account(
    stream: Stream, owner: Account, viewer: Account, sign_in: SignIn, mailbox: Mailbox
) -> None:
    browser = sign_in(owner)
    pages = []
    for email in ("viewer@example.org", "nobody@example.org"):
        confirm(browser, stream, email)
        page = browser.get(members_url(stream)).content.decode()
        pages.append(page.replace(email, "X").replace(str(Invitation.objects.get().pk), "ID"))
        Invitation.objects.all().delete()
    first, second = (page[page.index("<h1>") :] for page in pages)
    assert without_tokens(first) == without_tokens(second)


def without_tokens(page: str) -> list[str]:
    return [line for line in page.splitlines() if "csrf" not in line and "<time" not in line]


def test_a_stream_has_room_for_twenty_people(
    stream: Stream, owner: Account, sign_in: SignIn, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(10):
        Member.objects.create(stream=stream, account=Account.objects.create_user(f"m{number}@example.org"))
        Invitation.objects.create(stream=stream, email=f"i{number}@example.org")
    assert "up to 20" in error_in(confirm(sign_in(owner), stream, "one@example.org"))
    Invitation.objects.filter(email="i0@example.org").delete()
    assert confirm(sign_in(owner), stream, "one@example.org").status_code == 302


def test_an_account_sends_twenty_invitations_an_hour(
    stream: Stream, owner: Account, sign_in: SignIn, mailbox: Mailbox
) -> None:
    browser = sign_in(owner)
    for number in range(20):
        assert confirm(browser, stream, f"i{number}@example.org").status_code == 302
        Invitation.objects.all().delete()
    assert "in the last hour" in error_in(confirm(browser, stream, "more@example.org"))
    assert len(mailbox.mails) == 20
    assert not Invitation.objects.exists()


def test_one_mailbox_gets_thirty_invitations_a_day(stream: Stream, sign_in: SignIn, mailbox: Mailbox) -> None:
    browsers = [sign_in(stream.owner)]
    streams = [stream]
    for number in range(1, 3):
        another = Account.objects.create_user(f"o{number}@example.org")
        browsers.append(sign_in(another))
        streams.append(create_stream("Other", owner=another, kind="developer").stream)
    for number in range(30):
        assert confirm(browsers[number % 3], streams[number % 3], "victim@example.org").status_code == 302
        Invitation.objects.all().delete()
    assert "many invitations today" in error_in(confirm(browsers[0], stream, "victim@example.org"))
    assert len(mailbox.mails) == 30


def test_nobody_is_invited_when_the_mail_can_not_be_sent(
    stream: Stream, owner: Account, sign_in: SignIn, mailbox: Mailbox, settings
) -> None:
    settings.EMAIL_PORT = 1
    assert "could not be sent" in error_in(confirm(sign_in(owner), stream, "new@example.org"))
    assert not Invitation.objects.exists()


def test_revoking_takes_effect_at_once(
    stream: Stream, owner: Account, viewer: Account, sign_in: SignIn, mailbox: Mailbox
) -> None:
    member = Member.objects.create(stream=stream, account=viewer)
    theirs = sign_in(viewer)
    assert theirs.get(f"/streams/{stream.client_id}/").status_code == 200
    assert sign_in(owner).post(f"{members_url(stream)}{member.pk}/revoke/").status_code == 302
    assert theirs.get(f"/streams/{stream.client_id}/").status_code == 404

    invitation = Invitation.objects.create(stream=stream, email="viewer@example.org")
    assert theirs.get(f"/invitations/{invitation.pk}/").status_code == 200
    url = f"{members_url(stream)}invitations/{invitation.pk}/revoke/"
    assert sign_in(owner).post(url).status_code == 302
    assert theirs.post(f"/invitations/{invitation.pk}/", {"answer": "accept"}).status_code == 404
    assert not Member.objects.exists()


def test_only_the_owner_manages_viewers(
    stream: Stream, viewer: Account, others: list[Account], sign_in: SignIn, mailbox: Mailbox
) -> None:
    member = Member.objects.create(stream=stream, account=viewer)
    invitation = Invitation.objects.create(stream=stream, email="new@example.org")
    posts = ["invite/", f"{member.pk}/revoke/", f"invitations/{invitation.pk}/revoke/"]
    for account in (viewer, *others):
        browser = sign_in(account)
        assert browser.get(members_url(stream)).status_code == 404
        for path in posts:
            answer = browser.post(members_url(stream) + path, {"email": "x@example.org", "confirmed": "yes"})
            assert answer.status_code == 404
    assert sign_in(None).get(members_url(stream)).url.startswith("/accounts/login/")
    for path in posts:
        assert sign_in(stream.owner).get(members_url(stream) + path).status_code == 405
    assert (Member.objects.count(), Invitation.objects.count(), mailbox.mails) == (1, 1, [])


def test_an_owner_revokes_only_what_belongs_to_the_stream(
    stream: Stream, owner: Account, viewer: Account, stranger: Account, sign_in: SignIn
) -> None:
    other = create_stream("Other", owner=stranger, kind="developer").stream
    member = Member.objects.create(stream=other, account=viewer)
    invitation = Invitation.objects.create(stream=other, email="new@example.org")
    browser = sign_in(owner)
    assert browser.post(f"{members_url(stream)}{member.pk}/revoke/").status_code == 404
    assert browser.post(f"{members_url(stream)}invitations/{invitation.pk}/revoke/").status_code == 404
    assert (Member.objects.count(), Invitation.objects.count()) == (1, 1)


def test_a_viewer_leaves_by_itself(stream: Stream, owner: Account, viewer: Account, sign_in: SignIn) -> None:
    Member.objects.create(stream=stream, account=viewer)
    browser = sign_in(viewer)
    assert "Lobby" in browser.get(f"{members_url(stream)}leave/").content.decode()
    assert Member.objects.exists()
    assert browser.post(f"{members_url(stream)}leave/").url == "/streams/"
    assert not Member.objects.exists()
    assert browser.post(f"{members_url(stream)}leave/").status_code == 404
    assert sign_in(owner).post(f"{members_url(stream)}leave/").status_code == 404


def test_expired_invitations_are_removed(stream: Stream) -> None:
    now = timezone.now()
    Invitation.objects.create(stream=stream, email="old@example.org", expires_at=now - timedelta(seconds=1))
    Invitation.objects.create(stream=stream, email="new@example.org")
    assert delete_expired_invitations() == 1
    assert Invitation.objects.get().email == "new@example.org"


@pytest.mark.django_db(transaction=True)
def test_removing_expired_invitations_never_holds_the_logs_of_two_streams(stream: Stream, owner: Account) -> None:
    """Somebody who holds the log of the second one can still get at the first: so nobody waits in a circle."""
    second = create_stream("Door", owner=owner, kind="developer").stream
    for one in (stream, second):
        expired_at = timezone.now() - timedelta(seconds=1)
        Invitation.objects.create(stream=one, email="old@example.org", expires_at=expired_at)
    deleted: list[int] = []

    def run_chore() -> None:
        deleted.append(delete_expired_invitations())
        connection.close()

    chore = threading.Thread(target=run_chore)
    with transaction.atomic():
        AuditChain.objects.select_for_update().get(stream=second)
        chore.start()
        give_up_at = time.monotonic() + 10
        while Invitation.objects.filter(stream=stream).exists():
            assert time.monotonic() < give_up_at, "the chore waits for the second one, and still holds the first"
            time.sleep(0.02)
        AuditChain.objects.select_for_update(nowait=True).get(stream=stream)
    chore.join(10)
    assert deleted == [2]
    assert not Invitation.objects.exists()


def test_a_removed_stream_s_invitations_are_dead(stream: Stream, viewer: Account, sign_in: SignIn) -> None:
    invitation = Invitation.objects.create(stream=stream, email="viewer@example.org")
    remove_stream(stream)
    answer = sign_in(viewer).post(f"/invitations/{invitation.pk}/", {"answer": "accept"})
    assert answer.status_code == 404
    assert not Member.objects.exists()
