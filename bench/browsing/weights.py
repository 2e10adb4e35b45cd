"""What a page asks for over the network, and how heavy it is as it is sent: compressed, with heads."""

import json
from dataclasses import dataclass

from bench.browsing.browser import Browser
from bench.browsing.logs import read_log


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
    """All answers that ended since the log was read last; what flows for ever, such as events, is not among them."""
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
