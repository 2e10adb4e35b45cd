"""An organisation's page: roles, handing over, leaving, sites, settings, the log; and what ends with an account."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from forms import fields_of
from memberships import organisation_with, share_stream, site_of
from onlooker.audit.chain import check_chain
from onlooker.audit.export import read_json_lines
from onlooker.audit.models import OrganisationEntry
from onlooker.console.accounts.deletion import erase_account
from onlooker.console.accounts.models import Account
from onlooker.console.billing.models import Customer, Subscription
from onlooker.console.organisations import page
from onlooker.console.streams.access import visible_streams
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Membership, Organisation, Site, Stream
from sign_in_forms import add_second_factor

pytest_plugins = ["pages"]
SignIn = Callable[[Account | None], Client]


@pytest.fixture
def stream(owner: Account) -> Stream:
    return create_stream("Lobby", owner=owner, kind="developer").stream


def url_of(stream: Stream, path: str = "") -> str:
    return f"/organisations/{stream.organisation_id}/{path}"


def names_seen(account: Account) -> set[str]:
    return set(visible_streams(account).values_list("name", flat=True))


def role_of(account: Account, stream: Stream) -> str:
    return Membership.objects.get(organisation=stream.organisation, account=account).role


def test_a_role_says_what_is_seen(stream: Stream, owner: Account, viewer: Account, sign_in: SignIn) -> None:
    create_stream("Roof", owner=owner, kind="developer")
    member = share_stream(stream, viewer)
    assert names_seen(viewer) == {"Lobby"}
    browser, page = sign_in(owner), url_of(stream, f"members/{member.pk}/")
    assert browser.post(page, {"role": "analyst"}).status_code == 302
    assert (names_seen(viewer), member.site_links.count()) == ({"Lobby", "Roof"}, 0)
    assert sign_in(viewer).get(f"/streams/{stream.client_id}/settings/").status_code == 404
    assert browser.post(page, {"role": "manager"}).status_code == 302
    assert sign_in(viewer).get(f"/streams/{stream.client_id}/settings/").status_code == 200
    assert browser.post(page, {"role": "viewer", "sites": [str(stream.site_id)]}).status_code == 302
    assert names_seen(viewer) == {"Lobby"}


def test_a_viewer_of_no_site_sees_nothing(stream: Stream, viewer: Account, owner: Account, sign_in: SignIn) -> None:
    share_stream(stream, viewer)
    assert sign_in(owner).post(url_of(stream, f"sites/{stream.site_id}/remove/")).status_code == 302
    stream.refresh_from_db()
    assert (stream.site, stream.organisation is not None, names_seen(viewer)) == (None, True, set())
    assert sign_in(viewer).get(url_of(stream)).status_code == 200


def test_ownership_is_handed_over_and_the_last_owner_stays(
    stream: Stream, owner: Account, viewer: Account, sign_in: SignIn
) -> None:
    member = share_stream(stream, viewer, "analyst")
    mine = Membership.objects.get(account=owner)
    browser = sign_in(owner)
    for path, given in (
        (f"members/{mine.pk}/", {"role": "manager"}),
        (f"members/{mine.pk}/remove/", {}),
        ("leave/", {}),
    ):
        browser.post(url_of(stream, path), given)
        assert role_of(owner, stream) == "owner"
    assert browser.post(url_of(stream, f"members/{member.pk}/"), {"role": "owner"}).status_code == 302
    assert browser.post(url_of(stream, "leave/"))["Location"] == "/streams/"
    assert (names_seen(owner), names_seen(viewer), role_of(viewer, stream)) == (set(), {"Lobby"}, "owner")
    assert sign_in(owner).get(url_of(stream)).status_code == 404


def test_a_manager_changes_nobody_above(stream: Stream, owner: Account, viewer: Account, sign_in: SignIn) -> None:
    mine = share_stream(stream, viewer, "manager")
    browser, above = sign_in(viewer), Membership.objects.get(account=owner)
    for member in (above, mine):
        assert browser.post(url_of(stream, f"members/{member.pk}/"), {"role": "analyst"}).status_code == 404
        assert browser.post(url_of(stream, f"members/{member.pk}/remove/")).status_code == 404
    below = share_stream(stream, Account.objects.create_user("a@example.org"), "analyst")
    answer = browser.post(url_of(stream, f"members/{below.pk}/"), {"role": "manager"})
    assert answer.context["form"].errors["role"]
    assert browser.post(url_of(stream, "leave/")).status_code == 302
    assert not Membership.objects.filter(account=viewer).exists()


def test_those_who_pay_stay_owners(stream: Stream, owner: Account, viewer: Account, sign_in: SignIn) -> None:
    share_stream(stream, viewer, "owner")
    Subscription.objects.create(stream=stream, customer=Customer.objects.create(account=owner))
    answer = sign_in(owner).post(url_of(stream, "leave/"), follow=True)
    assert "pays for streams of this organisation" in answer.content.decode()
    mine = Membership.objects.get(account=owner)
    answer = sign_in(viewer).post(url_of(stream, f"members/{mine.pk}/"), {"role": "analyst"})
    assert "pays for streams" in str(answer.context["form"].errors["role"])
    assert role_of(owner, stream) == "owner"


def test_an_account_is_in_several_organisations(
    stream: Stream, viewer: Account, stranger: Account, sign_in: SignIn
) -> None:
    create_stream("Mine", owner=viewer, kind="developer")
    share_stream(stream, viewer)
    share_stream(create_stream("Theirs", owner=stranger, kind="developer").stream, viewer, "manager")
    assert names_seen(viewer) == {"Mine", "Lobby", "Theirs"}
    page = sign_in(viewer).get("/organisations/").content.decode()
    assert [email in page for email in ("owner@", "viewer@", "stranger@")] == [True] * 3
    browser = sign_in(viewer)
    form = fields_of(browser.get("/streams/new/")) | {"name": "New", "place": "public", "preset": "counts"}
    theirs = Organisation.objects.get(name="stranger@example.org")
    assert browser.post("/streams/new/", form | {"belongs_to": str(theirs.pk)}).status_code == 200
    assert Stream.objects.get(name="New").organisation == theirs
    foreign = organisation_with(stream)
    answer = browser.post("/streams/new/", form | {"name": "Not mine", "belongs_to": str(foreign.pk)})
    assert answer.context["form"].errors["belongs_to"]


def test_a_site_is_created_with_its_streams(stream: Stream, owner: Account, sign_in: SignIn) -> None:
    browser = sign_in(owner)
    given = {"name": "Shop", "address": "1 Quay", "time_zone": "Europe/Paris", "hours": "mo-fr 09:00-18:00"}
    assert browser.post(url_of(stream, "sites/new/"), given | {"streams": [str(stream.pk)]}).status_code == 302
    site = Site.objects.get()
    assert (site.name, site.address, site.time_zone, site.hours) == tuple(given.values())
    assert Stream.objects.get(pk=stream.pk).site == site
    assert "Another site" in str(browser.post(url_of(stream, "sites/new/"), given).context["form"].errors)
    assert browser.post(url_of(stream, f"sites/{site.pk}/"), given | {"name": "Branch"}).status_code == 302
    site.refresh_from_db()
    assert (site.name, site.streams.count()) == ("Branch", 0)
    form = fields_of(browser.get("/streams/new/")) | {"name": "New", "place": "public", "preset": "counts"}
    created = browser.post("/streams/new/", form | {"belongs_to": f"{site.organisation_id}-{site.pk}"})
    assert created.status_code == 200
    new = Stream.objects.get(name="New")
    assert (new.site, new.hours) == (site, "mo-fr 09:00-18:00")


def test_a_stream_moves_between_sites_and_its_viewers_with_it(
    stream: Stream, owner: Account, viewer: Account, sign_in: SignIn
) -> None:
    share_stream(stream, viewer)
    other = Site.objects.create(organisation=organisation_with(stream), name="Elsewhere")
    browser, page = sign_in(owner), f"/streams/{stream.client_id}/settings/"
    form = fields_of(browser.get(page))
    assert browser.post(page, form | {"site": str(other.pk)}).status_code == 302
    assert (Stream.objects.get(pk=stream.pk).site, names_seen(viewer)) == (other, set())


def test_no_stream_stands_at_a_site_of_others(
    stream: Stream, owner: Account, stranger: Account, sign_in: SignIn
) -> None:
    foreign = site_of(create_stream("Theirs", owner=stranger, kind="developer").stream)
    site_of(stream)
    browser, page = sign_in(owner), f"/streams/{stream.client_id}/settings/"
    form = fields_of(browser.get(page))
    assert browser.post(page, form | {"site": str(foreign.pk)}).context["form"].errors["site"]


def test_a_large_organisation_is_searched(
    stream: Stream, owner: Account, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "LISTED", 3)
    organisation = organisation_with(stream)
    Site.objects.bulk_create(Site(organisation=organisation, name=f"Shop {number}") for number in range(60))
    share_stream(stream, Account.objects.create_user("viewer@example.org"), "analyst")
    browser = sign_in(owner)
    shown = browser.get(url_of(stream)).content.decode()
    assert ("There are more sites" in shown, shown.count(">Shop ")) == (True, 2)
    found = browser.get(url_of(stream, "?find=shop 42")).content.decode()
    assert (found.count(">Shop "), ">Shop 42<" in found, "viewer@example.org" in found) == (1, True, False)
    assert "<select" in browser.get(url_of(stream, "invite/")).content.decode()


def test_settings_are_the_owners(stream: Stream, owner: Account, sign_in: SignIn) -> None:
    browser = sign_in(owner)
    given = {"name": "Museum of lamps", "requires_second_factor": "on"}
    assert "second factor" in browser.post(url_of(stream, "settings/"), given).content.decode(), "theirs comes first"
    add_second_factor(owner)
    assert browser.post(url_of(stream, "settings/"), given).status_code == 302
    theirs = Organisation.objects.get()
    assert (theirs.name, theirs.requires_second_factor) == ("Museum of lamps", True)
    assert "Museum of lamps" in browser.get(url_of(stream)).content.decode()


def test_the_log_tells_it_in_sentences_and_can_be_checked(
    stream: Stream, owner: Account, viewer: Account, sign_in: SignIn
) -> None:
    browser, member = sign_in(owner), share_stream(stream, viewer)
    browser.post(url_of(stream, f"members/{member.pk}/"), {"role": "analyst"})
    browser.post(url_of(stream, "settings/"), {"name": "Museum"})
    page = browser.get(url_of(stream, "audit/?check=1")).content.decode()
    for words in (
        "viewer@example.org became a member: viewer.",
        "viewer@example.org now sees Lobby.",
        "viewer@example.org is now analyst, no longer viewer.",
        "Site Lobby created.",
        "name from owner@example.org to Museum",
        "The log is unbroken",
    ):
        assert words in page
    lines = browser.get(url_of(stream, "audit/file/")).content.decode().splitlines()
    entries = list(read_json_lines(lines))
    assert (check_chain(entries).fault, entries[0].stream_id) == ("", -int(stream.organisation_id or 0))
    assert {entry.actor for entry in entries[-3:]} == {f"account:{owner.pk}"}


def test_an_organisation_ends_with_its_streams_and_its_log(
    stream: Stream, owner: Account, viewer: Account, sign_in: SignIn
) -> None:
    share_stream(stream, viewer)
    browser, page = sign_in(owner), url_of(stream, "remove/")
    assert browser.post(page, {"name": "another"}).status_code == 200
    assert browser.post(page, {"name": "owner@example.org"}).status_code == 302
    stream.refresh_from_db()
    assert (stream.organisation, stream.site, stream.removed_at is not None) == (None, None, True)
    assert not stream.access_tokens.exists()
    counts = [table.objects.count() for table in (Organisation, Membership, Site, OrganisationEntry)]
    assert counts == [0, 0, 0, 0]
    assert Account.objects.count() == 2


def test_an_account_that_goes_leaves_an_organisation_with_another_owner(
    stream: Stream, owner: Account, viewer: Account
) -> None:
    share_stream(stream, viewer, "owner")
    assert erase_account(owner) == 0
    stream.refresh_from_db()
    assert (stream.removed_at, names_seen(viewer)) == (None, {"Lobby"})
    assert erase_account(viewer) == 1
    assert not Organisation.objects.exists()


def test_a_stream_runs_while_one_owner_is_active(
    stream: Stream, owner: Account, viewer: Account, django_assert_num_queries: Any
) -> None:
    from onlooker.streams.organisations import has_active_owner

    share_stream(stream, viewer, "owner")
    Account.objects.filter(pk=owner.pk).update(is_active=False)
    assert has_active_owner(stream)
    Account.objects.filter(pk=viewer.pk).update(is_active=False)
    assert not has_active_owner(stream)
