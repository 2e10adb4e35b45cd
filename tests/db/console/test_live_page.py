"""An open dashboard in a real browser: it renews itself, heals, and leads to the login who was signed out."""

import shutil
import time
from collections.abc import Iterator
from typing import Any

import pytest
from selenium.webdriver.support.ui import WebDriverWait

from bench.lib.browser import Browser, console_errors, open_browser
from onlooker.console.accounts.models import Account
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Usage
from onlooker.streams.video_time import month_of

pytest_plugins = ["pages", "consoles"]
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        not shutil.which("chromium") or not shutil.which("chromedriver"),
        reason="needs Debian's chromium and chromium-driver",
    ),
]


@pytest.fixture(scope="module")
def console_settings_of_module() -> dict[str, Any]:
    return {"console_refresh_s": 6}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def page(browser: Browser, console: Any, owner: Account) -> Browser:
    """A dashboard that was just opened; it is marked, and a page that is reloaded is not."""
    stream = create_stream("Front door", owner=owner, kind="developer").stream
    Usage.objects.create(
        stream=stream, month=month_of(time.time()), video_s=1, last_frame_at="2026-03-01T20:30:00+00:00"
    )
    with console.client_of(owner) as client:
        name, value = client.headers["Cookie"].split("=")
    browser.get(f"{console.url}/accounts/login/")
    browser.delete_all_cookies()
    browser.add_cookie({"name": name, "value": value})
    browser.get(f"{console.url}/streams/{stream.client_id}/dashboard/?period=today")
    browser.execute_script("globalThis.marked = true")
    return browser


def await_script(page: Browser, script: str, *, within_s: float = 20) -> Any:
    return WebDriverWait(page, within_s, poll_frequency=0.1).until(lambda found: found.execute_script(script))


def test_who_chooses_a_period_while_it_is_renewed_gets_that_period(page: Browser) -> None:
    renew = "htmx.trigger(document.querySelector('#report'), 'refresh')"
    choose = "document.querySelector('#period-30d').click()"
    page.execute_script(f"{renew}; {choose}")
    await_script(page, "return location.search === '?period=30d'")
    time.sleep(1)
    shown = page.execute_script("const {from, to} = document.querySelector('#report').dataset; return [from, to]")
    assert shown[0][:10] < shown[1][:10]
    assert page.execute_script("return globalThis.marked")
    assert not console_errors(page)
