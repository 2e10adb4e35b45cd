"""What the browser wrote down, such as its console and its network."""

from typing import Any

from bench.browsing.browser import Browser


def read_log(browser: Browser, name: str) -> list[dict[str, Any]]:
    """`browser` or `performance`; what was read once is not read again."""
    entries: list[dict[str, Any]] = browser.get_log(name)  # type: ignore[no-untyped-call]
    return entries
