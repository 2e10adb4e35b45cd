"""What the console's log says of a request: its route, never its address."""

import logging

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.db import OperationalError
from django.test import Client

from onlooker.console.dashboard import overview

pytest_plugins = ["pages"]
SECRET = "1x-a-secret-in-a-link"


def fields_of(caplog: pytest.LogCaptureFixture) -> list[dict[str, object]]:
    return [record.fields for record in caplog.records if record.name == "onlooker.console.web.request_log"]


def test_a_refused_request_is_logged_by_route(sign_in, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    answer = sign_in(None).get(f"/accounts/password/reset/key/{SECRET}/")
    sign_in(None).get(f"/nowhere/{SECRET}")
    assert fields_of(caplog)[0] | {"ms": 0} == {
        "request_id": answer["X-Request-Id"],
        "method": "GET",
        "route": "account_reset_password_from_key",
        "status": answer.status_code,
        "ms": 0,
    }
    assert [line["route"] for line in fields_of(caplog)] == ["account_reset_password_from_key", "none"]
    assert SECRET not in caplog.text


def test_a_request_keeps_the_id_it_came_with(sign_in) -> None:
    assert sign_in(None).get("/livez", headers={"X-Request-Id": "abcdefgh-1"})["X-Request-Id"] == "abcdefgh-1"
    assert sign_in(None).get("/livez", headers={"X-Request-Id": "<script>"})["X-Request-Id"] != "<script>"


def test_a_database_that_is_away_is_503_and_no_fault(
    sign_in, owner, monkeypatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(account: object) -> None:
        raise OperationalError("the connection is lost")

    browser: Client = sign_in(owner)
    browser.raise_request_exception = False
    monkeypatch.setattr(overview, "visible_streams", fail)
    answer = browser.get("/streams/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert b"try again" in answer.content
    assert [line.levelname for line in caplog.records if line.levelno >= logging.ERROR] == []


def test_a_proxy_asks_how_it_is_by_any_name_and_over_plain_http(sign_in) -> None:
    browser: Client = sign_in(None)
    browser.is_secure = False
    for path in ("/livez", "/readyz"):
        assert browser.get(path, SERVER_NAME="127.0.0.1").status_code == 200
        assert browser.post(path, SERVER_NAME="127.0.0.1").status_code == 405


def test_a_database_that_is_away_is_503_before_a_page_is_reached_too(sign_in, owner, monkeypatch) -> None:
    def fail(self: object) -> None:
        raise OperationalError("the connection is lost")

    browser = sign_in(owner)
    browser.raise_request_exception = False
    monkeypatch.setattr(SessionStore, "_get_session_from_db", fail)
    for path in ("/streams/", "/accounts/login/", "/nowhere/"):
        answer = browser.get(path)
        assert (answer.status_code, answer["Retry-After"]) == (503, "5")
