"""Who is let into the console, and what the others are told."""

import pytest
from django.test import Client

pytest_plugins = ["pages"]


def test_plain_http_is_refused_with_the_remedy(sign_in) -> None:
    browser: Client = sign_in(None)
    browser.is_secure = False
    answer = browser.get("/accounts/login/")
    assert answer.status_code == 400
    assert b"ONLOOKER_TRUSTED_PROXIES" in answer.content


@pytest.mark.parametrize("name", ["127.0.0.1", "evil.example.org", "[::1]", "console.example.org.evil.org"])
def test_who_comes_by_another_name_is_told_the_right_one(sign_in, name: str) -> None:
    answer = sign_in(None).get("/accounts/login/", SERVER_NAME=name)
    assert answer.status_code == 400
    assert b"https://console.example.org" in answer.content
    assert b"ONLOOKER_CONSOLE_URL" in answer.content


@pytest.mark.parametrize("path", ["/accounts/login/?next=%00", "/accounts/confirm-email/a%00b/", "/streams/?page=%00"])
def test_a_nul_character_is_refused(sign_in, owner, path: str) -> None:
    assert sign_in(owner).get(path).status_code == 400


def test_a_nul_character_in_a_cookie_is_refused(sign_in) -> None:
    browser: Client = sign_in(None)
    browser.raise_request_exception = False
    answer = browser.get("/accounts/login/", HTTP_COOKIE='__Host-session="aaaaaaaaaaaaaaaa\\000"')
    assert answer.status_code == 400
