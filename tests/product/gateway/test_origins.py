"""Which pages may send to the gateway: the console's own, and no other. Who is no page notices nothing."""

import httpx2
import pytest

from clients import client_of
from onlooker.http.cors import origin_of
from testkit import Stack
from wire import assert_problem, dummy

OTHERS = ("https://evil.example", "null", "https://localhost", "http://localhost:1", "*", "")
JOBS = "/services/dummy/1/jobs"


def asking(origin: str, method: str = "POST") -> dict[str, str]:
    wished = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": "authorization"}
    return {"Origin": origin} | wished


def granted(answer: httpx2.Response) -> list[str]:
    return [name for name in answer.headers if name.startswith("access-control-")]


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://console.example.org", "https://console.example.org"),
        ("https://Console.Example.org:443", "https://console.example.org"),
        ("http://localhost:80", "http://localhost"),
        ("https://localhost:8444", "https://localhost:8444"),
        ("http://[::1]:8081", "http://[::1]:8081"),
    ],
)
def test_an_origin_is_written_as_browsers_do(url: str, origin: str) -> None:
    assert origin_of(url) == origin


@pytest.mark.parametrize("path", [JOBS, "/services/dummy/1/sessions/1", "/nothing"])
def test_the_consoles_page_may_send_and_is_told_so_without_credentials(stack: Stack, path: str) -> None:
    with client_of(stack, None) as anonymous:
        answer = anonymous.options(path, headers=asking(stack.console_url))
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["access-control-allow-origin"] == stack.console_url
    assert answer.headers["access-control-allow-methods"] == "GET, POST, DELETE"
    assert answer.headers["access-control-allow-headers"] == "Authorization, Content-Type"
    assert answer.headers["access-control-max-age"] == "7200"
    assert "access-control-allow-credentials" not in answer.headers
    assert answer.headers["vary"] == "Origin"


@pytest.mark.parametrize("origin", OTHERS)
def test_no_other_page_is_granted_anything(stack: Stack, client: httpx2.Client, origin: str) -> None:
    with client_of(stack, None) as anonymous:
        asked = anonymous.options(JOBS, headers=asking(origin))
    assert_problem(asked, 401, "bad_credentials")
    sent = client.post(JOBS, json={"async": False}, headers={"Origin": origin})
    assert sent.status_code == 201
    assert (granted(asked), granted(sent)) == ([], [])


def test_the_consoles_page_can_read_every_answer(stack: Stack, client: httpx2.Client) -> None:
    headers = {"Origin": stack.console_url}
    with client_of(stack, None) as anonymous:
        answers = [
            client.post(JOBS, json={"async": False}, headers=headers),
            client.post(JOBS, content=b"{", headers=headers),
            client.get("/nothing", headers=headers),
            client.put(JOBS, headers=headers),
            anonymous.get("/services", headers=headers),
            anonymous.get("/livez", headers=headers),
        ]
    assert [answer.status_code for answer in answers] == [201, 415, 404, 405, 401, 200]
    for answer in answers:
        assert answer.headers["access-control-allow-origin"] == stack.console_url
        assert "Retry-After" in answer.headers["access-control-expose-headers"]
        assert answer.headers["vary"] == "Origin"


def test_who_is_no_page_sees_nothing_of_it(stack: Stack, client: httpx2.Client) -> None:
    with client_of(stack, None) as anonymous:
        answers = [dummy(client), anonymous.get("/services"), anonymous.options(JOBS), client.options(JOBS)]
    assert [answer.status_code for answer in answers] == [201, 401, 401, 405]
    assert [granted(answer) for answer in answers] == [[]] * 4
    assert not any("vary" in answer.headers for answer in answers)


def test_options_that_ask_for_nothing_are_no_preflight(stack: Stack) -> None:
    with client_of(stack, None) as anonymous:
        answer = anonymous.options(JOBS, headers={"Origin": stack.console_url})
    assert_problem(answer, 401, "bad_credentials")
