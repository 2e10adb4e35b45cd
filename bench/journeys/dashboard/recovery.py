"""Trouble that an open page outlives: a server that is restarted, a network that goes away, a night of sleep."""

import time
from dataclasses import dataclass

from bench.journeys.dashboard.stage import Stage
from bench.journeys.figures import JourneyFigure
from bench.lib.browser import Browser, console_errors
from bench.lib.browser.pictures import HEIGHT_PX, WIDE_PX
from bench.lib.clients import OWNER

HEAL_TARGET_S = 20.0
HEAL_LIMIT_S = 90.0
YOUNG_S = 8.0
"""Numbers that are younger need not be asked for again."""
OLD_AFTER_S = 90.0
"""A report that is older is said to be old."""
NOTICED_S = 15.0
OFFLINE = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
ONLINE = OFFLINE | {"offline": False}
_MARK = "globalThis.marked = 'asleep'"
_READ_AT = "return document.getElementById('report').dataset.readAt"
_STALE = "return [...document.querySelectorAll('.stale')].find((one) => one.checkVisibility())?.innerText ?? ''"


@dataclass(frozen=True)
class Sleeper:
    """Somebody else's browser with a dashboard in it that has no network."""

    stage: Stage
    since: float
    read_at: str


def heal_after_restart(stage: Stage) -> JourneyFigure:
    """Kill the console; how long until the open page has numbers that were read after that."""
    browser = stage.person.browser
    time.sleep(YOUNG_S)
    before = browser.execute_script(_READ_AT)
    killed = time.monotonic()
    stage.check(stage.stack.kill("console"), "restart: there was no console to kill")
    stage.deaths += 1
    healed_s = _await_newer(browser, before, since=killed)
    stage.check(healed_s is not None, "restart: the page got no newer numbers")
    console_errors(browser)  # that requests failed meanwhile is no fault of the page
    return JourneyFigure("healed_after_restart_s", healed_s, at_most=HEAL_TARGET_S)


def fall_asleep(stage: Stage) -> list[JourneyFigure]:
    """In a browser of its own, so that others can go on meanwhile."""
    asleep = stage.open_browser("sleeper")
    browser = asleep.person.browser
    asleep.sign_in(OWNER)
    shown = asleep.open_dashboard(stage.world.shop, period="today")
    browser.execute_script(_MARK)
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", OFFLINE)
    stage.sleeper = Sleeper(asleep, time.monotonic(), shown.read_at)
    return []


def wake_up(stage: Stage) -> list[JourneyFigure]:
    """It says that its numbers are old. Then it is hidden and frozen, and shown again with a network."""
    sleeper = stage.sleeper
    assert sleeper
    browser = sleeper.stage.person.browser
    time.sleep(max(0.0, sleeper.since + OLD_AFTER_S + NOTICED_S - time.monotonic()))
    stage.check(bool(browser.execute_script(_STALE)), f"sleep: nothing says that {sleeper.read_at} is long ago")
    console_errors(browser)  # that requests failed is no fault of the page
    sleeper.stage.look("old", alike=True)
    browser.minimize_window()
    browser.execute_cdp_cmd("Page.setWebLifecycleState", {"state": "frozen"})
    time.sleep(1)
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", ONLINE)
    browser.execute_cdp_cmd("Page.setWebLifecycleState", {"state": "active"})
    woken = time.monotonic()
    browser.set_window_rect(0, 0, WIDE_PX, HEIGHT_PX)
    healed_s = _await_newer(browser, sleeper.read_at, since=woken)
    stage.check(healed_s is not None, "sleep: the page got no newer numbers")
    stage.check(browser.execute_script("return globalThis.marked") == "asleep", "sleep: the page was reloaded")
    stage.check(not browser.execute_script(_STALE), "sleep: the page still says that its numbers are old")
    return [JourneyFigure("healed_after_sleep_s", healed_s, at_most=HEAL_TARGET_S)]


def _await_newer(browser: Browser, before: str, *, since: float) -> float | None:
    while time.monotonic() - since < HEAL_LIMIT_S:
        if browser.execute_script(_READ_AT) > before:
            return round(time.monotonic() - since, 1)
        time.sleep(0.1)
    return None
