"""Looks at pages: pictures, accessibility, the browser's complaints, requests elsewhere, overflow.

python -m bench.lib.browser.inspection https://localhost:9443/accounts/login/ --out pictures
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import click

from bench.lib.browser import Browser, open_browser
from bench.lib.browser.checks import console_errors, overflowing, requests_elsewhere, violations
from bench.lib.browser.pictures import VIEWS, Settle, View, at_once, shoot


def look_at(
    browser: Browser,
    folder: Path,
    name: str,
    *,
    views: Sequence[View] = VIEWS,
    checked: Sequence[View] = VIEWS,
    settle: Settle = at_once,
) -> list[str]:
    """Shoot the page that is open in some views, check it in some; what is wrong with it, a line each."""
    faults = [f"{name}: {line}" for line in console_errors(browser)]
    faults += [f"{name}: asks {url}" for url in requests_elsewhere(browser)]
    faults += [f"{name}: wider than a telephone: {element}" for element in overflowing(browser, settle=settle)]
    faults += [f"{name}: {found}" for found in violations(browser, views=checked, settle=settle)]
    shoot(browser, folder, name, views=views, settle=settle)
    return faults


@click.command()
@click.argument("urls", nargs=-1, required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--cookie", help="NAME=VALUE, such as a session's.")
def main(urls: tuple[str, ...], *, out: Path, cookie: str | None) -> None:
    faults = []
    with open_browser() as browser:
        if cookie:
            browser.get(urls[0])
            name, _, value = cookie.partition("=")
            browser.add_cookie({"name": name, "value": value, "path": "/", "secure": True})
        for url in urls:
            browser.get(url)
            name = urlsplit(url).path.strip("/").replace("/", "-") or "home"
            faults += look_at(browser, out, name)
    print("\n".join(faults) or "nothing wrong")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
