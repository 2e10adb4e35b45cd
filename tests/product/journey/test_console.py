"""The console process itself: static files, limits, a proxy in front, its death."""

from collections.abc import Iterator

import httpx2
import pytest

from testkit import Stack
from wire import assert_problem, wait_for


@pytest.fixture
def plain(stack: Stack) -> Iterator[httpx2.Client]:
    """The port for a proxy in front, with nobody in front."""
    with httpx2.Client(base_url=f"http://127.0.0.1:{stack.setting('console_http_port')}", timeout=30) as client:
        yield client


@pytest.fixture
def visitor(stack: Stack) -> Iterator[httpx2.Client]:
    import ssl

    trust = ssl.create_default_context(cafile=stack.ca_file)
    with httpx2.Client(base_url=stack.console_url, verify=trust, timeout=30) as client:
        yield client


@pytest.mark.parametrize("path", ["console/console.css", "console/console.js", "admin/css/base.css"])
def test_static_files_come_with_the_console_and_are_asked_for_once(visitor: httpx2.Client, path: str) -> None:
    first = visitor.get(f"/static/{path}")
    assert (first.status_code, first.headers["Cache-Control"]) == (200, "no-cache")
    assert visitor.get(f"/static/{path}", headers={"If-None-Match": first.headers["ETag"]}).status_code == 304


def test_a_font_is_kept_as_its_name_has_its_release(visitor: httpx2.Client) -> None:
    answer = visitor.get("/static/console/vendor/inter-5.3.0.woff2")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "font/woff2")
    assert "immutable" in answer.headers["Cache-Control"]


@pytest.mark.parametrize("path", ["nothing.css", "../settings.py", "%2e%2e/settings.py", "console/"])
def test_no_other_file_is_served(visitor: httpx2.Client, path: str) -> None:
    assert visitor.get(f"/static/{path}").status_code == 404


def test_a_body_over_the_limit_is_refused(visitor: httpx2.Client) -> None:
    assert_problem(visitor.post("/accounts/login/", content=b"x" * 300_000), 413, "too_large")


def test_plain_http_without_a_trusted_proxy_is_told_the_remedy(plain: httpx2.Client) -> None:
    answer = plain.get("/accounts/login/", headers={"Host": "localhost", "X-Forwarded-Proto": "https"})
    assert answer.status_code == 400
    assert "ONLOOKER_TRUSTED_PROXIES" in answer.text
    assert plain.get("/livez", headers={"Host": "localhost"}).json() == {"live": True}
    assert plain.get("/readyz", headers={"Host": "localhost"}).json()["ready"] is True


def test_another_host_name_is_refused(visitor: httpx2.Client) -> None:
    assert visitor.get("/accounts/login/", headers={"Host": "evil.example.org"}).status_code == 400


def test_what_the_console_logs_is_json_and_names_no_address(stack: Stack, visitor: httpx2.Client) -> None:
    visitor.get("/accounts/password/reset/key/1-a-secret-of-a-link/")
    visitor.get("/nowhere/a-secret-of-a-link/")
    wait_for(stack.output.read_text, lambda text: '"route":"none"' in text)
    assert "a-secret-of-a-link" not in stack.output.read_text()
