"""Numbers of a site, a tag or all streams together: what is visible, and nothing else, as a page and as JSON."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from memberships import share_stream
from onlooker.console.accounts.models import Account
from onlooker.console.dashboard.figures import NO_VALUE
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Site, Stream
from shop_numbers import count, make_shops, watch

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[[Account | None], Client]
NUMBERS = "/streams/numbers.json"


@pytest.fixture
def shops(owner: Account) -> list[Stream]:
    """Two at a site, one of them tagged, and one elsewhere."""
    streams = make_shops(owner)
    for number, stream in enumerate(streams, start=1):
        count(stream, 10 * number, days_ago=2)
        count(stream, 10 * number, days_ago=20)
    return streams


def test_numbers_of_all_a_site_and_a_tag_are_the_sums_of_their_streams(
    sign_in: SignIn, owner: Account, shops: list[Stream]
) -> None:
    browser = sign_in(owner)
    site, tag = Site.objects.get(), shops[1].tag_links.get().tag
    asked = {
        f"{NUMBERS}?days=7": (60, 3),
        f"{NUMBERS}?days=30": (120, 3),
        f"{NUMBERS}?days=7&site={site.pk}": (30, 2),
        f"{NUMBERS}?days=7&site=0": (30, 1),
        f"{NUMBERS}?days=7&tag={tag.pk}": (20, 1),
        f"{NUMBERS}?days=7&tag={tag.pk}&site={site.pk}": (20, 1),
    }
    for address, (people, streams) in asked.items():
        told = browser.get(address).json()
        assert told["metrics"]["passing_by"] == told["metrics"]["interested"] == {"value": people}, address
        assert told["metrics"]["stop_time"] == {"value": 5.0}
        assert sum(one["metrics"]["passing_by"]["value"] for one in told["streams"]) == people
        assert (told["stream_count"], len(told["streams"])) == (streams, streams)
        assert sum(day["passing_by"] for day in told["by_day"]) == people


def test_the_page_shows_the_same_and_leads_to_each_stream(sign_in: SignIn, owner: Account, shops: list[Stream]) -> None:
    page = sign_in(owner).get(f"/streams/numbers/?days=7&site={Site.objects.get().pk}").content.decode()
    assert "<h1>North gate</h1>" in page
    assert 'data-metric="passing_by" data-value="30"' in page
    assert page.index(">Two</a>") < page.index(">One</a>"), "the most passing by first"
    assert f"/streams/{shops[0].client_id}/dashboard/" in page
    assert ">Three</a>" not in page


def test_coverage_and_changes_are_told_of_the_group(sign_in: SignIn, owner: Account) -> None:
    streams = [create_stream(name, owner=owner, kind="enterprise").stream for name in ("One", "Two")]
    Stream.objects.update(created_at=datetime.now(UTC) - timedelta(days=300))
    for stream in streams:
        watch(stream, days=14)
        count(stream, 40, days_ago=3)
        count(stream, 20, days_ago=10)
    told = sign_in(owner).get(f"{NUMBERS}?days=7").json()
    assert told["coverage"]["watched_s"] == 2 * 6 * 86_400
    assert 0.85 < told["coverage"]["share"] <= 1
    change = told["comparison"]["changes"]["passing_by"]
    assert (told["comparison"]["reason"], change["now"], change["before"]) == (None, 80, 40)
    assert (change["size"], change["direction"]) == (2.0, "up")


def test_a_viewer_gets_the_numbers_of_chosen_sites_alone(
    sign_in: SignIn, owner: Account, viewer: Account, shops: list[Stream]
) -> None:
    shops[2].refresh_from_db()
    share_stream(shops[2], viewer)
    browser = sign_in(viewer)
    assert browser.get(f"{NUMBERS}?days=7").json()["metrics"]["passing_by"] == {"value": 30}
    hidden = Site.objects.get(name="North gate").pk
    tag = shops[1].tag_links.get().tag.pk
    for path in (
        f"{NUMBERS}?site={hidden}",
        f"/streams/numbers/?site={hidden}",
        f"{NUMBERS}?tag={tag}",
        f"{NUMBERS}?site=999",
    ):
        assert browser.get(path).status_code == 404, path


def test_somebody_without_streams_gets_an_empty_page(sign_in: SignIn, stranger: Account, shops: list[Stream]) -> None:
    browser = sign_in(stranger)
    assert "There are no streams yet." in browser.get("/streams/numbers/").content.decode()
    told = browser.get(NUMBERS).json()
    assert (told["stream_count"], told["metrics"]["passing_by"]) == (0, {"value": 0})


def test_days_that_nobody_watched_have_no_number(sign_in: SignIn, owner: Account) -> None:
    create_stream("New", owner=owner, kind="enterprise")
    page = sign_in(owner).get("/streams/numbers/").content.decode()
    shown = re.findall(r"<dd><strong>(.*?)</strong><small>(.*?)</small></dd>", page)
    assert shown == [(NO_VALUE, "not watched")] * 7


def test_nothing_of_too_few_people_is_told_of_a_stream_with_groups(sign_in: SignIn, owner: Account) -> None:
    stream = create_stream("Grouped", owner=owner, kind="enterprise", groups_of=5).stream
    Stream.objects.update(created_at=datetime.now(UTC) - timedelta(days=300))
    count(stream, 4, days_ago=2)
    told = sign_in(owner).get(f"{NUMBERS}?days=7").json()["metrics"]
    assert told["interested"] == {"value": 4}
    assert told["stop_time"] == {"value": None}
    assert told["gender"] == {"?": 4, "female": 0, "male": 0}
