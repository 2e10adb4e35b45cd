"""Keys of an organisation: shown once, found by their text, limited in scope, reach, role and time, revoked, logged."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from memberships import organisation_with, share_stream, site_of
from onlooker.audit.models import OrganisationEntry
from onlooker.console.accounts.models import Account
from onlooker.console.streams.audit_log import describe_entries
from onlooker.keys.key_text import is_key
from onlooker.keys.keys import (
    LIVE_AT_MOST,
    REACH_AT_MOST,
    NewKey,
    create_key,
    delete_past_keys,
    find_key,
    may_handle,
    revoke_key,
    sites_of,
    streams_of,
)
from onlooker.keys.models import OrganisationKey, Scope
from onlooker.streams.administration import create_stream
from onlooker.streams.models import MemberRole, Organisation, Site, Stream
from onlooker.streams.organisations import RefusedError, organisation_of, remove_organisation

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def organisation(owner: Account) -> Organisation:
    return organisation_of(owner)


@pytest.fixture
def streams(owner: Account) -> list[Stream]:
    return [create_stream(name, owner=owner, kind="developer").stream for name in ("Door", "Till", "Quay")]


def new(organisation: Organisation, *scopes: str, **given: Any) -> NewKey:
    return create_key(organisation, "Program", scopes or (Scope.NUMBERS,), **given)


def test_a_key_is_found_by_its_text_which_is_nowhere_in_the_database(organisation: Organisation) -> None:
    made = new(organisation, "numbers", "manage")
    assert is_key(made.text)
    assert made.text.startswith(made.key.beginning)
    assert len(made.key.beginning) == 12
    row = OrganisationKey.objects.values().get()
    assert made.text not in str(row)
    found = find_key(made.text)
    assert found == made.key
    assert found.scopes == ["numbers", "manage"]
    assert find_key(made.text[:-1] + ("A" if made.text[-1] != "A" else "E")) is None
    assert find_key("") is None


def test_its_use_is_noted_to_a_minute(organisation: Organisation) -> None:
    made = new(organisation)
    find_key(made.text)
    made.key.refresh_from_db()
    first = made.key.used_at
    assert first
    find_key(made.text)
    made.key.refresh_from_db()
    assert made.key.used_at == first
    OrganisationKey.objects.update(used_at=timezone.now() - timedelta(minutes=2))
    find_key(made.text)
    made.key.refresh_from_db()
    assert made.key.used_at
    assert made.key.used_at > first


@pytest.mark.parametrize("change", [{"revoked_at": timezone.now()}, {"expires_at": timezone.now()}])
def test_a_key_that_ended_is_not_found(organisation: Organisation, change: dict[str, Any]) -> None:
    made = new(organisation)
    OrganisationKey.objects.update(**change)
    assert find_key(made.text) is None


def test_without_an_active_owner_nothing_is_opened(organisation: Organisation, owner: Account) -> None:
    made = new(organisation)
    Account.objects.filter(pk=owner.pk).update(is_active=False)
    assert find_key(made.text) is None


def test_what_a_key_reaches(organisation: Organisation, streams: list[Stream], stranger: Account) -> None:
    door, till, quay = streams
    site = site_of(door)
    foreign = create_stream("Theirs", owner=stranger, kind="developer").stream
    assert set(streams_of(new(organisation).key)) == set(streams)
    limited = new(organisation, sites=[site], streams=[till]).key
    assert set(streams_of(limited)) == {door, till}
    assert list(sites_of(limited)) == [site]
    Stream.objects.filter(pk=quay.pk).update(site=site)
    assert set(streams_of(limited)) == set(streams)
    assert foreign not in streams_of(limited)


def test_a_site_that_is_deleted_does_not_make_a_key_reach_all(
    organisation: Organisation, streams: list[Stream]
) -> None:
    limited = new(organisation, sites=[site_of(streams[0])]).key
    Site.objects.all().delete()
    limited.refresh_from_db()
    assert not streams_of(limited).exists()
    assert not sites_of(limited).exists()


def test_a_stream_that_moves_away_is_out_of_reach(
    organisation: Organisation, streams: list[Stream], stranger: Account
) -> None:
    limited = new(organisation, streams=streams[:1]).key
    Stream.objects.filter(pk=streams[0].pk).update(organisation=organisation_of(stranger))
    assert not streams_of(limited).exists()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"scopes": ()}, "at least one of these scopes: numbers, manage, enrol, frames"),
        ({"scopes": ("all",)}, "at least one of these scopes"),
        ({"name": " "}, "needs a name"),
        ({"name": "x" * 101}, "needs a name"),
        ({"role": "viewer"}, "acts as manager or as owner"),
        ({"life": timedelta(seconds=1)}, "1 minute to 3650 days"),
        ({"life": timedelta(days=3651)}, "1 minute to 3650 days"),
    ],
)
def test_what_no_key_is(organisation: Organisation, given: dict[str, Any], words: str) -> None:
    right: dict[str, Any] = {"name": "Program", "scopes": ("numbers",)}
    with pytest.raises(RefusedError, match=words):
        create_key(organisation, **right | given)


def test_sites_and_streams_are_of_the_keys_own_organisation(organisation: Organisation, stranger: Account) -> None:
    foreign = create_stream("Theirs", owner=stranger, kind="developer").stream
    with pytest.raises(RefusedError, match="own organisation alone"):
        new(organisation, streams=[foreign])
    with pytest.raises(RefusedError, match="own organisation alone"):
        new(organisation, sites=[site_of(foreign)])
    with pytest.raises(RefusedError, match=f"at most {REACH_AT_MOST}"):
        new(organisation, streams=[foreign] * (REACH_AT_MOST + 1))


def test_an_organisation_has_so_many_keys(organisation: Organisation) -> None:
    made = [new(organisation) for _ in range(LIVE_AT_MOST)]
    with pytest.raises(RefusedError, match="Revoke one"):
        new(organisation)
    revoke_key(made[0].key)
    new(organisation)


def test_a_key_gives_no_more_than_it_has(organisation: Organisation, streams: list[Stream]) -> None:
    door, till, _ = streams
    site = site_of(door)
    whole = new(organisation, "manage", "numbers", life=timedelta(days=10)).key
    for more, words in (
        ({"scopes": ("frames",)}, "no scope frames"),
        ({"role": "owner"}, "acts as manager"),
        ({"life": None}, "earlier end"),
        ({"life": timedelta(days=11)}, "earlier end"),
    ):
        given: dict[str, Any] = {"scopes": ("numbers",), "life": timedelta(days=1)} | more
        with pytest.raises(RefusedError, match=words):
            create_key(organisation, "More", within=whole, **given)
    limited = new(organisation, "manage", "numbers", sites=[site]).key
    for reach in ({}, {"streams": [till]}, {"sites": [site], "streams": [till]}):
        with pytest.raises(RefusedError, match="some sites and streams alone"):
            new(organisation, within=limited, **reach)
    assert set(streams_of(new(organisation, within=limited, streams=[door]).key)) == {door}
    assert set(streams_of(new(organisation, within=limited, sites=[site]).key)) == {door}


def test_managers_handle_no_key_of_owners(organisation: Organisation) -> None:
    owners, managers = new(organisation, role="owner").key, new(organisation).key
    assert [may_handle(role, owners) for role in MemberRole] == [True, False, False, False]
    assert [may_handle(role, managers) for role in MemberRole] == [True, True, False, False]


def test_the_log_of_the_organisation_says_it_and_never_the_key(
    organisation: Organisation, owner: Account, streams: list[Stream]
) -> None:
    made = new(organisation, "numbers", "frames", sites=[site_of(streams[0])], streams=[streams[1]], by=owner)
    find_key(made.text)
    revoke_key(made.key)
    revoke_key(made.key)
    entries = list(OrganisationEntry.objects.filter(action__startswith="key.").order_by("number"))
    number = made.key.pk
    assert [one.what for one in describe_entries(entries, "UTC")] == [
        f"Key {number} (Program) created for numbers, frames as manager, without an end.",
        f"Key {number} is for the sites Door.",
        f"Key {number} is for the streams Till.",
        f"Key {number} (Program) revoked.",
    ]
    assert not any(made.text[5:] in one.detail or "sha" in one.detail for one in entries)


def test_keys_of_long_ago_are_deleted(organisation: Organisation) -> None:
    new(organisation)
    revoke_key(new(organisation).key)
    new(organisation, life=timedelta(minutes=1))
    assert delete_past_keys(timezone.now() + timedelta(days=80)) == 0
    assert delete_past_keys(timezone.now() + timedelta(days=91)) == 2
    assert OrganisationKey.objects.count() == 1


def test_keys_go_with_their_organisation_and_stay_when_their_creator_goes(
    organisation: Organisation, streams: list[Stream], viewer: Account
) -> None:
    share_stream(streams[0], viewer, MemberRole.MANAGER)
    made = create_key(organisation_with(streams[0]), "Program", ("frames",), streams=streams[:1], by=viewer)
    viewer.delete()
    found = find_key(made.text)
    assert found
    assert found.created_by is None
    remove_organisation(organisation)
    assert not OrganisationKey.objects.exists()
