"""The console as it is deployed: Django's own checks, headers, cookies, migrations."""

import pytest
from django.core.management import call_command

pytest_plugins = ["pages"]
PAGES = ["/accounts/login/", "/accounts/signup/", "/nowhere/", "/livez", "/api-token-authstream/"]


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


def test_the_deployment_check_is_clean(settings, capsys) -> None:
    settings.ALLOWED_HOSTS = ["console.example.org"]
    call_command("check", deploy=True, fail_level="WARNING")
    assert "no issues" in capsys.readouterr().out


def test_every_change_of_a_table_has_its_migration(db) -> None:
    call_command("makemigrations", check_changes=True, dry_run=True)
