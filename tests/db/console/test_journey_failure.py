"""A journey in a browser that fails must say which step, why and where, whatever happens."""

import base64
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import pytest

import bench
from bench.journeys.console.person import Person
from bench.journeys.console.staff import CODE_LASTS_S, CODE_LEFT_S, code_of
from bench.lib.browser import Browser, open_browser, travel

ROOT = Path(bench.__file__).parent.parent
PAGE = "data:text/html," + quote("<title>Streams</title><main>Nothing here</main>")
COMMAND = """
import time
from bench.lib.product import concluding

@concluding
def main():
    print("begun", flush=True)
    {body}

main()
"""
needs_browser = pytest.mark.skipif(
    not shutil.which("chromium") or not shutil.which("chromedriver"),
    reason="needs Debian's chromium and chromium-driver",
)


def waiting_person(browser: Browser, folder: Path) -> Person:
    person = Person(browser, "", folder)
    person.open(PAGE)
    return person


@needs_browser
def test_a_step_that_fails_says_what_it_waited_for_and_keeps_a_picture(tmp_path: Path) -> None:
    with open_browser() as browser:
        person = waiting_person(browser, tmp_path)
        steps = [
            ("look", lambda: None),
            ("wait for a stream", lambda: person.wait(lambda: bool(person.text("table")), "a stream", limit_s=1)),
            ("never", lambda: pytest.fail("the journey went on")),
        ]
        travelled = travel(steps, browsers={"owner": browser}, folder=tmp_path)
    assert travelled.taken == ["look"]
    assert travelled.failure
    told = travelled.failure.as_members()
    assert told["failed_step"] == "wait for a stream"
    assert told["reason"].startswith("AssertionError: Waited 1 s for a stream (NoSuchElementException: ")
    assert "'Streams'" in told["reason"]
    assert "Nothing here" in told["reason"]
    assert told["failed_pages"] == [{"browser": "owner", "url": PAGE, "title": "Streams"}]
    assert told["failed_pictures"] == ["failed-wait-for-a-stream-owner.png"]
    assert (tmp_path / told["failed_pictures"][0]).read_bytes().startswith(b"\x89PNG")


@needs_browser
def test_a_browser_that_died_hides_no_reason(tmp_path: Path) -> None:
    with open_browser() as browser:
        person = waiting_person(browser, tmp_path)

        def look_at_dead_browser() -> None:
            browser.quit()
            person.wait(lambda: bool(person.text()), "any text", limit_s=1)

        travelled = travel([("look", look_at_dead_browser)], browsers={"owner": browser}, folder=tmp_path)
    assert travelled.failure
    assert "Waited 1 s for any text" in travelled.failure.reason
    assert travelled.failure.pages[0].url.startswith("the browser does not answer (")
    assert travelled.failure.as_members()["failed_pictures"] == []


def run_command(body: str, *, stop_with: signal.Signals | None = None) -> tuple[int, dict[str, object]]:
    command = [sys.executable, "-c", COMMAND.format(body=body)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "begun\n"
        if stop_with:
            process.send_signal(stop_with)
        last = process.stdout.read().splitlines()[-1]
    return process.returncode, json.loads(last)


def test_a_command_that_breaks_ends_with_its_object() -> None:
    assert run_command("raise OSError('no product')") == (1, {"ok": False, "reason": "OSError: no product"})


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_command_that_is_told_to_stop_ends_with_its_object(number: signal.Signals) -> None:
    reason = f"KeyboardInterrupt: told to stop by {number.name}"
    assert run_command("time.sleep(60)", stop_with=number) == (1, {"ok": False, "reason": reason})


def test_a_code_has_time_left_to_be_typed_in() -> None:
    """The console takes a code until its 30 seconds are over: one that is read just before that would be refused."""
    secret = base64.b32encode(bytes(20)).decode()
    first = code_of(secret)
    assert CODE_LASTS_S - time.time() % CODE_LASTS_S > CODE_LEFT_S - 1
    assert code_of(secret) == first
