"""The person at the browser: every page is photographed, and what the browser complains of is kept."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from bench.journeys.console.person import OWNER, JourneySetup, Person
from bench.journeys.dashboard.page import settle
from bench.journeys.figures import JourneyFigure
from bench.journeys.haproxy import HaproxyFront
from bench.journeys.product.device import Device
from bench.journeys.product.films import Film
from bench.lib.browser import console_errors, overflowing, requests_elsewhere, shoot
from bench.lib.browser.inspection import look_at
from bench.lib.browser.pictures import VIEWS
from onlooker_client import Client
from testkit import Stack


class Traveller(Person):
    """Looks at pages quickly: how accessible each one is, `just test-console` says."""

    def look(self, name: str) -> None:
        self.pages.append(name)
        self.faults += [f"{name}: {line}" for line in console_errors(self.browser)]
        self.faults += [f"{name}: asks {url}" for url in requests_elsewhere(self.browser)]
        self.faults += [f"{name}: wider than a telephone: {element}" for element in overflowing(self.browser)]
        shoot(self.browser, self.pictures, self._numbered(name), views=VIEWS[:2])

    def look_at_dashboard(self, name: str) -> None:
        """In all views, once its charts are drawn, and checked for accessibility."""
        self.pages.append(name)
        self.faults += look_at(self.browser, self.pictures, self._numbered(name), checked=VIEWS[:1], settle=settle)

    def _numbered(self, name: str) -> str:
        return f"{len(self.pages):02d}-{name}"


@dataclass
class Trip:
    """One journey."""

    scene: JourneySetup
    front: HaproxyFront
    person: Traveller
    device: Device
    filmed: Film
    """What the camera sees."""
    recorded: Film
    """What was filmed yesterday."""
    figures: list[JourneyFigure] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    run_line: Sequence[str] = ("onlooker-agent", "run")

    @property
    def stack(self) -> Stack:
        return self.scene.stack

    @property
    def login(self) -> str:
        return self.scene.known["login"]

    @property
    def password(self) -> str:
        return self.scene.known["first password"]

    @property
    def authority(self) -> Path:
        """As the person saved it on the device."""
        return self.device.home / "authority.pem"

    def check(self, right: bool, fault: str) -> None:
        if not right:
            self.faults.append(fault)

    def open_dashboard(self, **period: str) -> None:
        """`from_` is `from`, which Python keeps for itself."""
        query = urlencode({name.rstrip("_"): value for name, value in period.items()})
        self.person.open(f"/streams/{self.login}/dashboard/?{query}")
        settle(self.person.browser)

    @contextmanager
    def reading(self) -> Iterator[Client]:
        """The SDK, as a program of the same person uses it: it finds console and data endpoint by itself."""
        with Client(self.stack.url, self.login, self.password, ca_file=str(self.authority), username=OWNER) as client:
            yield client
