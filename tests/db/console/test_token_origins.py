"""Supplement, token endpoint: CORS is open for POST, without credentials mode, on every answer there is."""

import httpx2
import pytest

from onlooker.console.web.request_limits import BODY_LIMIT_BYTES
from token_requests import PATH, Camera

pytest_plugins = ["pages", "cameras", "consoles"]
pytestmark = pytest.mark.django_db(transaction=True)

ORIGIN = {"Origin": "https://dashboard.example.com"}
PREFLIGHT = ORIGIN | {
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "content-type",
}
WRONG = {"username": "nobody@example.org", "client_id": "x", "access_token": "y"}


def assert_readable(answer: httpx2.Response) -> None:
    """By a page of any origin that does not ask for credentials mode."""
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert "Retry-After" in answer.headers["Access-Control-Expose-Headers"]
    assert "Access-Control-Allow-Credentials" not in answer.headers


@pytest.mark.parametrize("path", [PATH, PATH.rstrip("/")])
def test_a_preflight_is_granted_for_post_with_json(console, path: str) -> None:
    with console.client_of(None) as page:
        answer = page.options(path, headers=PREFLIGHT)
    assert answer.status_code == 200
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert answer.headers["Access-Control-Allow-Methods"] == "POST"
    assert "content-type" in answer.headers["Access-Control-Allow-Headers"].lower()
    assert int(answer.headers["Access-Control-Max-Age"]) > 0
    assert "Access-Control-Allow-Credentials" not in answer.headers


def test_a_preflight_for_another_method_is_not_granted(console) -> None:
    with console.client_of(None) as page:
        answer = page.options(PATH, headers=PREFLIGHT | {"Access-Control-Request-Method": "DELETE"})
    assert answer.status_code == 400


def test_a_request_by_another_name_is_told_so_readably(console) -> None:
    with console.client_of(None) as page:
        answer = page.post(PATH, json=WRONG, headers=ORIGIN | {"Host": "elsewhere.example.org"})
    assert answer.status_code == 400
    assert_readable(answer)


@pytest.mark.parametrize("path", [PATH, PATH.rstrip("/")])
def test_a_page_of_another_origin_gets_a_token(console, camera: Camera, path: str) -> None:
    with console.client_of(None) as page:
        answer = page.post(path, json=camera.body(), headers=ORIGIN)
    assert (answer.status_code, list(answer.json())) == (200, ["token"])
    assert_readable(answer)


def test_a_page_can_read_every_refusal(console) -> None:
    too_large = b"x" * (BODY_LIMIT_BYTES + 1)
    with console.client_of(None) as page:
        answers = {
            400: page.post(PATH, json={}, headers=ORIGIN),
            401: page.post(PATH, json=WRONG, headers=ORIGIN),
            405: page.get(PATH, headers=ORIGIN),
            413: page.post(PATH, content=too_large, headers=ORIGIN),
            415: page.post(PATH, content=b"{}", headers=ORIGIN | {"Content-Type": "text/plain"}),
        }
        for _ in range(9):
            page.post(PATH, json=WRONG)
        answers[429] = page.post(PATH, json=WRONG, headers=ORIGIN)
    assert {status: answer.status_code for status, answer in answers.items()} == {status: status for status in answers}
    for answer in answers.values():
        assert_readable(answer)
        assert answer.headers["Content-Type"] == "application/problem+json"
    assert int(answers[429].headers["Retry-After"]) >= 1
    assert answers[429].json()["non_field_errors"] == [answers[429].json()["detail"]]


def test_other_pages_of_the_console_are_not_open(console) -> None:
    with console.client_of(None) as page:
        assert "Access-Control-Allow-Origin" not in page.get("/accounts/login/", headers=ORIGIN).headers
        assert page.options("/accounts/login/", headers=PREFLIGHT).headers.get("Access-Control-Allow-Origin") is None
