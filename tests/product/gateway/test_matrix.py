"""Every route against every kind of wrong credentials, on things that exist: 401 or 404, and never a hint."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from clients import client_of
from feed_client import CLOSING, INPUT_TYPE, open_feed, part
from onlooker.gateway.routes import ROUTES, RouteRow
from testkit import Stack, TestStream
from wire import assert_problem, basic, dummy, finished, measure, multipart, new_state, store_blob

OPEN = {"/livez", "/readyz", "/openapi.json"}
THINGS = {"jobs": ("job", "accepted"), "blobs": ("blob",), "sessions": ("session",), "streams": ("feed",)}
"""What exists under the last word before an id; a route with a new word needs a thing here."""


@dataclass(frozen=True)
class Case:
    """A route, and the kind of thing its path is about (empty: none in particular)."""

    row: RouteRow
    thing: str = ""

    def __str__(self) -> str:
        return f"{self.row.method} {self.row.path} {self.thing}".strip()

    def path(self, thing_id: object) -> str:
        return self.row.path.format(name="dummy", version=1, id=thing_id)


def _cases() -> Iterator[Case]:
    for row in ROUTES:
        words = row.path.split("/")
        if "{id}" in words:
            yield from (Case(row, thing) for thing in THINGS[words[words.index("{id}") - 1]])
        else:
            yield Case(row)


CASES = list(_cases())
CLOSED = [case for case in CASES if not case.row.open]
OWNED = [case for case in CASES if case.thing]


@dataclass(frozen=True)
class Owned:
    """Things of one stream, and its client."""

    stream: TestStream
    client: httpx2.Client
    ids: dict[str, str]
    urls: dict[str, str]

    def assert_there(self) -> None:
        """Nobody else's request changed anything."""
        answers = {name: self.client.get(url).status_code for name, url in self.urls.items()}
        assert answers == {"job": 201, "accepted": 200, "blob": 200, "feed": 200}
        state = {"session_id": self.ids["session"]}
        assert dummy(self.client, state=state).json()["calls"] > 1


@pytest.fixture(scope="module")
def owned(stack: Stack) -> Iterator[Owned]:
    stream, state = stack.create_stream(), new_state()
    with client_of(stack, stream) as client:
        dummy(client, state=state)
        bodies = {
            "job": dummy(client).json(),
            "accepted": client.post("/services/dummy/1/jobs", json={}).json(),
            "blob": store_blob(client).json(),
            "feed": open_feed(client, state=state),
        }
        finished(client, bodies["accepted"]["url"])
        ids = {name: body["uuid"] for name, body in bodies.items()} | {"session": state["session_id"]}
        yield Owned(stream, client, ids, {name: body["url"] for name, body in bodies.items()})


def ask(client: httpx2.Client, case: Case, thing_id: object, authorization: str | None = None) -> httpx2.Response:
    """The request of a route, valid except for the credentials."""
    headers = {} if authorization is None else {"Authorization": authorization}
    sent: dict[str, Any] = {}
    if case.row.path.endswith("/input"):
        headers["Content-Type"] = INPUT_TYPE
        sent = {"content": part() + CLOSING}
    elif case.row.path == "/blobs":
        sent = {"files": multipart({"content": "attachment://shot"}, shot=b"pixels")}
    elif case.row.method == "POST":
        sent = {"json": {"async": False}}
    return client.request(case.row.method, case.path(thing_id), headers=headers, **sent)


def wrong_headers(stream: TestStream) -> dict[str, str | None]:
    right = basic(*stream.auth)
    return {
        "none": None,
        "empty": "",
        "wrong token": basic(stream.client_id, "wrong"),
        "token of nobody": basic(stream.client_id, str(uuid.uuid4())),
        "empty token": basic(stream.client_id, ""),
        "unknown client_id": basic(str(uuid.uuid4()), stream.access_token),
        "client_id that is no UUID": basic("me", stream.access_token),
        "halves swapped": basic(stream.access_token, stream.client_id),
        "another scheme": right.replace("Basic", "Bearer"),
        "no scheme": right.removeprefix("Basic "),
        "no base64": f"Basic {stream.client_id}:{stream.access_token}",
        "no colon": "Basic " + basic(stream.client_id, "").removeprefix("Basic ")[:20],
        "cut off": right[:-7],
        "not UTF-8": "Basic //79/A==",
    }


@pytest.mark.parametrize("case", CLOSED, ids=str)
def test_without_right_credentials_every_route_is_one_and_the_same_401(stack: Stack, owned: Owned, case: Case) -> None:
    """No, wrong or malformed credentials: 401, whether or not the thing exists."""
    with client_of(stack, None) as anonymous:
        expected = anonymous.get("/services").json()
        for thing_id in (owned.ids.get(case.thing, "-"), uuid.uuid4()):
            for name, header in wrong_headers(owned.stream).items():
                answer = ask(anonymous, case, thing_id, header)
                assert assert_problem(answer, 401, "bad_credentials") == expected, name
                assert answer.headers["www-authenticate"].startswith("Basic"), name
    owned.assert_there()


def _comparable(answer: httpx2.Response) -> tuple[int, bytes, dict[str, str]]:
    own = ("date", "x-request-id")
    return answer.status_code, answer.content, {k: v for k, v in answer.headers.items() if k not in own}


@pytest.mark.parametrize("case", OWNED, ids=str)
def test_for_another_stream_a_thing_is_as_if_it_never_was(stack: Stack, owned: Owned, case: Case) -> None:
    """Another stream's credentials: 404, the very answer there is for something that never existed."""
    with client_of(stack, stack.create_stream()) as other:
        foreign = ask(other, case, owned.ids[case.thing])
        never = ask(other, case, uuid.uuid4())
    assert_problem(foreign, 404, "not_found")
    assert _comparable(foreign) == _comparable(never)
    assert owned.ids[case.thing] not in foreign.text
    owned.assert_there()


@pytest.mark.parametrize("case", OWNED, ids=str)
def test_for_another_stream_under_another_service_a_thing_is_not_found_either(
    stack: Stack, owned: Owned, case: Case
) -> None:
    """Another stream's credentials and another service in the path: 404 all the same."""
    with client_of(stack, stack.create_stream()) as other:
        answer = other.request(
            case.row.method, case.row.path.format(name="measure", version=1, id=owned.ids[case.thing])
        )
    assert_problem(answer, 404, "not_found")
    owned.assert_there()


def test_only_health_and_the_interface_itself_answer_without_credentials(stack: Stack) -> None:
    """All gateway endpoints use Basic authentication, except those for load balancers and generators."""
    assert {row.path for row in ROUTES if row.open} == OPEN
    with client_of(stack, None) as anonymous:
        assert [anonymous.get(path).status_code for path in sorted(OPEN)] == [200] * 3


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"])
def test_a_path_or_method_that_does_not_exist_is_401_without_credentials(stack: Stack, method: str) -> None:
    """No hint of what exists: credentials are asked for before anything is looked at."""
    with client_of(stack, None) as anonymous:
        for path in ("/", "/nothing", "/services/nothing/1/jobs", "/services", "/blobs"):
            assert anonymous.request(method, path).status_code == 401


def test_a_foreign_blob_in_a_job_is_as_if_it_never_was(stack: Stack, owned: Owned) -> None:
    """Another stream's blob as a reference: the very answer there is for one that never existed."""
    with client_of(stack, stack.create_stream()) as other:
        foreign = measure(other, image=owned.urls["blob"])
        never = measure(other, image=f"{stack.url}/blobs/{uuid.uuid4()}")
    assert_problem(foreign, 404, "not_found")
    assert _comparable(foreign) == _comparable(never)
