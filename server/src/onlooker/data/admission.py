"""Admission to the data endpoint: the token, the stream's rate, and what a refusal counts."""

import logging

from starlette.datastructures import Headers
from starlette.types import Scope

from onlooker.data import counters
from onlooker.data.context import DataContext
from onlooker.errors import Code
from onlooker.logs import fields
from onlooker.streams.bearer_tokens import read_token

log = logging.getLogger(__name__)


class DataAdmission:
    """What the gate asks the data endpoint about a request."""

    def __init__(self, context: DataContext, open_paths: frozenset[str]) -> None:
        self._context = context
        self._open_paths = open_paths

    async def admit(self, scope: Scope, headers: Headers) -> None:
        """Check token and rate."""
        if scope["path"] in self._open_paths:
            return
        bearer = scope["bearer"] = await self._context.bearers.check(read_token(headers.get("authorization")))
        scope["stream_id"] = bearer.stream_id
        self._context.rates.take(bearer.stream_id)


def note_refusal(scope: Scope, code: Code, broken: bool) -> None:
    counters.refusals(code).inc()
    if broken:
        log.warning("answer broken off", extra=fields(request_id=scope["request_id"], code=code))


def is_routine(status: int, code: str | None) -> bool:
    return status < 400 or code == Code.RATE_LIMITED
