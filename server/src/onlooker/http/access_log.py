"""What every process records about a request: its id, two metrics and a log line."""

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from secrets import token_hex

from prometheus_client import Counter, Histogram

from onlooker.logs import fields

_REQUEST_ID = re.compile(r"[A-Za-z0-9_.-]{8,64}")


def choose_request_id(given: str) -> str:
    """The client's `X-Request-Id` if it is well-formed, else a new one."""
    return given if _REQUEST_ID.fullmatch(given) else token_hex(16)


@dataclass(frozen=True)
class AccessLog:
    """Where a process records its requests."""

    log: logging.Logger
    requests: Callable[..., Counter]
    """By route and status."""
    request_time: Callable[..., Histogram]
    """By route."""

    def record(self, route: str, status: int, seconds: float, *, routine: bool, **named: object) -> None:
        """Count a request; log it, at debug level if it is routine. `named` are the line's other fields."""
        self.requests(route, status).inc()
        self.request_time(route).observe(seconds)
        level = logging.DEBUG if routine else logging.INFO
        if self.log.isEnabledFor(level):
            line = fields(**named, route=route, status=status, ms=round(seconds * 1000, 1))
            self.log.log(level, "request", extra=line)
