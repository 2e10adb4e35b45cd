"""A real browser, without a window, that looks at the console's pages as a person would."""

from bench.browsing.browser import Browser, open_browser
from bench.browsing.checks import console_errors, overflowing, requests_elsewhere
from bench.browsing.clipboard import copied
from bench.browsing.failure import Failure, keep_failure
from bench.browsing.paint import first_useful_paints
from bench.browsing.paper import print_pages
from bench.browsing.shots import shoot
from bench.browsing.steps import Step, Travelled, travel
from bench.browsing.violations import violations
from bench.browsing.weights import Fetched, load_cold

__all__ = [
    "Browser",
    "Failure",
    "Fetched",
    "Step",
    "Travelled",
    "console_errors",
    "copied",
    "first_useful_paints",
    "keep_failure",
    "load_cold",
    "open_browser",
    "overflowing",
    "print_pages",
    "requests_elsewhere",
    "shoot",
    "travel",
    "violations",
]
