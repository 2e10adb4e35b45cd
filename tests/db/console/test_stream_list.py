"""The list of streams: how each stands, whose it is, and what it costs to show; its numbers: test_overview."""

import re
import time
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.conf import settings as django_settings
from django.test import Client
from django.utils import timezone

from memberships import share_stream
from onlooker.console.accounts.models import Account
from onlooker.console.dashboard.fleet_list import PAGE_SIZE
from onlooker.console.streams.status import StatusLabel, read_status
from onlooker.streams.administration import create_stream, set_stream
from onlooker.streams.models import Stream, Usage
from onlooker.streams.organisations import organisation_of
from onlooker.streams.video_time import as_duration, month_of

pytest_plugins = ["pages"]

SignIn = Callable[[Account | None], Client]
QUOTA_S = 3 * 3600.0


def make(owner: Account, name: str = "Front door", **values: object) -> Stream:
    stream = create_stream(name, owner=owner, kind="developer").stream
    if values:
        Stream.objects.filter(pk=stream.pk).update(**values)
    stream.refresh_from_db()
    return stream


def use(stream: Stream, video_s: float, *, ago_s: float, month_offset: int = 0) -> None:
    month = month_of(time.time() - month_offset * 31 * 86_400)
    last = timezone.now() - timedelta(seconds=ago_s)
    Usage.objects.create(stream=stream, month=month, video_s=video_s, last_frame_at=last)


def test_an_empty_list_says_what_to_do_first(sign_in: SignIn, owner: Account) -> None:
    page = sign_in(owner).get("/streams/").content.decode()
    assert "Create your first stream" in page
    assert 'href="/streams/new/"' in page


def test_a_name_opens_the_set_up_until_frames_arrive_and_then_the_dashboard(sign_in: SignIn, owner: Account) -> None:
    stream = make(owner)
    browser = sign_in(owner)
    link = f'<a id="stream-{stream.pk}" href="/streams/{stream.client_id}/'
    assert f'{link}">' in browser.get("/streams/").content.decode()
    use(stream, 5, ago_s=40 * 86_400)
    assert f'{link}dashboard/">' in browser.get("/streams/").content.decode()


def test_a_stream_without_a_frame_was_never_seen(owner: Account) -> None:
    stream = make(owner)
    status = read_status(stream)
    assert (status.label, status.since, status.last_frame_at) == (StatusLabel.NEVER_SEEN, stream.created_at, None)


@pytest.mark.parametrize(
    ("ago_s", "sign"),
    [(1, StatusLabel.LIVE), (55, StatusLabel.LIVE), (65, StatusLabel.SILENT), (40 * 86_400, StatusLabel.SILENT)],
)
def test_a_stream_is_live_for_a_minute_after_a_frame(owner: Account, ago_s: float, sign: StatusLabel) -> None:
    stream = make(owner)
    use(stream, 5, ago_s=ago_s)
    assert read_status(stream).label is sign


def test_a_frame_of_an_earlier_month_is_remembered_and_its_use_is_not(owner: Account) -> None:
    stream = make(owner)
    use(stream, 5000, ago_s=30 * 86_400, month_offset=2)
    status = read_status(stream)
    assert status.label is StatusLabel.SILENT
    assert status.used_s == 0


def test_a_disabled_stream_is_so_since_it_was_switched_off(owner: Account) -> None:
    stream = make(owner)
    use(stream, 5, ago_s=1)
    before = timezone.now()
    stream = set_stream(str(stream.client_id), {"enabled": False}, quota_s=QUOTA_S)
    status = read_status(stream)
    assert status.label is StatusLabel.DISABLED
    assert abs(status.since - before) < timedelta(seconds=5)


def test_a_used_up_month_ends_with_the_month(sign_in: SignIn, owner: Account) -> None:
    stream = make(owner, time_zone="Europe/Paris")
    use(stream, QUOTA_S, ago_s=1)
    status = read_status(stream)
    assert status.label is StatusLabel.QUOTA
    assert status.goes_on_at.day == 1
    page = sign_in(owner).get(f"/streams/{stream.client_id}/").content.decode()
    assert "Monthly limit reached" in page
    assert "Frames are refused until" in page


def test_an_enterprise_stream_has_no_bar_and_no_limit(sign_in: SignIn, owner: Account) -> None:
    stream = make(owner, kind="enterprise")
    use(stream, 5 * QUOTA_S, ago_s=1)
    assert read_status(stream).label is StatusLabel.LIVE
    page = sign_in(owner).get("/streams/").content.decode()
    assert "<meter" not in page
    assert "15 h" in page


def test_the_bar_shows_the_use_against_the_quota(sign_in: SignIn, owner: Account) -> None:
    use(make(owner), 5400, ago_s=1)
    page = sign_in(owner).get("/streams/").content.decode()
    assert 'max="10800.0"' in page
    assert 'value="5400.0"' in page
    assert "1 h 30 min of 3 h" in page


@pytest.mark.parametrize(("used_s", "is_warned"), [(0.8 * QUOTA_S - 1, False), (0.8 * QUOTA_S, True), (QUOTA_S, False)])
def test_a_month_is_nearly_used_up_from_four_fifths_on(
    sign_in: SignIn, owner: Account, used_s: float, is_warned: bool
) -> None:
    stream = make(owner)
    use(stream, used_s, ago_s=1)
    browser = sign_in(owner)
    assert ("nearly used up" in browser.get("/streams/").content.decode()) == is_warned
    assert ("the stream stops until" in browser.get(f"/streams/{stream.client_id}/").content.decode()) == is_warned


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (0.1, "0.1 s"),
        (59.97, "1 min"),
        (60, "1 min"),
        (250, "4 min 10 s"),
        (10_800, "3 h"),
        (7_500, "2 h 5 min"),
    ],
)
def test_durations_read_as_people_say_them(seconds: float, words: str) -> None:
    assert as_duration(seconds) == words


def test_the_last_frame_is_told_by_the_streams_clock(sign_in: SignIn, owner: Account) -> None:
    stream = make(owner, time_zone="Asia/Tokyo")
    Usage.objects.create(
        stream=stream, month=month_of(time.time()), video_s=1, last_frame_at="2026-03-01T20:30:00+00:00"
    )
    page = sign_in(owner).get("/streams/").content.decode()
    assert "2 Mar 2026, 05:30:00</time>" in page
    assert 'datetime="2026-03-01T20:30:00+00:00"' in page
    assert "Asia/Tokyo" in page


def test_shared_streams_stand_among_own_ones_and_say_whose_they_are(
    sign_in: SignIn, owner: Account, viewer: Account
) -> None:
    share_stream(make(owner, "Shop window"), viewer)
    make(viewer, "Art hall")
    make(viewer, "Zoo")
    page = sign_in(viewer).get("/streams/").content.decode()
    order = [page.index(words) for words in ("Art hall", "Shop window</a>", "of owner@example.org", "Zoo</a>")]
    assert order == sorted(order)
    assert "of owner@example.org" not in sign_in(owner).get("/streams/").content.decode()


def test_a_removed_stream_is_not_listed(sign_in: SignIn, owner: Account) -> None:
    make(owner, "Gone by now", removed_at=timezone.now())
    assert "Gone by now" not in sign_in(owner).get("/streams/").content.decode()


def test_a_refresh_answers_with_the_list_alone(sign_in: SignIn, owner: Account) -> None:
    make(owner)
    part = sign_in(owner).get("/streams/", headers={"hx-request": "true"}).content.decode()
    assert part.strip().startswith('<div id="streams"')
    assert "<html" not in part


def test_names_are_text_and_not_markup(sign_in: SignIn, owner: Account) -> None:
    make(owner, "<script>alert(1)</script>")
    page = sign_in(owner).get("/streams/").content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page


def test_the_quota_is_the_one_that_is_set() -> None:
    assert django_settings.ONLOOKER.developer_quota_s == QUOTA_S


def test_thirty_streams_cost_as_many_queries_as_one(
    sign_in: SignIn, owner: Account, viewer: Account, django_assert_num_queries: Callable[..., object]
) -> None:
    for number in range(15):
        use(make(viewer, f"Own {number}"), number, ago_s=number)
        share_stream(make(owner, f"Shared {number}"), viewer)
    browser = sign_in(viewer)
    browser.get("/streams/")
    # session, account, its addresses, invitations, what is visible; begin, jit, hours, the list, end; the streams with
    # organisations and sites, tags on them, how they stand, sites and tags to choose from
    with django_assert_num_queries(15):
        page = browser.get("/streams/").content.decode()
    assert page.count('<th scope="row">') == 30


def test_long_lists_have_pages_and_refresh_the_page_one_is_on(sign_in: SignIn, owner: Account) -> None:
    theirs = organisation_of(owner)
    Stream.objects.bulk_create([Stream(name=f"Door {n:03}", organisation=theirs) for n in range(PAGE_SIZE + 7)])
    browser = sign_in(owner)
    assert browser.get("/streams/").content.decode().count('<th scope="row">') == PAGE_SIZE
    [following] = re.findall(r'rel="next" href="\?([^"]+)"', browser.get("/streams/").content.decode())
    second = browser.get(f"/streams/?{following}").content.decode()
    assert second.count('<th scope="row">') == 7
    assert f'hx-get="/streams/?{following}"' in second
    assert "51 to 57 of 57" in second
    [back] = re.findall(r'rel="prev" href="\?([^"]+)"', second)
    assert "1 to 50 of 57" in browser.get(f"/streams/?{back}").content.decode()
    assert browser.get("/streams/?after=nonsense&page=2").status_code == 200
