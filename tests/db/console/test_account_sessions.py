"""Sessions: new keys, limits, and a list from which they can be ended."""

import re
from importlib import resources
from pathlib import Path

import pytest
from allauth.usersessions.models import UserSession

from onlooker.console.accounts import sessions
from sign_in_forms import confirm_identity, is_signed_in, sign_in_by_form

pytest_plugins = ["pages"]


@pytest.fixture
def clock(monkeypatch):
    """A clock that can be set forward, as sessions see it."""
    real = sessions.time.time

    class Clock:
        ahead_s = 0

        def time(self) -> float:
            return real() + self.ahead_s

    monkeypatch.setattr(sessions, "time", made := Clock())
    return made


def enter(sign_in, account):
    browser = sign_in(None)
    browser.get("/accounts/login/")
    sign_in_by_form(browser, account.email)
    assert is_signed_in(browser)
    return browser


def test_signing_in_and_showing_who_one_is_give_new_keys(sign_in, owner) -> None:
    browser = sign_in(None)
    browser.session.save()
    keys = [browser.session.session_key]
    sign_in_by_form(browser, owner.email)
    keys.append(browser.session.session_key)
    confirm_identity(browser)
    keys.append(browser.session.session_key)
    assert len(set(keys)) == 3
    assert is_signed_in(browser)
    assert UserSession.objects.get(user=owner).session_key == keys[2]


def test_the_cookie_ends_with_the_browser_and_scripts_cannot_read_it(sign_in, owner) -> None:
    cookie = enter(sign_in, owner).cookies["__Host-session"]
    assert (cookie["max-age"], cookie["expires"]) == ("", "")
    assert (cookie["httponly"], cookie["secure"], cookie["samesite"]) == (True, True, "Lax")


def test_an_idle_session_ends(sign_in, owner, clock) -> None:
    browser = enter(sign_in, owner)
    clock.ahead_s = 23 * 3600
    assert is_signed_in(browser)
    clock.ahead_s += 25 * 3600
    assert not is_signed_in(browser)


def test_an_idle_session_of_staff_ends_sooner(sign_in, staff, clock) -> None:
    browser = enter(sign_in, staff)
    clock.ahead_s = 11 * 3600
    assert is_signed_in(browser)
    clock.ahead_s += 13 * 3600
    assert not is_signed_in(browser)


@pytest.mark.parametrize(("trigger", "is_there"), [("streams", False), ("report", False), ("period-7d", True)])
def test_a_click_that_htmx_sends_means_that_somebody_is_there(sign_in, owner, clock, trigger, is_there) -> None:
    browser = enter(sign_in, owner)
    clock.ahead_s = 23 * 3600
    headers = {"HX-Request": "true", "HX-Trigger": trigger}
    assert browser.get("/streams/", headers=headers).status_code == 200
    clock.ahead_s += 2 * 3600
    assert is_signed_in(browser) is is_there


ASKS_FOR_ITSELF = r'<[^<>]*hx-trigger="(?![^"]*\b(?:input|click|change|submit)\b)'
"""Not where somebody types or clicks."""


def test_every_element_that_asks_for_itself_is_known_as_one() -> None:
    templates = Path(str(resources.files("onlooker.console"))) / "templates"
    elements = [one for path in templates.rglob("*.html") for one in re.findall(ASKS_FOR_ITSELF, path.read_text())]
    assert elements
    assert {re.search(r' id="([\w-]+)"', element)[1] for element in elements} == set(sessions.POLLING_ELEMENTS)


def test_a_page_that_renews_itself_does_not_keep_a_session_alive(sign_in, owner, clock) -> None:
    browser = enter(sign_in, owner)
    clock.ahead_s = 15 * 3600
    browser.get("/accounts/", headers={"hx-request": "true"})
    clock.ahead_s = 25 * 3600
    assert not is_signed_in(browser)


def test_a_session_in_use_ends_after_a_week(sign_in, owner, clock) -> None:
    browser = enter(sign_in, owner)
    for _ in range(16):
        clock.ahead_s += 10 * 3600
        assert is_signed_in(browser)
    clock.ahead_s += 9 * 3600
    assert not is_signed_in(browser)


def test_the_list_shows_all_and_the_others_can_be_ended(sign_in, owner, stranger) -> None:
    browser, second, third = (enter(sign_in, owner) for _ in range(3))
    enter(sign_in, stranger)
    page = browser.get("/accounts/sessions/").content.decode()
    assert page.count("<tr>") == 4
    assert page.count("This browser") == 1
    assert "reauthenticate" in browser.post("/accounts/sessions/").headers["location"]
    assert is_signed_in(second)
    confirm_identity(browser)
    number = UserSession.objects.get(session_key=third.session.session_key).pk
    browser.post(f"/accounts/sessions/{number}/end/")
    assert [is_signed_in(one) for one in (browser, second, third)] == [True, True, False]
    browser.post("/accounts/sessions/")
    assert [is_signed_in(one) for one in (browser, second)] == [True, False]
    assert UserSession.objects.filter(user=stranger).count() == 1


def test_sessions_of_others_are_not_there(sign_in, owner, stranger) -> None:
    enter(sign_in, stranger)
    browser = enter(sign_in, owner)
    confirm_identity(browser)
    number = UserSession.objects.get(user=stranger).pk
    assert browser.post(f"/accounts/sessions/{number}/end/").status_code == 404
    assert browser.get(f"/accounts/sessions/{number}/end/").status_code == 405
