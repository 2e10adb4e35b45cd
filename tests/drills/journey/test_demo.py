"""`just demo`: from nothing to a console that one can sign in to, and back."""

import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import psycopg
import pytest

READY_LIMIT_S = 110
DEMO = """
from onlooker.demo import __main__ as demo, live_traffic
demo.DAYS, live_traffic.LIVELY_EVERY_S = 3, 1.0
demo.main()
"""
"""Of fewer days, as test_filled_demo.py has all of them, and with somebody who comes soon."""


def await_ready(process: subprocess.Popen[bytes], output: Path) -> str:
    give_up_at = time.monotonic() + READY_LIMIT_S
    while "Stop with Ctrl-C" not in (said := output.read_text()):
        assert process.poll() is None, said
        assert time.monotonic() < give_up_at, said
        time.sleep(0.2)
    return said


def sign_in(browser: httpx2.Client, password: str) -> None:
    token = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', browser.get("/accounts/login/").text)[0]
    values = {"login": "demo@example.org", "password": password, "csrfmiddlewaretoken": token}
    assert browser.post("/accounts/login/", data=values).status_code == 200


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that PostgreSQL gets to also where tests run as root, as which it does not run."""
    with tempfile.TemporaryDirectory(prefix="onlooker-demo-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_the_demo_shows_living_streams_and_leaves_nothing_running(place: Path) -> None:
    folder, output = place / "demo", place / "said"
    command = [sys.executable, "-c", DEMO, "--no-browser", "--folder", str(folder)]
    with output.open("wb") as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
    try:
        said_text = await_ready(process, output)
        [url] = re.findall(r"Open +(\S+)", said_text)
        [password] = re.findall(r"Password +(\S+)", said_text)
        with httpx2.Client(base_url=url, headers={"origin": url}, follow_redirects=True, timeout=30) as browser:
            sign_in(browser, password)
            page = browser.get("/streams/").text
        assert "Shop window" in page
        assert "Museum kiosk" in page
        database_port = int((folder / "postgresql/data/postmaster.pid").read_text().splitlines()[3])
        with psycopg.connect(f"postgresql://postgres@127.0.0.1:{database_port}/onlooker", autocommit=True) as database:
            await_somebody(database)
    finally:
        process.send_signal(signal.SIGINT)
        code = process.wait(60)
    assert code == 0
    assert "continues where it left off" in output.read_text()
    assert not (folder / "postgresql/data/postmaster.pid").exists()


def await_somebody(database: psycopg.Connection) -> None:
    """A visit that the recorder wrote while the demo was running."""
    [(before,)] = database.execute("SELECT count(*) FROM visits_visit").fetchall()
    give_up_at = time.monotonic() + READY_LIMIT_S
    while database.execute("SELECT count(*) FROM visits_visit").fetchall() == [(before,)]:
        assert time.monotonic() < give_up_at
        time.sleep(0.5)
