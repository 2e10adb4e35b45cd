"""An open dashboard in a real browser: it renews itself, heals, and leads to the login who was signed out."""

import shutil
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.sessions.models import Session
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
READ_AT = "return document.querySelector('#report')?.dataset.readAt"
STRIP = "return document.querySelector('#live').innerText"


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


def test_a_page_renews_itself_and_leaves_the_keyboard_where_it_is(page: Browser) -> None:
    await_script(page, "return document.querySelector('#live').innerText.includes('Silent')")
    assert "next in" in page.execute_script(STRIP)
    before = page.execute_script(READ_AT)
    page.execute_script("document.querySelector('#report summary').focus()")
    await_script(page, f"return document.querySelector('#report').dataset.readAt !== '{before}'")
    await_script(page, "return document.activeElement === document.querySelector('#report summary')", within_s=2)
    assert page.execute_script("return globalThis.marked")
    assert not console_errors(page)


def test_who_was_signed_out_elsewhere_is_led_to_the_login(page: Browser) -> None:
    await_script(page, "return document.querySelector('#live').innerText.includes('Silent')")
    Session.objects.all().delete()
    await_script(page, "return location.pathname === '/accounts/login/'", within_s=20)
