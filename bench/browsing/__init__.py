"""A real browser, without a window, that looks at the console's pages as a person would."""

from bench.browsing.browser import Browser, open_browser
from bench.browsing.checks import console_errors, overflowing, requests_elsewhere
from bench.browsing.clipboard import copied
from bench.browsing.paint import first_useful_paints
from bench.browsing.paper import print_pages
from bench.browsing.shots import shoot
from bench.browsing.violations import violations
from bench.browsing.weights import Fetched, load_cold

__all__ = [
    "Browser",
    "Fetched",
    "console_errors",
    "copied",
    "first_useful_paints",
    "load_cold",
    "open_browser",
    "overflowing",
    "print_pages",
    "requests_elsewhere",
    "shoot",
    "violations",
]
