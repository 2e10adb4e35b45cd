"""Answers: JSON bodies whose `status` member is the HTTP status."""

import uuid
from datetime import UTC, datetime
from typing import Any

import msgspec
from starlette.responses import Response

from onlooker.errors import Problem

_encode = msgspec.json.Encoder().encode


def json_answer(members: dict[str, Any], *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(_encode(members), status_code=status, headers=headers, media_type="application/json")


def problem_answer(problem: Problem) -> Response:
    return Response(
        problem.body(),
        status_code=problem.status,
        headers=problem.headers,
        media_type="application/problem+json",
    )


def job_answer(
    url: str, job_id: uuid.UUID, *, status: int, expires_at: float | None = None, result: bytes = b"{}"
) -> Response:
    """A job: its members, and those of the result (a JSON object) behind them."""
    members: dict[str, Any] = {"url": url, "uuid": str(job_id), "status": status}
    if expires_at is not None:
        members["expires_at"] = format_time(expires_at)
    body = _encode(members)
    if len(result) > 2:
        body = body[:-1] + b"," + result[1:]
    headers = {"Location": url} if status in (201, 202) else None
    return Response(body, status_code=status, headers=headers, media_type="application/json")


def format_time(unix_time: float) -> str:
    return datetime.fromtimestamp(unix_time, UTC).isoformat(timespec="seconds")
