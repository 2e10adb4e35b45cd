"""When a page first shows what somebody came for."""

import json
from dataclasses import dataclass

from bench.lib.browser.browser import Browser, read_log

_WATCH = """
(() => {
    const seen = {};
    globalThis.firstUseful = seen;
    const look = () => {
        if (document.querySelector(SELECTOR)) {
            // The frame after the one that holds it has it on the screen.
            requestAnimationFrame(() => requestAnimationFrame(() => { seen.useful = performance.now(); }));
        } else {
            requestAnimationFrame(look);
        }
    };
    look();
})();
"""
_READ = """
const done = arguments[arguments.length - 1];
const read = () => {
    const painted = performance.getEntriesByName("first-contentful-paint")[0];
    const {useful} = globalThis.firstUseful ?? {};
    if (painted && useful) done([painted.startTime, useful]);
    else requestAnimationFrame(read);
};
read();
"""


@dataclass(frozen=True)
class Paint:
    """In milliseconds since the navigation began."""

    first_ms: float
    """The browser's own first contentful paint."""
    useful_ms: float
    """The first frame that was drawn after the element had come, and no sooner than the first paint."""


def first_useful_paints(browser: Browser, url: str, selector: str, *, times: int) -> list[Paint]:
    """Open a page again and again with an empty cache; each time, when the element was first on the screen."""
    script = {"source": _WATCH.replace("SELECTOR", repr(selector))}
    identifier = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", script)["identifier"]
    paints = []
    try:
        for _ in range(times):
            browser.get("about:blank")
            browser.execute_cdp_cmd("Network.clearBrowserCache", {})
            browser.get(url)
            first_ms, useful_ms = browser.execute_async_script(_READ)
            paints.append(Paint(first_ms, max(first_ms, useful_ms)))
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": identifier})
    return paints


@dataclass(frozen=True)
class Fetched:
    """One answer, as it went over the wire."""

    url: str
    status: int
    sent_bytes: int


def load_cold(browser: Browser, url: str) -> list[Fetched]:
    """Open a page with an empty cache; all that it asked for until its `load`."""
    browser.execute_cdp_cmd("Network.clearBrowserCache", {})
    read_log(browser, "performance")
    browser.get(url)
    return fetched(browser)


def fetched(browser: Browser) -> list[Fetched]:
    """All answers that ended since the log was read last; what never ends, such as events, is not among them."""
    answers: dict[str, tuple[str, int]] = {}
    ended = []
    for entry in read_log(browser, "performance"):
        message = json.loads(entry["message"])["message"]
        values = message["params"]
        if message["method"] == "Network.responseReceived":
            answers[values["requestId"]] = (values["response"]["url"], values["response"]["status"])
        elif message["method"] == "Network.loadingFinished" and values["requestId"] in answers:
            ended.append(Fetched(*answers[values["requestId"]], round(values["encodedDataLength"])))
    return ended
