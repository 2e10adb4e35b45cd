"""A real browser, without a window, that looks at the console's pages as a person would."""

from bench.browsing.browser import Browser, open_browser
from bench.browsing.checks import console_errors, overflowing, requests_elsewhere
from bench.browsing.clipboard import copied
from bench.browsing.shots import shoot
from bench.browsing.violations import violations

__all__ = [
    "Browser",
    "console_errors",
    "copied",
    "open_browser",
    "overflowing",
    "requests_elsewhere",
    "shoot",
    "violations",
]
