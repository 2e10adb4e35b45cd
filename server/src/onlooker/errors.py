"""Problems: the closed list of refusals that the product answers with (RFC 9457)."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec


class Code(StrEnum):
    """A stable word that clients can branch on."""

    BAD_CREDENTIALS = "bad_credentials"
    MISSING_TOKEN = "missing_token"  # noqa: S105
    INVALID_JWT = "invalid_jwt"
    EXPIRED_JWT = "expired_jwt"
    INVALID_KEY = "invalid_key"
    MISSING_SCOPE = "missing_scope"
    QUOTA_EXCEEDED = "quota_exceeded"
    STREAM_DISABLED = "stream_disabled"
    STREAM_CLOSED = "stream_closed"
    ENROLMENT_REFUSED = "enrolment_refused"
    DEVICE_REVOKED = "device_revoked"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    REQUEST_TIMEOUT = "request_timeout"
    CONFLICT = "conflict"
    TOO_LARGE = "too_large"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    BAD_REQUEST = "bad_request"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    INTERNAL_ERROR = "internal_error"


@dataclass(frozen=True)
class ProblemKind:
    """Status and title that always go with a code."""

    status: int
    title: str


KINDS: dict[Code, ProblemKind] = {
    Code.BAD_CREDENTIALS: ProblemKind(401, "No or wrong credentials"),
    Code.MISSING_TOKEN: ProblemKind(401, "No token"),
    Code.INVALID_JWT: ProblemKind(401, "A token that is not valid"),
    Code.EXPIRED_JWT: ProblemKind(401, "A token that has expired"),
    Code.INVALID_KEY: ProblemKind(401, "A key that is not valid"),
    Code.MISSING_SCOPE: ProblemKind(403, "The key lacks the scope"),
    Code.QUOTA_EXCEEDED: ProblemKind(403, "The stream has used up its month"),
    Code.STREAM_DISABLED: ProblemKind(403, "The stream is disabled"),
    Code.STREAM_CLOSED: ProblemKind(403, "The stream is closed at this time"),
    Code.ENROLMENT_REFUSED: ProblemKind(403, "The code does not let this device in"),
    Code.DEVICE_REVOKED: ProblemKind(403, "The device was revoked"),
    Code.FORBIDDEN: ProblemKind(403, "The key does not allow this"),
    Code.NOT_FOUND: ProblemKind(404, "Not found"),
    Code.METHOD_NOT_ALLOWED: ProblemKind(405, "Method not allowed"),
    Code.REQUEST_TIMEOUT: ProblemKind(408, "The request took too long to arrive"),
    Code.CONFLICT: ProblemKind(409, "A limit, a rule or another request is in the way"),
    Code.TOO_LARGE: ProblemKind(413, "Too large"),
    Code.UNSUPPORTED_MEDIA_TYPE: ProblemKind(415, "Unsupported media type"),
    Code.BAD_REQUEST: ProblemKind(400, "Bad request"),
    Code.RATE_LIMITED: ProblemKind(429, "Too many requests"),
    Code.OVERLOADED: ProblemKind(503, "No capacity"),
    Code.INTERNAL_ERROR: ProblemKind(500, "Internal error"),
}


class ProblemBody(msgspec.Struct, frozen=True):
    """A problem as it is sent; some have more members."""

    type: str
    title: str
    status: int
    detail: str
    code: str


@dataclass
class Problem(Exception):
    """A refusal: what went wrong, its stable code, and what to do about it."""

    code: Code
    detail: str
    members: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def status(self) -> int:
        return KINDS[self.code].status

    def body(self) -> bytes:
        kind = KINDS[self.code]
        body = ProblemBody(
            type=f"urn:onlooker:problem:{self.code}",
            title=kind.title,
            status=kind.status,
            detail=self.detail,
            code=str(self.code),
        )
        return msgspec.json.encode(msgspec.structs.asdict(body) | self.members if self.members else body)


def not_found(what: str) -> Problem:
    return Problem(Code.NOT_FOUND, f"There is no such {what}.")


def bad_request(detail: str) -> Problem:
    return Problem(Code.BAD_REQUEST, detail)


def overloaded(detail: str, *, retry_after_s: int = 1) -> Problem:
    return Problem(Code.OVERLOADED, detail, headers={"Retry-After": str(retry_after_s)})
