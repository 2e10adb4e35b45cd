"""The pages of those who share: creating a link, its address that is shown once, the list, revoking, the log."""

import html
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from memberships import organisation_with, share_stream, site_of
from onlooker.audit.models import OrganisationEntry
from onlooker.console.accounts.models import Account
from onlooker.console.languages.locale_text import write_short_date
from onlooker.console.reports import links
from onlooker.console.reports.links import LinkChoices, create_link
from onlooker.console.reports.models import SharedLink
from onlooker.console.reports.saved_views import Subject
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Organisation, Site, Stream
from onlooker.streams.organisations import RefusedError

pytest_plugins = ["pages"]

SignIn = Callable[[Account | None], Client]
DAY = timedelta(days=1)


@pytest.fixture
def stream(owner: Account) -> Stream:
    return create_stream("Front door", owner=owner, kind="enterprise", time_zone="Europe/Paris").stream


def form(**changes: str) -> dict[str, str]:
    ends = (timezone.now() + 30 * DAY).date().isoformat()
    return {"label": "Landlord", "period": "last-week", "ends_on": ends, "password": "", "origins": ""} | changes


def new_address(stream: Stream) -> str:
    return f"/streams/{stream.client_id}/links/new/"


def trouble(browser: Client, path: str, **changes: str) -> str:
    page = browser.post(path, form(**changes)).content.decode()
    assert not SharedLink.objects.exists()
    found = re.findall(r'<ul class="errorlist[^>]*>\s*<li>([^<]*)', page)
    assert found, page
    return html.unescape(" ".join(found))


def test_its_address_is_shown_once(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    answer = browser.post(new_address(stream), form())
    found = re.search(r"https://console\.example\.org(/shared/[\w-]{43}/)", answer.content.decode())
    assert found
    assert "no-store" in answer.headers["Cache-Control"]
    assert sign_in(None).get(found[1]).status_code == 200
    listed = browser.get(f"/organisations/{stream.organisation_id}/links/").content.decode()
    assert "Landlord" in listed
    assert found[1] not in listed
    link = SharedLink.objects.get()
    assert (link.created_by, link.stream, link.period) == (owner, stream, "last-week")


def test_it_ends_with_a_local_day_and_after_90_days_unless_chosen(
    sign_in: SignIn, owner: Account, stream: Stream
) -> None:
    browser, today = sign_in(owner), timezone.now().astimezone(Subject(organisation_with(stream), stream).zone).date()
    assert f'value="{today + 90 * DAY}"' in browser.get(new_address(stream)).content.decode()
    browser.post(new_address(stream), form(ends_on=today.isoformat()))
    ends = SharedLink.objects.get().expires_at.astimezone(Subject(organisation_with(stream), stream).zone)
    assert (ends.date(), ends.hour, ends.minute) == (today + DAY, 0, 0)


def test_its_end_is_said_by_the_clock_of_what_it_shows(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser, last = sign_in(owner), timezone.now().date() + 30 * DAY
    ends = f"{write_short_date(last + DAY)} 00:00</time>"
    shown = browser.post(new_address(stream), form(ends_on=last.isoformat())).content.decode()
    assert f"{ends} (Europe/Paris)." in shown
    path = f"/organisations/{stream.organisation_id}/links/"
    assert f"{ends}<br><small>Europe/Paris</small>" in browser.get(path).content.decode()
    SharedLink.objects.update(expires_at=datetime(2026, 3, 1, 23, tzinfo=UTC))
    listed = browser.get(path).content.decode()
    assert "2 Mar 2026 00:00</time><br><small>Europe/Paris</small>" in listed
    assert "UTC" not in shown + listed


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"label": ""}, "required"),
        ({"period": "forever"}, "valid choice"),
        ({"period": "days"}, "first and the last day"),
        ({"period": "days", "first_day": "2026-11-08", "last_day": "2026-11-02"}, "before the end"),
        ({"period": "days", "first_day": "2999-11-08", "last_day": "2999-11-09"}, "not in the future"),
        ({"period": "days", "first_day": "2001-01-01", "last_day": "2026-01-01"}, "at most"),
        ({"ends_on": "2020-01-01"}, "from today on"),
        ({"ends_on": "2999-01-01"}, "within a year"),
        ({"password": "short"}, "too short"),
        ({"password": "three quiet herons", "origins": "https://example.org"}, "can't be embedded"),
        ({"origins": "https://example.org/page"}, "not an origin"),
        ({"origins": "http://example.org"}, "not an origin"),
        ({"origins": "*"}, "not an origin"),
        ({"origins": "https://*.example.org"}, "not an origin"),
        ({"origins": "https://example.org;script-src"}, "not an origin"),
        ({"origins": "'self'"}, "not an origin"),
        ({"origins": " ".join(f"https://{n}.example.org" for n in range(11))}, "at most 10"),
    ],
)
def test_what_can_not_be_is_refused_with_the_remedy(
    sign_in: SignIn, owner: Account, stream: Stream, changes: dict[str, str], said: str
) -> None:
    assert said in trouble(sign_in(owner), new_address(stream), **changes)


def test_fixed_days_come_from_the_dashboard(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    page = sign_in(owner).get(new_address(stream) + "?from=2026-11-02T09:00&to=2026-11-08").content.decode()
    assert 'value="2026-11-02"' in page
    assert 'value="2026-11-08"' in page
    assert '<option value="days" selected>' in page
    days = {"period": "days", "first_day": "2026-11-02", "last_day": "2026-11-08"}
    sign_in(owner).post(new_address(stream), form(**days))
    link = SharedLink.objects.get()
    assert [f"{day}" for day in link.days or ()] == ["2026-11-02", "2026-11-08"]


def test_a_group_has_no_fixed_days(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    path = f"/organisations/{stream.organisation_id}/links/new/"
    assert "valid choice" in trouble(sign_in(owner), path, period="days")
    sign_in(owner).post(path, form(period="30d"))
    assert SharedLink.objects.get().period == "30d"


def test_sites_and_tags_are_of_the_own_organisation(
    sign_in: SignIn, owner: Account, stranger: Account, stream: Stream
) -> None:
    theirs = create_stream("Theirs", owner=stranger, kind="developer").stream
    foreign = site_of(theirs)
    path = f"/organisations/{stream.organisation_id}/links/new/"
    for query in (f"site={foreign.pk}", "site=x", "tag=999999", "site=-1", f"site={'9' * 30}"):
        assert sign_in(owner).get(f"{path}?{query}").status_code == 404, query
    choices, subject = LinkChoices("x", "7d", timezone.now() + DAY), Subject(organisation_with(stream), site=foreign)
    with pytest.raises(RefusedError, match="another organisation"):
        create_link(subject, choices)


def test_revoking_ends_it_at_once_and_is_logged(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    page = browser.post(new_address(stream), form(origins="https://www.example.org/")).content.decode()
    found = re.search(r"/shared/([\w-]{43})/", page)
    assert found
    link, log = SharedLink.objects.get(), f"/organisations/{stream.organisation_id}/audit/"
    browser.post(f"/organisations/{stream.organisation_id}/links/{link.pk}/revoke/")
    assert sign_in(None).get(found[0]).status_code == 410
    entries = OrganisationEntry.objects.filter(action__startswith="link.").order_by("number")
    assert [entry.action for entry in entries] == ["link.created", "link.revoked"]
    assert {entry.actor for entry in entries} == {f"account:{owner.pk}"}
    assert found[1] not in "".join(entry.detail for entry in entries)
    said = html.unescape(browser.get(log).content.decode())
    assert f"Shared link {link.pk} (Landlord) to stream Front door created, until " in said
    assert "Password: off. Embedded by: https://www.example.org." in said
    assert f"Shared link {link.pk} (Landlord) revoked." in said


def test_a_link_that_ends_with_its_site_is_logged(owner: Account, stream: Stream) -> None:
    site = Site.objects.create(organisation=organisation_with(stream), name="North gate")
    for label in ("live", "revoked"):
        choices = LinkChoices(label, "7d", timezone.now() + DAY)
        made = create_link(Subject(organisation_with(stream), site=site), choices)
    links.revoke_link(made.link)
    site.delete()
    removed = OrganisationEntry.objects.get(action="link.removed")
    assert '"label": "live"' in removed.detail


def test_links_of_others_are_not_there(sign_in: SignIn, owner: Account, stranger: Account, stream: Stream) -> None:
    choices = LinkChoices("Landlord", "7d", timezone.now() + DAY)
    link = create_link(Subject(organisation_with(stream), stream=stream), choices).link
    theirs: Organisation = organisation_with(create_stream("Theirs", owner=stranger, kind="developer").stream)
    browser = sign_in(stranger)
    assert "Landlord" not in browser.get(f"/organisations/{theirs.pk}/links/").content.decode()
    assert browser.post(f"/organisations/{theirs.pk}/links/{link.pk}/revoke/").status_code == 404
    assert SharedLink.objects.get().revoked_at is None


def test_an_organisation_has_so_many(stream: Stream, monkeypatch: Any) -> None:
    monkeypatch.setattr(links, "LIVE_AT_MOST", 1)
    subject, choices = Subject(organisation_with(stream)), LinkChoices("x", "7d", timezone.now() + DAY)
    links.revoke_link(create_link(subject, choices).link)
    create_link(subject, choices)
    with pytest.raises(RefusedError, match="Revoke one"):
        create_link(subject, choices)


def test_the_pages_of_numbers_lead_to_it_for_those_who_may(
    sign_in: SignIn, owner: Account, viewer: Account, stream: Stream
) -> None:
    site = site_of(stream)
    share_stream(stream, viewer)
    group = f"/streams/numbers/?site={site.pk}&days=90"
    expected = {f"/streams/{stream.client_id}/dashboard/?period=30d": f"{new_address(stream)}?period=30d"}
    expected[group] = f"/organisations/{stream.organisation_id}/links/new/?site={site.pk}&period=90d"
    for page, address in expected.items():
        assert f'id="share" href="{html.escape(address)}"' in sign_in(owner).get(page).content.decode()
        assert 'id="share"' not in sign_in(viewer).get(page).content.decode()
        assert sign_in(owner).get(address).status_code == 200
