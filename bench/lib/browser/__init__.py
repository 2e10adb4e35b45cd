"""A real browser, without a window, that looks at the console's pages as a person would."""

from bench.lib.browser.browser import Browser, copied, open_browser, print_pages
from bench.lib.browser.checks import console_errors, overflowing, requests_elsewhere, violations
from bench.lib.browser.pictures import shoot
from bench.lib.browser.speed import Fetched, first_useful_paints, load_cold
from bench.lib.browser.steps import Failure, Step, Travelled, keep_failure, travel

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
