"""Answers with JSON bodies, and problems (RFC 9457), also for requests that no route has seen."""

from datetime import UTC, datetime
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Send

from onlooker.errors import Code, Problem, not_found, overloaded

PROBLEM_TYPE = "application/problem+json"

encode_json = msgspec.json.Encoder().encode


def json_answer(
    members: dict[str, Any] | msgspec.Struct, *, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    return Response(encode_json(members), status_code=status, headers=headers, media_type="application/json")


def problem_answer(problem: Problem, headers: dict[str, str] | None = None) -> Response:
    """`headers` are sent beside the problem's own."""
    return Response(
        problem.body(),
        status_code=problem.status,
        headers=problem.headers | (headers or {}),
        media_type=PROBLEM_TYPE,
    )


async def send_problem(problem: Problem, send: Send) -> None:
    """Answer with a problem, and close the connection."""
    body = problem.body()
    headers = {
        "content-type": PROBLEM_TYPE,
        "content-length": str(len(body)),
        "connection": "close",
    }
    pairs = [(name.lower().encode(), value.encode()) for name, value in (headers | problem.headers).items()]
    await send({"type": "http.response.start", "status": problem.status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


def unrouted_problem(error: HTTPException, *, methods: str = "") -> Problem:
    """What the router says about a path or a method that has no route; `methods` are those that every path has."""
    if error.status_code == 405:
        allowed = methods or dict(error.headers or {}).get("Allow", "none")
        detail = f"This resource has no such method. It has: {allowed}."
        return Problem(Code.METHOD_NOT_ALLOWED, detail, headers={"Allow": allowed})
    return not_found("resource")


def dependency_unavailable(*, retry_after_s: int = 2) -> Problem:
    """The database, the bus or the blob store can't be reached."""
    return overloaded("A part of the server is unavailable. Try again in a moment.", retry_after_s=retry_after_s)


def format_time(unix_time: float) -> str:
    """RFC 3339, to the second."""
    return datetime.fromtimestamp(unix_time, UTC).isoformat(timespec="seconds")
