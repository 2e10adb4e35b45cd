"""The streams that dashboards are shown of: two of the demo, one with a year behind it, 30 small ones, an empty one."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from bench.dashboard.asked import Source
from bench.data_client import OWNER, fetch_token, open_data_client
from bench.product import say
from onlooker.testing import Stack, TestStream
from onlooker.testing.demo import PLACES, DemoStream, Place, fill_demo, many_places
from onlooker.testing.demo.filling import give_password

VIEWER, COLLECTOR = "viewer@example.org", "collector@example.org"
"""The collector has many streams, the viewer sees one of the owner's."""
PASSWORD = "a long password nobody guesses"
DAYS, YEAR_DAYS, MANY_DAYS = 60, 365, 15
MANY = 30
YEAR_PEOPLE_A_DAY = 200
LIVE_ZONE = "Europe/Paris"


@dataclass(frozen=True)
class Screen(TestStream):
    """A stream, by its name and its clock."""

    __test__ = False

    name: str
    zone: str


@dataclass(frozen=True)
class World:
    """All streams of a run. But for those of the collector they are the owner's."""

    shop: Screen
    museum: Screen
    year: Screen
    empty: Screen
    live: Screen
    many: Sequence[Screen]

    @property
    def filled(self) -> tuple[Screen, ...]:
        return self.shop, self.museum, self.year


def make_world(stack: Stack, *, streams: int = MANY) -> World:
    """Fill the database of a running product."""
    started = time.monotonic()
    url = stack.setting("database_url")
    year = replace(PLACES[0], name="A year of it", people_a_day=YEAR_PEOPLE_A_DAY)
    with ThreadPoolExecutor(4) as people:
        shop, museum = _fill(url, PLACES, owner=OWNER, days=DAYS)
        (with_a_year,) = _fill(url, [year], owner=OWNER, days=YEAR_DAYS)
        many = _fill(url, many_places(streams), owner=COLLECTOR, days=MANY_DAYS)
        list(people.map(lambda email: give_password(url, email, PASSWORD), (OWNER, VIEWER, COLLECTOR)))
    empty, live = _make_stream(stack, "Nothing yet"), _make_stream(stack, "Live scene")
    stack.execute(
        "INSERT INTO streams_member (stream_id, account_id, created_at)"
        " SELECT %s, id, now() FROM accounts_account WHERE email = %s",
        shop.id,
        VIEWER,
    )
    say(f"the world was filled in {time.monotonic() - started:.1f} s")
    return World(shop, museum, with_a_year, empty, live, many)


def open_source(stack: Stack, screen: Screen, *, username: str = OWNER) -> Source:
    """Its numbers, as a program reads them."""
    return Source(open_data_client(stack, fetch_token(stack, screen, username=username)), screen.zone)


def _fill(url: str, places: Sequence[Place], *, owner: str, days: int) -> list[Screen]:
    return [_screen(stream) for stream in fill_demo(url, days=days, places=places, owner=owner)]


def _screen(stream: DemoStream) -> Screen:
    return Screen(stream.id, stream.client_id, stream.access_token, stream.place.name, stream.place.zone)


def _make_stream(stack: Stack, name: str) -> Screen:
    made = stack.create_stream()
    stack.execute("UPDATE streams_stream SET name = %s, time_zone = %s WHERE id = %s", name, LIVE_ZONE, made.id)
    return Screen(made.id, made.client_id, made.access_token, name, LIVE_ZONE)
