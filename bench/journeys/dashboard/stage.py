"""The numbers as the data endpoint gives them to any program with a token."""

import time
import time as clock
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import httpx2

from bench.journeys.console.person import Person
from bench.journeys.dashboard.page import Shown, read_page, settle
from bench.journeys.figures import JourneyFigure
from bench.lib.browser import Browser, open_browser
from bench.lib.browser.inspection import look_at
from bench.lib.browser.pictures import EVERY_VIEW, VIEWS
from bench.lib.clients import ENTITIES, OWNER, fetch_token, open_data_client
from bench.lib.product import say
from onlooker.demo import PLACES, DemoStream, Place, fill_demo, many_places
from onlooker.demo.history import give_password
from onlooker.metrics.definitions import METRICS
from testkit import Stack, TestStream
from testkit.mailbox import Mailbox

if TYPE_CHECKING:
    from bench.journeys.dashboard.recovery import Sleeper


RATE_LIMITED = 429
Entities = dict[str, dict[str, dict[str, Any]]]


@dataclass(frozen=True)
class DataSource:
    """A stream's numbers, in its own zone."""

    client: httpx2.Client
    zone: str

    def ask(
        self, from_date: str, to_date: str, *, time: str = "global", metrics: Iterable[str] = METRICS, **more: str
    ) -> Entities:
        """All buckets of a range, page after page."""
        wanted = {"metrics": ",".join(metrics), "time": time, "tz": self.zone} | more
        answer = self._get(ENTITIES, wanted | {"from_date": from_date, "to_date": to_date})
        entities: Entities = answer["entities"]
        while answer["next_page"]:
            answer = self._get(answer["next_page"], None)
            entities |= answer["entities"]
        return entities

    def totals(self, from_date: str, to_date: str, **more: str) -> dict[str, Any]:
        """With `by` and `filter` as the address has them."""
        (values,) = self.ask(from_date, to_date, **more).values()
        return values

    def _get(self, url: str, parameters: dict[str, str] | None) -> Any:
        answer = self.client.get(url, params=parameters)
        while answer.status_code == RATE_LIMITED:
            clock.sleep(float(answer.headers["Retry-After"]))
            answer = self.client.get(url, params=parameters)
        if answer.status_code != 200:
            raise RuntimeError(f"The data endpoint answered {answer.status_code}: {answer.text[:300]}")
        return answer.json()


VIEWER, COLLECTOR = "viewer@example.org", "collector@example.org"
"""The collector has many streams, the viewer sees one of the owner's."""
PASSWORD = "a long password nobody guesses"
DAYS, YEAR_DAYS, MANY_DAYS = 60, 365, 15
BEFORE_THE_YEAR_DAYS = 21
"""So that last week has one 52 weeks earlier."""
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
class DashboardWorld:
    """All streams of a run. Except for the collector's, they belong to the owner."""

    shop: Screen
    museum: Screen
    year: Screen
    empty: Screen
    live: Screen
    many: Sequence[Screen]

    @property
    def filled(self) -> tuple[Screen, ...]:
        return self.shop, self.museum, self.year


_SHARE = """
WITH site AS (
    INSERT INTO streams_site (organisation_id, name) SELECT organisation_id, name FROM streams_stream WHERE id = %s
    RETURNING id, organisation_id),
placed AS (UPDATE streams_stream SET site_id = site.id FROM site WHERE streams_stream.id = %s),
member AS (
    INSERT INTO streams_membership (organisation_id, account_id, role)
    SELECT site.organisation_id, account.id, 'viewer' FROM site, accounts_account account WHERE account.email = %s
    RETURNING id)
INSERT INTO streams_membershipsite (membership_id, site_id) SELECT member.id, site.id FROM member, site"""


def make_world(stack: Stack, *, streams: int = MANY) -> DashboardWorld:
    """Fill the database of a running product."""
    started = time.monotonic()
    url = stack.setting("database_url")
    year = replace(PLACES[0], name="A year of it", people_a_day=YEAR_PEOPLE_A_DAY)
    with ThreadPoolExecutor(4) as people:
        shop, museum = _fill(url, PLACES, owner=OWNER, days=DAYS)
        (with_a_year,) = _fill(url, [year], owner=OWNER, days=YEAR_DAYS + BEFORE_THE_YEAR_DAYS)
        many = _fill(url, many_places(streams), owner=COLLECTOR, days=MANY_DAYS)
        list(people.map(lambda email: give_password(url, email, PASSWORD), (OWNER, VIEWER, COLLECTOR)))
    empty, live = _make_stream(stack, "Nothing yet"), _make_stream(stack, "Live scene")
    stack.execute(_SHARE, shop.id, shop.id, VIEWER)
    say(f"the world was filled in {time.monotonic() - started:.1f} s")
    return DashboardWorld(shop, museum, with_a_year, empty, live, many)


def open_source(stack: Stack, screen: Screen, *, username: str = OWNER) -> DataSource:
    """Its numbers, as a program reads them."""
    return DataSource(open_data_client(stack, fetch_token(stack, screen, username=username)), screen.zone)


def _fill(url: str, places: Sequence[Place], *, owner: str, days: int) -> list[Screen]:
    return [_screen(stream) for stream in fill_demo(url, days=days, places=places, owner=owner)]


def _screen(stream: DemoStream) -> Screen:
    return Screen(stream.id, stream.client_id, stream.access_token, stream.place.name, stream.place.zone)


def _make_stream(stack: Stack, name: str) -> Screen:
    made = stack.create_stream()
    stack.execute("UPDATE streams_stream SET name = %s, time_zone = %s WHERE id = %s", name, LIVE_ZONE, made.id)
    return Screen(made.id, made.client_id, made.access_token, name, LIVE_ZONE)


@dataclass
class Stage:
    """One run."""

    stack: Stack
    person: Person
    world: DashboardWorld
    mailbox: Mailbox
    pictures: Path
    repeats: int
    """How often each time is measured."""
    open_things: ExitStack
    """Closed when the run ends."""
    faults: list[str] = field(default_factory=list)
    compared: int = 0
    """Numbers of pages that were held against those of the data endpoint."""
    deaths: int = 0
    """Processes that this run killed."""
    sleeper: "Sleeper | None" = None
    pasts: dict[str, object] = field(default_factory=dict)
    """What the oracle knows of each screen, by client id."""
    browsers: dict[str, Browser] = field(default_factory=dict)
    """All that are open, by name."""

    def open_browser(self, name: str, *arguments: str) -> "Stage":
        """The same run for somebody at another browser, which stays open until the run ends."""
        browser = self.open_things.enter_context(open_browser(*arguments))
        self.browsers[name] = browser
        return replace(self, person=Person(browser, self.stack.console_url, self.pictures))

    def check(self, right: bool, fault: str) -> None:
        if not right:
            self.faults.append(fault)

    def compare(self, shown: object, asked: object, what: str) -> None:
        self.compared += 1
        self.check(shown == asked, f"{what}: the page has {shown!r}, the data endpoint {asked!r}")

    def sign_in(self, email: str) -> None:
        """As this account; the one before is signed out."""
        person = self.person
        person.open("/accounts/login/")
        person.browser.delete_all_cookies()
        person.open("/accounts/login/")
        person.fill("Email", email)
        person.fill("Password", PASSWORD)
        person.press("Sign in")
        person.wait(lambda: person.path.startswith("/streams/"), "the streams")

    def open_dashboard(self, stream: TestStream, **period: str) -> Shown:
        """In the person's browser; `from_` is `from`, which Python keeps for itself."""
        self.person.open(dashboard_path(stream, **period))
        return read_page(self.person.browser)

    def look(self, name: str, *, alike: bool = False) -> None:
        """Have the page photographed in every view, and checked; in one view where others are much alike."""
        self.person.pages.append(name)
        checked = VIEWS[:1] if alike else VIEWS
        self.faults += look_at(
            self.person.browser, self.pictures, name, views=EVERY_VIEW, checked=checked, settle=settle
        )


def dashboard_path(stream: TestStream, **period: str) -> str:
    query = urlencode({name.rstrip("_"): value for name, value in period.items()})
    return f"/streams/{stream.client_id}/dashboard/" + (f"?{query}" if query else "")


Part = Callable[[Stage], list[JourneyFigure]]
