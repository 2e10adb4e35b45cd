"""The list of streams: problems first, found by words, site, tag and state, in any order, from any stream on."""

import re
import time
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from onlooker.console.accounts.models import Account
from onlooker.console.dashboard import overview
from onlooker.console.dashboard.fleet_list import (
    FleetFilter,
    FleetList,
    Order,
    parse_filter,
    read_fleet_list,
    release_numbers,
)
from onlooker.streams.administration import create_stream, set_stream
from onlooker.streams.bulk_changes import change_tags
from onlooker.streams.models import AgentCondition, PictureCondition, Site, Stream, Usage
from onlooker.streams.organisations import organisation_of
from onlooker.streams.video_time import month_of

pytest_plugins = ["pages"]
SignIn = Callable[[Account | None], Client]
ALL = FleetFilter()


def make(
    owner: Account, name: str, *, seen_s: float | None = 1, kind: str = "enterprise", used_s: float = 5.0
) -> Stream:
    stream = create_stream(name, owner=owner, kind=kind).stream
    if seen_s is not None:
        last = timezone.now() - timedelta(seconds=seen_s)
        Usage.objects.create(stream=stream, month=month_of(time.time()), video_s=used_s, last_frame_at=last)
    return stream


def put_agent(stream: Stream, *, version: str = "99.0.0", state: str = "seeing") -> None:
    now = timezone.now()
    AgentCondition.objects.create(
        stream=stream, state=state, since_at=now, over_s=60, sent=1, dropped={}, version=version, received_at=now
    )


def read(ids: list[int], asked: FleetFilter = ALL, limit: int = 50) -> FleetList:
    quota_s = settings.ONLOOKER.developer_quota_s
    return read_fleet_list(ids, asked, quota_s=quota_s, now=timezone.now(), limit=limit)


@pytest.fixture
def fleet(owner: Account) -> dict[str, Stream]:
    """One in each state."""
    streams = {
        "a live one": make(owner, "A live one"),
        "b old": make(owner, "B old agent"),
        "c quota": make(owner, "C quota", kind="developer", used_s=1e6),
        "d blind": make(owner, "D blind"),
        "e offline": make(owner, "E offline", seen_s=3600),
        "f never": make(owner, "F never", seen_s=None),
        "g disabled": make(owner, "G disabled"),
        "h closed": make(owner, "H closed", seen_s=3600),
    }
    put_agent(streams["a live one"])
    put_agent(streams["b old"], version="0.0.9")
    now = timezone.now()
    PictureCondition.objects.create(stream=streams["d blind"], fault="covered", since_at=now, seen_at=now)
    set_stream(str(streams["g disabled"].client_id), {"enabled": False}, quota_s=1e9)
    other_day = ("mo", "tu", "we", "th", "fr", "sa", "su")[(now.weekday() + 3) % 7]
    set_stream(str(streams["h closed"].client_id), {"hours": f"{other_day} 09:00-10:00"}, quota_s=1e9)
    return streams


def names_of(listing: FleetList) -> list[str]:
    names = dict(Stream.objects.values_list("pk", "name"))
    return [names[row.id] for row in listing.rows]


def test_problems_stand_first_and_are_counted(fleet: dict[str, Stream]) -> None:
    listing = read([stream.pk for stream in fleet.values()])
    assert names_of(listing) == [
        *("E offline", "D blind", "C quota", "B old agent"),
        *("A live one", "F never", "G disabled", "H closed"),
    ]
    assert [row.problem for row in listing.rows] == ["offline", "blind", "quota", "old_agent", "", "", "", ""]
    assert [row.state for row in listing.rows][4:] == ["live", "never", "disabled", "closed"]
    assert dict(listing.summary.states) == {
        **{"offline": 1, "blind": 1, "quota": 1, "old_agent": 1},
        **{"live": 2, "closed": 1, "never": 1, "disabled": 1},
    }
    assert (listing.summary.streams, listing.found) == (8, 8)


def test_an_agent_that_lost_its_camera_is_blind_though_no_frame_comes(owner: Account) -> None:
    stream = make(owner, "Lost", seen_s=3600)
    put_agent(stream, state="camera_lost")
    [row] = read([stream.pk]).rows
    assert (row.state, row.fault) == ("blind", "camera_lost")


@pytest.mark.parametrize(
    ("parameters", "found"),
    [
        ({"q": "OLD"}, ["B old agent"]),
        ({"q": " north "}, ["A live one", "D blind"]),
        ({"q": "wind"}, ["D blind", "A live one"]),
        ({"q": "%"}, []),
        ({"state": "offline"}, ["E offline"]),
        ({"state": "old_agent"}, ["B old agent"]),
        ({"state": "nonsense", "q": "quota"}, ["C quota"]),
    ],
)
def test_streams_are_found_by_words_of_name_site_and_tag_and_by_state(
    fleet: dict[str, Stream], owner: Account, parameters: dict[str, str], found: list[str]
) -> None:
    organisation = organisation_of(owner)
    site = Site.objects.create(organisation=organisation, name="North gate")
    for name in ("a live one", "d blind"):
        Stream.objects.filter(pk=fleet[name].pk).update(site=site)
        change_tags(fleet[name], organisation, added=["Window"], removed=[])
    asked = parse_filter(parameters)
    assert sorted(names_of(read([stream.pk for stream in fleet.values()], asked))) == sorted(found)


def test_streams_are_found_by_site_and_tag(fleet: dict[str, Stream], owner: Account) -> None:
    organisation, ids = organisation_of(owner), [stream.pk for stream in fleet.values()]
    site = Site.objects.create(organisation=organisation, name="North gate")
    Stream.objects.filter(pk=fleet["a live one"].pk).update(site=site)
    change_tags(fleet["b old"], organisation, added=["window"], removed=[])
    tag = fleet["b old"].tag_links.get().tag
    assert names_of(read(ids, FleetFilter(site_id=site.pk))) == ["A live one"]
    assert read(ids, FleetFilter(site_id=0)).found == 7
    assert names_of(read(ids, FleetFilter(tag_id=tag.pk))) == ["B old agent"]
    assert read(ids, FleetFilter(tag_id=tag.pk, site_id=site.pk)).found == 0


@pytest.mark.parametrize("column", ["problem", "name", "site", "state", "watched", "passing_by", "conversion", "used"])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_pages_by_key_hold_every_stream_once_in_any_order(
    fleet: dict[str, Stream], column: str, is_reversed: bool
) -> None:
    ids = [stream.pk for stream in fleet.values()]
    order = Order(column, is_reversed=is_reversed)
    whole = [row.id for row in read(ids, FleetFilter(order=order)).rows]
    page = read(ids, FleetFilter(order=order), limit=3)
    walked, pages = [row.id for row in page.rows], 1
    while page.next_page:
        page = read(ids, parse_filter(dict(part.split("=") for part in page.next_page.split("&"))), limit=3)
        walked += [row.id for row in page.rows]
        pages += 1
    assert (walked, pages) == (whole, 3)
    back = read(ids, parse_filter(dict(part.split("=") for part in page.previous_page.split("&"))), limit=3)
    assert [row.id for row in back.rows] == whole[3:6]


def test_a_stream_that_left_the_list_leads_to_its_first_page(fleet: dict[str, Stream]) -> None:
    ids = [stream.pk for stream in fleet.values()]
    assert read(ids, FleetFilter(after=10**9), limit=2).first_place == 1
    assert read([], FleetFilter()).rows == ()


def test_streams_that_are_not_visible_are_not_in_the_list(fleet: dict[str, Stream], stranger: Account) -> None:
    theirs = make(stranger, "Theirs")
    assert theirs.pk not in [row.id for row in read([stream.pk for stream in fleet.values()]).rows]


def test_a_list_says_how_to_find_again_what_it_shows(sign_in: SignIn, owner: Account, fleet: dict[str, Stream]) -> None:
    page = sign_in(owner).get("/streams/?q=o&state=offline").content.decode()
    assert 'value="o"' in page
    assert '<option value="offline" selected>' in page
    assert "1 found." in page
    assert 'hx-get="/streams/?q=o&amp;state=offline"' in page
    assert re.search(r'id="state-offline" class="problem" href="\?q=o" aria-current="true"', page)
    assert "No stream is found." in sign_in(owner).get("/streams/?q=zzz").content.decode()


def test_a_row_says_what_is_wrong(
    sign_in: SignIn, owner: Account, fleet: dict[str, Stream], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "RANKED_AT_MOST", 3)
    page = sign_in(owner).get("/streams/").content.decode()
    assert "Something covers the lens. Remove it." in page
    assert "Agent 0.0.9 is older than the server" in page
    assert page.index("E offline") < page.index("D blind") < page.index("A live one")


def test_versions_are_compared_by_their_numbers() -> None:
    assert release_numbers("0.10.2rc1") == [0, 10, 2]
    assert release_numbers("1.0") == [1, 0]
