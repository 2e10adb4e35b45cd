"""The line that the panel shows, run as it stands: the product answers, an open page hears of the frame."""

import html
import re
import shlex
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2
import psycopg
import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher

from event_stream import listening
from testkit import Stack, migrated_database, running_stack
from testkit.stopwatch import Stopwatch

pytest_plugins = ["pages"]

PICTURE = Path(__file__).parents[3] / "docs" / "pictures" / "portrait.jpg"
PASSWORD = "correct horse battery staple"


@pytest.fixture(scope="module")
def product() -> Iterator[Stack]:
    with migrated_database() as url, running_stack(url) as stack:
        yield stack


@pytest.fixture
def browser(product: Stack) -> Iterator[httpx2.Client]:
    """Somebody who signed in at the real console."""
    hashed = PBKDF2PasswordHasher().encode(PASSWORD, "salt")
    with psycopg.connect(product.setting("database_url")) as connection:
        connection.execute(
            """WITH made AS (INSERT INTO accounts_account
                                    (password, is_superuser, email, is_staff, is_active, created_at)
                             VALUES (%s, false, 'someone@example.org', false, true, now()) RETURNING id, email)
               INSERT INTO account_emailaddress (email, verified, "primary", user_id)
               SELECT email, true, true, id FROM made""",
            (hashed,),
        )
    trust = ssl.create_default_context(cafile=product.ca_file)
    headers = {"Origin": product.console_url, "Referer": product.console_url}
    with httpx2.Client(base_url=product.console_url, verify=trust, headers=headers, timeout=30) as client:
        answer = post(client, "/accounts/login/", login="someone@example.org", password=PASSWORD)
        assert answer.status_code == 302, answer.text
        yield client


def post(client: httpx2.Client, path: str, **given: str) -> httpx2.Response:
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', client.get(path).text)
    assert found
    return client.post(path, data=given | {"csrfmiddlewaretoken": found[1]})


def shown_line(page: str) -> str:
    found = re.search(r'<pre id="curl">(.*?)</pre>', page, re.DOTALL)
    assert found, page
    return html.unescape(found[1])


def test_the_shown_line_sends_a_picture_and_an_open_page_hears_of_it(
    browser: httpx2.Client, product: Stack, tmp_path: Path
) -> None:
    page = post(
        browser,
        "/streams/new/",
        name="Front door",
        time_zone="Europe/Paris",
        kind="developer",
        place="public",
        preset="own",
    ).text
    line = shown_line(page)
    path = re.search(r'data-replace-url="([^"]+)"', page)
    assert path
    assert "Waiting for the first frame" in browser.get(path[1]).text
    (tmp_path / "authority.pem").write_bytes(browser.get("/authority.pem").content)
    shutil.copy(PICTURE, tmp_path / "picture.jpg")
    with listening(browser, f"{path[1]}dashboard/live/") as ear:
        assert ear.await_event("view")["sign"] == "never"
        done = subprocess.run(
            f"{line} --silent --show-error --write-out '\\n%{{http_code}}'",
            shell=True,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.stdout.splitlines()[-1:] == ["201"], done.stdout + done.stderr
        watch = Stopwatch()
        assert ear.await_event("view", count=2)["sign"] == "live"
    assert watch.elapsed_s < 5
    later = browser.get(path[1]).text
    assert ">Live<" in later
    assert "0.1 s of 3 h" in later
    password = re.search(r'id="password">([^<]+)<', page)
    assert password
    assert shlex.split(shown_line(later).replace("<ACCESS_TOKEN>", password[1])) == shlex.split(line)
