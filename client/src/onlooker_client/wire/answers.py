"""What a server's answer says: an object, or a refusal."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from onlooker_client.errors import BadRequest, LinkError, OnlookerError, Refused, refusal
from onlooker_client.wire.address import Address
from onlooker_client.wire.connection import Answer

LONGEST_RETRY_AFTER_S = 3600.0


def read_json(answer: Answer) -> dict[str, Any]:
    """The object in an answer."""
    said = _object_in(answer)
    if said is None:
        raise LinkError("The answer is not JSON. Is this the address of an Onlooker server?")
    return said


def read_refusal(answer: Answer, address: Address | None = None) -> Refused:
    """The exception for an answer that is no success."""
    if answer.status < 400:
        return _redirection(answer, address)
    problem = _object_in(answer) or {}
    if not problem and answer.status < 500:
        problem = {"detail": f"The answer is {answer.status}, and not from an Onlooker server. Is the address right?"}
    elif not problem:
        problem = {"detail": "The server, or a proxy in front of it, can't answer. Try again later."}
    return refusal(answer.status, problem, read_retry_after(answer))


def read_retry_after(answer: Answer) -> float | None:
    given = answer.headers.get("retry-after", "")
    is_number = given.isascii() and given.isdigit()
    return min(float(given), LONGEST_RETRY_AFTER_S) if is_number else None


def _redirection(answer: Answer, address: Address | None) -> BadRequest:
    """It is not followed: the Password would go to where somebody else says."""
    where = answer.headers.get("location", "")
    other = ""
    with suppress(OnlookerError):  # it may be none
        other = f" to {Address.of(where)}" if "://" in where else ""
    detail = f"{address or 'The server'} redirects{other}, which is not followed. Use the address of the server itself."
    return BadRequest(answer.status, {"code": "redirected", "detail": detail})


def _object_in(answer: Answer) -> dict[str, Any] | None:
    try:
        said = json.loads(answer.body)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None
