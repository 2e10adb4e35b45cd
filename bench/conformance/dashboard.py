"""A dashboard on another origin, in a real browser: signs in, reads numbers, gets a 401 and signs in again."""

import http.server
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from bench.conformance.programs import Installation, Outcome, played_here
from bench.lib.browser import Browser, open_browser
from bench.lib.clients import OWNER, fetch_token
from bench.lib.product import ROOT

PAGE = ROOT / "bench" / "conformance" / "page"
EXPIRED_TOKEN = ROOT / "bench" / "conformance" / "expired_token.py"


class _PageHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nobody needs to know."""


@contextmanager
def _other_origin() -> Iterator[str]:
    """Serves the page; the origin is this machine's, but not the console's."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_PageHandler, directory=str(PAGE))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def _visit(browser: Browser, origin: str, place: Installation, **changes: Any) -> dict[str, Any]:
    browser.get(f"{origin}/index.html")
    credentials = {
        "username": OWNER,
        "client_id": place.stream.client_id,
        "access_token": place.stream.access_token,
    }
    page = {"console": place.stack.console_url, "data": place.stack.data_url, "credentials": credentials} | changes
    script = "const done = arguments[1]; visit(arguments[0]).then(done, (error) => done({failed: String(error)}));"
    browser.set_script_timeout(60)
    told: dict[str, Any] = browser.execute_async_script(script, page)
    assert "failed" not in told, told
    return told


def _expired(place: Installation) -> str:
    """A token as the console signs it, but of hours ago."""
    token = fetch_token(place.stack, place.stream)
    command = [sys.executable, str(EXPIRED_TOKEN), token]
    return subprocess.run(
        command, env=place.stack.environment, capture_output=True, text=True, check=True, timeout=60
    ).stdout.strip()


def play_dashboard(place: Installation) -> Outcome:
    with _other_origin() as origin, open_browser() as browser:

        def signs_in_and_reads_numbers(place: Installation) -> None:
            told = _visit(browser, origin, place)
            assert (told["signed_in"], told["statuses"]) == (200, [200, 200]), told
            assert told["global"]["entities"]["global"]["passing_by"]["value"] >= 1, told["global"]
            assert told["instants"], list(told["hours"]["entities"])

        def signs_in_again_after_a_401(place: Installation) -> None:
            told = _visit(browser, origin, place, expired=_expired(place))
            assert told["statuses"][:2] == [401, 200], told

        def shows_why_it_was_refused(place: Installation) -> None:
            wrong = {"username": OWNER, "client_id": place.stream.client_id, "access_token": "wrong"}
            told = _visit(browser, origin, place, credentials=wrong)
            (refusal,) = told["refusals"]
            assert told["signed_in"] == 401, told
            assert refusal["non_field_errors"][0] in told["shown"], told

        def names_the_field_that_is_wrong(place: Installation) -> None:
            for field in ("username", "client_id", "access_token"):
                given = {"username": OWNER, "client_id": place.stream.client_id, "access_token": "x"} | {field: ""}
                told = _visit(browser, origin, place, credentials=given)
                (refusal,) = told["refusals"]
                assert told["signed_in"] == 400, told
                assert refusal[field][0] in told["shown"], (field, refusal)

        checks = (
            signs_in_and_reads_numbers,
            signs_in_again_after_a_401,
            shows_why_it_was_refused,
            names_the_field_that_is_wrong,
        )
        return played_here(checks)(place)
