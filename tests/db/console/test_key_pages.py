"""The pages of an organisation's keys: created and shown once, listed, revoked; owners more than managers."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from memberships import owner_of, share_stream, site_of
from onlooker.audit.models import OrganisationEntry
from onlooker.console.accounts.models import Account
from onlooker.console.organisations import key_pages
from onlooker.keys.keys import create_key, find_key, streams_of
from onlooker.keys.models import OrganisationKey
from onlooker.streams.administration import create_stream
from onlooker.streams.models import MemberRole, Membership, Stream
from onlooker.streams.organisations import organisation_of

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[[Account | None], Client]
GIVEN = {"name": "Head office", "scopes": ["numbers"], "reach": "all", "days": "365"}


@pytest.fixture
def stream(owner: Account) -> Stream:
    return create_stream("Door", owner=owner, kind="developer").stream


@pytest.fixture
def path(stream: Stream) -> str:
    return f"/organisations/{stream.organisation_id}/keys/"


@pytest.fixture
def manager(stream: Stream, viewer: Account) -> Account:
    share_stream(stream, viewer, MemberRole.MANAGER)
    return viewer


def key_in(page: str) -> str:
    found = re.search(r'id="key">(onl_[\w-]+)<', page)
    assert found, page
    return found[1]


def create(browser: Client, path: str, **changes: Any) -> str:
    answer = browser.post(f"{path}new/", GIVEN | changes)
    assert answer["Cache-Control"] == "no-store"
    return key_in(answer.content.decode())


def test_a_key_is_shown_once_then_listed_then_revoked(sign_in: SignIn, owner: Account, path: str) -> None:
    browser = sign_in(owner)
    assert f'href="{path}"' in browser.get(path.removesuffix("keys/")).content.decode()
    assert "There is no key." in browser.get(path).content.decode()
    text = create(browser, path)
    key = OrganisationKey.objects.get()
    assert (key.role, key.reaches_all, key.created_by) == ("manager", True, owner)
    assert find_key(text) == key
    page = browser.get(path).content.decode()
    assert text not in page
    for words in (f"{text[:12]}…", "Head office", "numbers", "all streams", "owner@example.org"):
        assert words in page
    asked = browser.get(f"{path}{key.pk}/revoke/").content.decode()
    assert "within a minute" in asked
    answer = browser.post(f"{path}{key.pk}/revoke/")
    assert answer["Location"] == path
    assert find_key(text) is None
    page = browser.get(path).content.decode()
    assert "is revoked." in page
    assert "revoked <time" in page
    assert browser.get(f"{path}{key.pk}/revoke/").status_code == 404
    actors = OrganisationEntry.objects.filter(action__startswith="key.").values_list("actor", "action")
    assert list(actors) == [(f"account:{owner.pk}", "key.created"), (f"account:{owner.pk}", "key.revoked")]


def test_a_key_for_some_sites_and_streams(sign_in: SignIn, owner: Account, stream: Stream, path: str) -> None:
    other = create_stream("Till", owner=owner, kind="developer").stream
    create_stream("Quay", owner=owner, kind="developer")
    browser, site = sign_in(owner), site_of(stream)
    create(browser, path, reach="some", sites=[site.pk], streams=[other.pk], scopes=["numbers", "frames"], days="")
    key = OrganisationKey.objects.get()
    assert (key.reaches_all, key.expires_at, key.scopes) == (False, None, ["numbers", "frames"])
    assert set(streams_of(key)) == {stream, other}
    assert "Door, Till" in browser.get(path).content.decode()
    site.delete()
    other.delete()
    assert "its sites and streams are gone" in browser.get(path).content.decode()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"scopes": []}, "This field is required"),
        ({"scopes": ["all"]}, "Select a valid choice"),
        ({"name": ""}, "This field is required"),
        ({"reach": "some"}, "Choose at least one site or stream"),
        ({"days": "366"}, "Select a valid choice"),
        ({"reach": "some", "sites": ["1000000"]}, "Select a valid choice"),
    ],
)
def test_what_is_refused(sign_in: SignIn, owner: Account, path: str, changes: dict[str, Any], words: str) -> None:
    page = sign_in(owner).post(f"{path}new/", GIVEN | changes).content.decode()
    assert words in page
    assert not OrganisationKey.objects.exists()


def test_what_is_chosen_below_is_not_given_to_a_key_for_all(
    sign_in: SignIn, owner: Account, stream: Stream, path: str
) -> None:
    page = sign_in(owner).post(f"{path}new/", GIVEN | {"streams": [stream.pk]}).content.decode()
    assert "Choose them alone, or none of them" in page
    assert not OrganisationKey.objects.exists()


def test_streams_of_a_large_organisation_are_named_by_their_logins(
    sign_in: SignIn, stranger: Account, stream: Stream, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_pages, "CHOICES_OFFERED", 0)
    foreign = create_stream("Theirs", owner=stranger, kind="developer").stream
    browser = sign_in(owner_of(stream))
    for wrong, words in ((str(foreign.client_id), "not in this organisation"), ("door", "not a Login")):
        page = browser.post(f"{path}new/", GIVEN | {"reach": "some", "streams": wrong}).content.decode()
        assert words in page
    create(browser, path, reach="some", streams=f"{stream.client_id}\n")
    assert list(streams_of(OrganisationKey.objects.get())) == [stream]


def test_managers_create_and_revoke_no_keys_of_owners(
    sign_in: SignIn, owner: Account, manager: Account, stream: Stream, path: str
) -> None:
    boss, browser = sign_in(owner), sign_in(manager)
    create(boss, path, scopes=["manage"], role="owner")
    owners = OrganisationKey.objects.get()
    assert owners.role == "owner"
    assert "acts as" not in browser.get(f"{path}new/").content.decode()
    create(browser, path, scopes=["manage"], role="owner")
    managers = OrganisationKey.objects.latest("pk")
    assert managers.role == "manager"
    page = browser.get(path).content.decode()
    assert f"{path}{owners.pk}/revoke/" not in page
    assert browser.post(f"{path}{owners.pk}/revoke/").status_code == 404
    assert browser.post(f"{path}{managers.pk}/revoke/").status_code == 302
    owners.refresh_from_db()
    assert owners.revoked_at is None


def test_keys_of_another_organisation_are_not_there(
    sign_in: SignIn, owner: Account, stranger: Account, path: str
) -> None:
    foreign = create_key(organisation_of(stranger), "Theirs", ["numbers"]).key
    browser = sign_in(owner)
    assert browser.post(f"{path}{foreign.pk}/revoke/").status_code == 404
    assert browser.get(f"{path}{2**70}/revoke/").status_code == 404
    assert "Theirs" not in browser.get(path).content.decode()


def test_the_list_says_who_left_what_expired_and_what_is_unused(
    sign_in: SignIn, owner: Account, manager: Account, path: str
) -> None:
    create(sign_in(manager), path)
    Membership.objects.filter(account=manager).delete()
    browser = sign_in(owner)
    page = browser.get(path).content.decode()
    assert f"{manager.email}, no longer a member" in page
    assert "never" in page
    OrganisationKey.objects.update(expires_at=timezone.now() - timedelta(minutes=1))
    assert "expired <time" in browser.get(path).content.decode()


def test_too_many_are_refused_with_the_remedy(
    sign_in: SignIn, owner: Account, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onlooker.keys.keys.LIVE_AT_MOST", 1)
    browser = sign_in(owner)
    create(browser, path)
    assert "Revoke one that is not used" in browser.post(f"{path}new/", GIVEN).content.decode()
