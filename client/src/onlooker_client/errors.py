"""What can go wrong, as a tree of exceptions; each message names the remedy.

OnlookerError
├── ConfigError             what was set is missing or wrong; nothing was asked of the server
│   └── NotSet              address, Login or Password are missing
├── BadArgument             a call of this package has a wrong argument (also a ValueError)
├── SourceError             a camera, file or folder can't be opened or read
├── LinkError               the server was not reached, or its answer did not come
│   ├── TimedOut            it did not come in time
│   └── NotSent             the server can't have got the whole request: to send it again is harmless
│       └── NotTrusted      the server's certificate is not trusted: nothing was sent
├── Refused                 the server answered with a problem
│   ├── BadRequest          400, 405, 413, 415: the request itself is wrong
│   │   ├── NotFound        404: there is no such thing, or not for this caller
│   │   └── Conflict        409: what is there already stands in the way
│   ├── BadCredentials      401: Login, Password or key are wrong, or a token has ended
│   ├── NotAllowed          403: the month is used up, the stream is switched off or closed, or the key may not do it
│   └── NotNow              408, 429, 500, 502, 503, 504: the same request may go well later
├── ComputationFailed       a job ended with `error`
└── NotReady                an async job has no result yet
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

UNKNOWN_CREDENTIALS = (
    "The server does not recognise this Login and Password (client_id and access_token). Check both; a lost Password "
    "can be replaced on the stream's page in the console."
)


class OnlookerError(Exception):
    """Anything that this package raises on purpose."""


class ConfigError(OnlookerError):
    """What was set is missing or wrong."""


class NotSet(ConfigError):
    """Something that every request needs is not set."""

    def __init__(self, text: str, missing: Sequence[str]) -> None:
        self.missing = tuple(missing)
        """Names, such as `url`."""
        super().__init__(text)


class BadArgument(OnlookerError, ValueError):
    """A call of this package has a wrong argument."""


class SourceError(OnlookerError):
    """A camera, file or folder can't be opened or read."""


class LinkError(OnlookerError):
    """The server was not reached, or its answer did not come."""


class TimedOut(LinkError):
    """The answer did not come in time."""


class NotSent(LinkError):
    """The server can't have got the whole request, so it did nothing."""


class NotTrusted(NotSent):
    """The server's certificate is not trusted."""


class Refused(OnlookerError):
    """The server answered with a problem (RFC 9457)."""

    def __init__(self, status: int, problem: dict[str, Any], retry_after_s: float | None = None) -> None:
        self.status = status
        self.code = str(problem.get("code") or "unknown")
        """A stable word to branch on."""
        self.detail = str(problem.get("detail") or problem.get("title") or "The server gave no reason.")
        self.problem = problem
        self.retry_after_s = retry_after_s
        """How long the server asks to wait, where it says so."""
        super().__init__(f"{self.detail} ({status} {self.code})")


class BadRequest(Refused):
    """The request itself is wrong: sending the same again does not help."""


class NotFound(BadRequest):
    """There is no such thing, or this caller may not know of it."""


class Conflict(BadRequest):
    """What is there already stands in the way, such as another site of this name."""


class BadCredentials(Refused):
    """Login, Password or key are wrong, or a token has ended."""

    def __init__(self, status: int, problem: dict[str, Any], retry_after_s: float | None = None) -> None:
        super().__init__(status, problem, retry_after_s)
        if self.code == "bad_credentials":  # its detail is for who writes a client
            self.args = (UNKNOWN_CREDENTIALS,)


class NotAllowed(Refused):
    """The month is used up; the stream is switched off, or closed at this time of day; or a key may not do it."""


class NotNow(Refused):
    """The same request may go well later."""


class ComputationFailed(OnlookerError):
    """A job ended with `error`."""

    def __init__(self, result: dict[str, Any]) -> None:
        self.code = str(result.get("error_code") or "unknown")
        self.result = result
        super().__init__(f"{result.get('error')} ({self.code})")


class NotReady(OnlookerError):
    """An async job has no result yet."""


def refusal(status: int, problem: dict[str, Any], retry_after_s: float | None = None) -> Refused:
    """The exception for an answer that is no success."""
    kinds: dict[int, type[Refused]] = {
        401: BadCredentials,
        403: NotAllowed,
        404: NotFound,
        408: NotNow,
        409: Conflict,
        429: NotNow,
    }
    kind = kinds.get(status, NotNow if status >= 500 else BadRequest)
    return kind(status, problem, retry_after_s)
