"""What a shared link shows, to whom, and for how long."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from console_people import make_account
from dashboard_numbers import Shown, cover, seen, show, write
from memberships import organisation_with, share_stream, site_of
from onlooker.console.accounts.models import Account
from onlooker.console.reports.links import KEPT, LinkChoices, create_link, delete_past_links, revoke_link
from onlooker.console.reports.models import SharedLink
from onlooker.console.reports.saved_views import Subject
from onlooker.console.web.address_rate_limit import OPEN_AREAS, SHARED_LINKS
from onlooker.streams.administration import create_stream, remove_stream
from onlooker.streams.bulk_changes import change_tags
from onlooker.streams.models import Membership, Note, Stream
from onlooker.streams.notes import create_note

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[[Account | None], Client]
DAY = timedelta(days=1)
MONDAY = datetime(2026, 11, 1, 23, tzinfo=UTC)  # midnight in Paris
FIXED = (datetime(2026, 11, 2).date(), datetime(2026, 11, 8).date())
PASSWORD = "three quiet herons"
WITHOUT_COOKIES = {"Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex", "Cache-Control": "no-store"}


@pytest.fixture
def stream(owner: Account) -> Stream:
    made = create_stream("Front door", owner=owner, kind="enterprise", time_zone="Europe/Paris").stream
    Stream.objects.filter(pk=made.pk).update(created_at=MONDAY - 30 * DAY, retention_days=3650, reads_expression=True)
    made.refresh_from_db()
    return made


@pytest.fixture
def watched(stream: Stream) -> Stream:
    cover(stream, MONDAY - 7 * DAY, MONDAY + 3 * DAY)
    write(*(seen(stream, MONDAY + n * timedelta(hours=5), looks=n % 2 == 0, age=20.0 + 5 * n) for n in range(14)))
    return stream


def share(stream: Stream | Subject, **chosen: Any) -> str:
    """The path of a new link."""
    subject = stream if isinstance(stream, Subject) else Subject(organisation_with(stream), stream=stream)
    given = {"label": "Landlord", "period": "7d", "expires_at": timezone.now() + 90 * DAY} | chosen
    address = create_link(subject, LinkChoices(**given)).address
    assert address.startswith("https://console.example.org/shared/")
    return address.removeprefix("https://console.example.org")


def statuses(browser: Client, path: str, count: int = 1, **data: str) -> list[int]:
    return [browser.post(path, data).status_code for _ in range(count)]


def test_it_is_not_broken_down_or_filtered(sign_in: SignIn, watched: Stream) -> None:
    path = share(watched, period="", days=FIXED)
    plain = sign_in(None).get(path).content.decode()
    assert "breakdowns/" not in plain
    filtered = sign_in(None).get(f"{path}?filter=gender:female").content.decode()
    assert Shown(filtered).numbers == Shown(plain).numbers
    assert "Filter" not in filtered
    assert sign_in(None).get(f"{path}dashboard/breakdowns/").status_code == 404


@pytest.mark.parametrize("groups_of", [1, 5])
def test_it_shows_what_the_dashboard_shows(sign_in: SignIn, owner: Account, watched: Stream, groups_of: int) -> None:
    Stream.objects.update(groups_of=groups_of)
    page = sign_in(None).get(share(watched, period="", days=FIXED)).content.decode()
    ours, theirs = Shown(page), show(sign_in(owner), watched, "from=2026-11-02&to=2026-11-08")
    assert ours.numbers == theirs.numbers
    assert ours.numbers["passing_by"] == "14"
    assert {name: ours.report[name] for name in ("data-from", "data-to")} == {
        name: theirs.report[name] for name in ("data-from", "data-to")
    }
    assert ours.data == theirs.data
    assert ours.tables == theirs.tables


def test_it_leads_nowhere_and_says_nothing_else(sign_in: SignIn, owner: Account, watched: Stream) -> None:
    create_stream("Back door", owner=owner, kind="enterprise")
    create_note(organisation_with(watched), "Mrs Example is on holiday", FIXED[0], about=watched)
    page = sign_in(None).get(share(watched, period="", days=FIXED) + "?from=2026-10-01&to=2026-10-02").content.decode()
    addresses = {found.partition("?")[0] for found in re.findall(r'(?:href|src|hx-get|action)="([^"]*)"', page)}
    assert all(not one or one == "/words/en-gb.js" or one.startswith("/static/") for one in addresses), addresses
    account = (owner.email, "Sign in", "csrf", "Landlord")
    for secret in ("Back door", "Mrs Example", str(watched.client_id), 'id="live"', *account):
        assert secret not in page, secret
    assert "2 Nov" in page
    assert "1 Oct" not in page


def test_it_needs_no_cookie_and_tells_no_other_page_of_its_address(sign_in: SignIn, watched: Stream) -> None:
    answer = sign_in(None).get(share(watched))
    assert not answer.cookies
    assert {name: answer.headers[name] for name in WITHOUT_COOKIES} == WITHOUT_COOKIES
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Frame-Options"] == "DENY"


def test_somebody_who_is_signed_in_sees_the_same(sign_in: SignIn, owner: Account, watched: Stream) -> None:
    path = share(watched, period="", days=FIXED)
    pages = [re.sub(r'data-read-at="[^"]*"', "", sign_in(one).get(path).content.decode()) for one in (None, owner)]
    assert pages[0] == pages[1]


def test_pages_of_chosen_origins_may_embed_it_and_no_others(sign_in: SignIn, watched: Stream) -> None:
    origins = ["https://www.example.org", "https://intranet.example.org:8443"]
    path = share(watched, origins=origins)
    for answer in (sign_in(None).get(path), sign_in(None).get(path, headers={"hx-request": "true"})):
        assert f"frame-ancestors {' '.join(origins)}" in answer.headers["Content-Security-Policy"]
        assert "X-Frame-Options" not in answer.headers
    assert "frame-ancestors 'none'" in sign_in(None).get("/accounts/login/").headers["Content-Security-Policy"]
    revoke_link(SharedLink.objects.get())
    assert "X-Frame-Options" not in sign_in(None).get(path).headers, "the page around it shows why"


def end_by_revoking(stream: Stream) -> None:
    revoke_link(SharedLink.objects.get())


def end_by_time(stream: Stream) -> None:
    SharedLink.objects.update(expires_at=timezone.now())


def end_with_its_stream(stream: Stream) -> None:
    remove_stream(stream)


def end_by_moving(stream: Stream) -> None:
    other = create_stream("Theirs", owner=make_account("boss@example.org"), kind="developer").stream
    Stream.objects.filter(pk=stream.pk).update(organisation=other.organisation, site=None)


def end_with_its_owners(stream: Stream) -> None:
    Account.objects.update(is_active=False)


@pytest.mark.parametrize("end", [end_by_revoking, end_by_time, end_with_its_stream, end_by_moving, end_with_its_owners])
def test_one_that_has_ended_says_so_and_shows_nothing(
    sign_in: SignIn, watched: Stream, end: Callable[[Stream], None]
) -> None:
    path = share(watched, period="", days=FIXED)
    assert sign_in(None).get(path).status_code == 200
    end(watched)
    for headers in ({}, {"hx-request": "true"}):
        answer = sign_in(None).get(path, headers=headers)
        assert answer.status_code == 410
        assert "Front door" not in answer.content.decode()
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert ("HX-Refresh" in answer.headers) == bool(headers), "an open page is loaded again"


def test_it_is_gone_with_its_stream_site_tag_or_organisation(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    organisation, site = organisation_with(stream), site_of(stream)
    change_tags(stream, organisation, added=["window"], removed=[])
    tag = stream.tag_links.get().tag
    by_site, by_tag = share(Subject(organisation, site=site)), share(Subject(organisation, tag=tag))
    of_stream = share(stream)
    assert [sign_in(None).get(path).status_code for path in (by_site, by_tag)] == [200, 200]
    site.delete()
    tag.delete()
    assert [sign_in(None).get(path).status_code for path in (by_site, by_tag, of_stream)] == [404, 404, 200]
    stream.refresh_from_db()
    SharedLink.objects.filter(stream=stream).delete()
    assert sign_in(None).get(of_stream).status_code == 404


@pytest.mark.parametrize("token", ["x", "a" * 42, "a" * 43, "None"])
def test_nobody_guesses_an_address(sign_in: SignIn, stream: Stream, token: str) -> None:
    share(stream)
    answer = sign_in(None).get(f"/shared/{token}/")
    assert answer.status_code == 404
    assert answer.headers["X-Robots-Tag"] == "noindex"


def test_only_the_hash_of_the_token_is_stored(stream: Stream) -> None:
    token = share(stream).split("/")[2]
    assert len(token) == 43  # 256 bits
    assert token not in repr(SharedLink.objects.values().get())


def test_a_password_is_asked_for_once_a_browser(sign_in: SignIn, watched: Stream) -> None:
    path, other = (share(watched, password=PASSWORD, period="", days=FIXED) for _ in range(2))
    browser = sign_in(None)
    assert "passing_by" not in browser.get(path).content.decode()
    wrong = browser.post(path, {"password": "three quiet heron"})
    assert "This is not the password" in wrong.content.decode()
    assert not wrong.cookies
    right = browser.post(path, {"password": PASSWORD}, headers={"origin": "null"})
    assert (right.status_code, right.headers["Location"]) == (302, path)
    (cookie,) = right.cookies.values()
    assert (cookie["path"], cookie["secure"], cookie["httponly"]) == (path, True, True)
    assert Shown(browser.get(path).content.decode()).numbers["passing_by"] == "14"
    assert "passing_by" not in sign_in(None).get(path).content.decode()
    taken = sign_in(None)
    taken.cookies[cookie.key] = cookie.value
    assert "passing_by" not in taken.get(other).content.decode(), "it opens no other link with the same password"
    SharedLink.objects.filter(password__gt="").update(password="pbkdf2_sha256$1$x$y")
    assert "passing_by" not in browser.get(path).content.decode()


def test_an_open_page_whose_password_is_due_again_is_loaded_again(sign_in: SignIn, watched: Stream) -> None:
    path = share(watched, password=PASSWORD)
    answer = sign_in(None).get(path, headers={"hx-request": "true"})
    assert answer.headers["HX-Refresh"] == "true"
    assert "passing_by" not in answer.content.decode()


def test_guesses_are_limited_by_link_and_address(sign_in: SignIn, stream: Stream) -> None:
    path, other = (share(stream, password=PASSWORD) for _ in range(2))
    browser = sign_in(None)
    assert statuses(browser, path, 11, password="wrong") == [200] * 10 + [429]
    refused = browser.post(path, {"password": PASSWORD})
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "60")
    assert not refused.cookies, "not even the right one helps now"
    assert statuses(browser, other, password="wrong") == [200]
    elsewhere = browser.post(path, {"password": PASSWORD}, REMOTE_ADDR="192.0.2.9")
    assert elsewhere.status_code == 302, "a guesser locks nobody else out"


def test_a_link_without_a_password_takes_none(sign_in: SignIn, stream: Stream) -> None:
    answer = sign_in(None).post(share(stream), {"password": "x"})
    assert answer.status_code == 302
    assert not answer.cookies


def test_its_use_is_noted_to_a_minute(sign_in: SignIn, stream: Stream) -> None:
    path, browser = share(stream), sign_in(None)
    assert SharedLink.objects.get().used_at is None
    browser.get(path)
    first = SharedLink.objects.get().used_at
    assert first is not None
    browser.get(path)
    assert SharedLink.objects.get().used_at == first
    SharedLink.objects.update(used_at=first - timedelta(minutes=2))
    browser.get(path)
    assert (SharedLink.objects.get().used_at or first) > first


def test_it_stays_when_its_creator_leaves(sign_in: SignIn, owner: Account, viewer: Account, stream: Stream) -> None:
    share_stream(stream, viewer, "manager")
    subject = Subject(organisation_with(stream), stream=stream)
    made = create_link(subject, LinkChoices("Landlord", "7d", timezone.now() + DAY), by=viewer)
    Membership.objects.filter(account=viewer).delete()
    path = made.address.removeprefix("https://console.example.org")
    assert sign_in(None).get(path).status_code == 200
    listed = f"/organisations/{stream.organisation_id}/links/"
    assert "viewer@example.org, no longer a member" in sign_in(owner).get(listed).content.decode()
    viewer.delete()
    assert sign_in(None).get(path).status_code == 200


def test_a_group_shows_the_sums_of_its_streams_and_names_none(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    site, organisation = site_of(stream), organisation_with(stream)
    site.name = "North gate"
    site.save()
    create_note(organisation, "Mrs Example is on holiday", timezone.now().date(), about=None)
    noon = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - 2 * DAY
    cover(stream, noon - timedelta(hours=1), noon + timedelta(hours=1))
    write(*(seen(stream, noon + timedelta(seconds=30 * n), looks=True) for n in range(12)))
    told = sign_in(owner).get(f"/streams/numbers.json?days=7&site={site.pk}").json()
    for subject in (Subject(organisation), Subject(organisation, site=site)):
        page = sign_in(None).get(share(subject)).content.decode()
        assert Shown(page).numbers["passing_by"] == str(told["metrics"]["passing_by"]["value"]) == "12"
        assert stream.name not in page
        assert "Mrs Example" not in page
        assert owner.email not in page, "which is the organisation's name until somebody changes it"
        assert subject.title in page
    assert Note.objects.exists()
    last_month = sign_in(None).get(share(Subject(organisation, site=site), period="last-month"))
    assert last_month.status_code == 200


def test_past_links_are_forgotten(stream: Stream) -> None:
    for _ in range(3):
        share(stream)
    ended, revoked, live = SharedLink.objects.order_by("pk")
    SharedLink.objects.filter(pk=ended.pk).update(expires_at=timezone.now() - KEPT - DAY)
    SharedLink.objects.filter(pk=revoked.pk).update(revoked_at=timezone.now() - KEPT - DAY)
    assert delete_past_links() == 2
    assert SharedLink.objects.get() == live


def test_the_area_has_a_rate_by_address() -> None:
    assert SHARED_LINKS in OPEN_AREAS
    assert SHARED_LINKS.prefix == "/shared/"


def test_a_period_moves_with_the_clock(sign_in: SignIn, owner: Account, watched: Stream) -> None:
    for name in ("today", "7d", "last-week", "last-month"):
        ours = Shown(sign_in(None).get(share(watched, period=name)).content.decode())
        theirs = show(sign_in(owner), watched, f"period={name}")
        assert ours.report["data-from"] == theirs.report["data-from"]
        assert ours.numbers == theirs.numbers
        assert ("hx-trigger" in ours.report) == (name in ("today", "7d"))
