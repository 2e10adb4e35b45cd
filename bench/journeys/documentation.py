"""`just test-docs-site`: the documentation's site in headless Chromium, as the console serves it; pictures of it."""

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from bench.lib.browser import Browser, open_browser
from bench.lib.browser.inspection import look_at
from bench.lib.product import ROOT, conclude, concluding, say
from onlooker.console.documentation.static_site import SITE, site_routes

FOLDER = ROOT / "var" / "docs-site"
VIEWS = tuple(
    (f"{width_px}{suffix}", width_px, scheme)
    for width_px in (1440, 390)
    for suffix, scheme in (("", "light"), ("-dark", "dark"))
)
LOOKED_AT = {
    "home": "index.html",
    "guide": "guides/dashboard.html",
    "reference": "reference/api.html",
    "numbers": "reference/numbers.html",
    "service": "services/scene_analysis.html",
    "missing": "nowhere.html",
}
QUESTIONS = {
    "like with like": "concepts/comparisons.html",
    "enrolment code": "guides/devices.html",
    "ONLOOKER_CONSOLE_URL": "reference/settings.html",
    "webhook signature": "guides/webhooks.html",
    "k people": "concepts/groups.html",
}
"""What people type, and a page that must be among the first five results."""
FIRST = 5
TIME_LIMIT_S = 20.0


@concluding
def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    faults: list[str] = []
    with served_site() as address, open_browser() as browser:
        for name, page in LOOKED_AT.items():
            browser.get(f"{address}/docs/{page}")
            faults += look_at(browser, FOLDER, name, views=VIEWS, checked=VIEWS)
        places = {question: ask(browser, address, question) for question in QUESTIONS}
        faults += look_at(browser, FOLDER, "search", views=VIEWS, checked=VIEWS)
    for fault in faults:
        say(fault)
    conclude(
        {
            "ok": not faults and all(0 < place <= FIRST for place in places.values()),
            "looked_at": len(LOOKED_AT) + 1,
            "views": [view for view, _, _ in VIEWS],
            "faults": len(faults),
            "search_places": places,
            "pictures": len(list(FOLDER.glob("*.png"))),
        }
    )


@contextmanager
def served_site() -> Iterator[str]:
    """Its own files and the console's, without the rest of the console."""
    routes = site_routes(SITE)
    if not routes:
        raise SystemExit("The site is not built. Run: just docs-site")
    static = StaticFiles(packages=[("onlooker.console", "static")])
    config = uvicorn.Config(Starlette(routes=[*routes, Mount("/static", static)]), port=0, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_for(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


def wait_for(is_so: Callable[[], bool]) -> None:
    ends = time.monotonic() + TIME_LIMIT_S
    while not is_so():
        if time.monotonic() > ends:
            raise TimeoutError("The server did not start.")
        time.sleep(0.05)


def ask(browser: Browser, address: str, question: str) -> int:
    """The place of the expected page among the results for somebody who types into the home page; 0 if none."""
    browser.get(f"{address}/docs/")
    field = browser.find_element(By.CSS_SELECTOR, "[role=search] input")
    field.send_keys(question)
    field.submit()
    WebDriverWait(browser, TIME_LIMIT_S).until(lambda one: one.find_elements(By.CSS_SELECTOR, "#results a"))
    links = browser.find_elements(By.CSS_SELECTOR, "#results a")
    found = [str(link.get_attribute("href")).partition("/docs/")[2].partition("#")[0] for link in links]
    return found.index(QUESTIONS[question]) + 1 if QUESTIONS[question] in found else 0


if __name__ == "__main__":
    main()
