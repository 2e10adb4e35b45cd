"""What all parts of a run share: the product, somebody at a browser, the streams, and what was found wrong."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from bench.browsing import Browser, open_browser
from bench.browsing.look import look_at
from bench.browsing.shots import EVERY_VIEW, VIEWS
from bench.console.person import Person
from bench.dashboard.figures import Figure
from bench.dashboard.shown import Shown, read_page, settle
from bench.dashboard.world import PASSWORD, World
from onlooker.testing import Stack, TestStream

if TYPE_CHECKING:
    from bench.dashboard.waking import Sleeper


@dataclass
class Stage:
    """One run."""

    stack: Stack
    person: Person
    world: World
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
        """Whoever was signed in is not any more."""
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


Part = Callable[[Stage], list[Figure]]
