"""The gate by itself: what it does around an app, with the rules that a process hands it."""

import asyncio
import logging
from typing import Any

import msgspec
import psycopg
import pytest
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from onlooker.errors import Code, Problem
from onlooker.http.access_log import AccessLog
from onlooker.http.cors import AnyOrigin
from onlooker.http.gate import Gate, GateRules

CORS = AnyOrigin(methods="GET", request_headers="Authorization", exposed="ETag", max_age_s=60)


class Counted:
    """Stands for a metric: remembers its labels."""

    def __init__(self) -> None:
        self.labels: list[tuple[object, ...]] = []

    def __call__(self, *labels: object) -> "Counted":
        self.labels.append(labels)
        return self

    def inc(self) -> None: ...

    def observe(self, value: float) -> None: ...


class Talk:
    """One request through a gate, and what came of it."""

    def __init__(self, app: Any, *, method: str = "GET", headers: dict[str, str] | None = None, **rules: Any) -> None:
        self.sent: list[Message] = []
        self.refusals: list[tuple[Code, bool]] = []
        self.released = 0
        self.counted = Counted()
        self.scope: Scope = {
            "type": "http",
            "method": method,
            "path": "/there/",
            "headers": [(name.encode(), value.encode()) for name, value in (headers or {}).items()],
        }
        made = GateRules(
            context=self,
            cors=CORS,
            access_log=AccessLog(logging.getLogger("talk"), self.counted, Counted()),  # type: ignore[arg-type]
            **{"admit": self._admit, "note_refusal": self._note, "is_routine": self._is_routine} | rules,
            release=self._release,
        )
        asyncio.run(Gate(app, made)(self.scope, self._receive, self._send))

    async def _admit(self, scope: Scope, headers: Headers) -> None:
        scope["stream_id"] = 7

    def _note(self, scope: Scope, code: Code, broken: bool) -> None:
        self.refusals.append((code, broken))

    def _is_routine(self, status: int, code: str | None) -> bool:
        return False

    def _release(self, scope: Scope) -> None:
        self.released += 1

    async def _receive(self) -> Message:
        return {"type": "http.request"}

    async def _send(self, message: Message) -> None:
        self.sent.append(message)

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def headers(self) -> Headers:
        return Headers(raw=self.sent[0]["headers"])

    @property
    def code(self) -> object:
        return msgspec.json.decode(self.sent[1]["body"])["code"]


async def fine(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["path"].encode()})


def failing(error: BaseException) -> Any:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise error

    return app


def test_an_answer_has_the_id_of_its_request_and_the_path_no_trailing_slash() -> None:
    talk = Talk(fine, headers={"x-request-id": "abcdefgh-1"})
    assert (talk.status, talk.headers["x-request-id"], talk.sent[1]["body"]) == (200, "abcdefgh-1", b"/there")
    assert talk.headers["access-control-allow-origin"] == "*"
    assert (talk.counted.labels, talk.refusals, talk.released) == ([("none", 200)], [], 1)


def test_who_is_not_admitted_does_not_reach_the_app() -> None:
    async def refuse(scope: Scope, headers: Headers) -> None:
        raise Problem(Code.RATE_LIMITED, "Wait.", headers={"Retry-After": "3"})

    talk = Talk(failing(AssertionError()), admit=refuse, refusal_headers={"Cache-Control": "no-store"})
    assert (talk.status, talk.code, talk.headers["retry-after"]) == (429, "rate_limited", "3")
    assert talk.headers["cache-control"] == "no-store"
    assert (talk.refusals, talk.released) == ([(Code.RATE_LIMITED, False)], 1)


def test_a_preflight_needs_no_admission() -> None:
    talk = Talk(failing(AssertionError()), method="OPTIONS", admit=failing(AssertionError()))
    assert (talk.status, talk.refusals) == (204, [])


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (psycopg.OperationalError("gone"), 503, "overloaded"),
        (asyncio.CancelledError(), 503, "overloaded"),
        (ZeroDivisionError(), 500, "internal_error"),
    ],
)
def test_what_fails_is_answered_with_a_problem(error: BaseException, status: int, code: str) -> None:
    talk = Talk(failing(error))
    assert (talk.status, talk.code, talk.headers["content-type"]) == (status, code, "application/problem+json")


def test_an_answer_that_has_begun_is_left_incomplete() -> None:
    async def half(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise psycopg.OperationalError("gone")

    talk = Talk(half)
    assert ([message["type"] for message in talk.sent], talk.refusals) == (
        ["http.response.start"],
        [(Code.OVERLOADED, True)],
    )


def test_a_client_that_left_is_no_refusal() -> None:
    talk = Talk(failing(ClientDisconnect()))
    assert (talk.sent, talk.refusals, talk.counted.labels) == ([], [], [("none", 499)])


def test_a_client_that_reads_nothing_is_left() -> None:
    class Stuck(Talk):
        async def _send(self, message: Message) -> None:
            await asyncio.Event().wait()

    talk = Stuck(fine, send_limit_s=0.01)
    assert talk.counted.labels == [("none", 499)]
