"""The console as it is deployed: Django's own checks, headers, cookies, migrations."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from testkit.postgresql import server_url

pytest_plugins = ["pages"]
SERVER = Path(__file__).parents[2]
PAGES = ["/accounts/login/", "/accounts/signup/", "/nowhere/", "/livez", "/api-token-authstream/"]


def manage(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ONLOOKER_")} | {
        "ONLOOKER_DATABASE_URL": server_url(),
        "ONLOOKER_SECRET_KEY": "one that is long enough and made of many different letters 0123456789",
    }
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=SERVER, env=environment, capture_output=True, text=True, check=False)


def test_the_deployment_check_is_clean() -> None:
    checked = manage("check", "--deploy", "--fail-level", "WARNING")
    assert checked.returncode == 0, checked.stderr
    assert "no issues" in checked.stdout


def test_every_change_of_a_table_has_its_migration() -> None:
    checked = manage("makemigrations", "--check", "--dry-run")
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("path", PAGES)
def test_every_answer_says_what_a_browser_may_do_with_it(sign_in, path: str) -> None:
    answer = sign_in(None).get(path)
    policy = dict(part.strip().split(" ", 1) for part in answer["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["form-action"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in answer["Content-Security-Policy"]
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Strict-Transport-Security"].startswith("max-age=31536000")
    assert "no-store" in answer["Cache-Control"]


def test_cookies_are_bound_to_this_host_and_unreadable_for_scripts(sign_in, owner) -> None:
    browser = sign_in(None)
    browser.get("/accounts/login/")
    browser.force_login(owner)
    assert {"__Host-session", "__Host-csrf"} <= set(browser.cookies)
    answer = sign_in(None).get("/accounts/login/")
    cookie = answer.cookies["__Host-csrf"]
    assert (cookie["secure"], cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, True, "Lax", "/")
