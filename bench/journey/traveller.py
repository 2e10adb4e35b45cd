"""The person at the browser: every page is photographed, and what the browser complains of is kept."""

from bench.browsing import console_errors, overflowing, requests_elsewhere, shoot
from bench.browsing.look import look_at
from bench.browsing.shots import VIEWS
from bench.console.person import Person
from bench.dashboard.shown import settle


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
