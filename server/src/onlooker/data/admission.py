"""Admission to the data endpoint: the token or the key, the stream's rate, and what a refusal counts."""

import logging
from collections.abc import Awaitable, Callable
from functools import partial

from starlette.datastructures import Headers
from starlette.types import Scope

from onlooker.data import counters
from onlooker.data.context import DataContext
from onlooker.data.query import STREAM, read_parameters
from onlooker.errors import Code
from onlooker.keys.bearer_keys import shows_key
from onlooker.logs import fields
from onlooker.streams.bearer_tokens import Bearer, read_token

log = logging.getLogger(__name__)


class DataAdmission:
    """What the gate asks the data endpoint about a request."""

    def __init__(self, context: DataContext, open_paths: frozenset[str]) -> None:
        self._context = context
        self._open_paths = open_paths

    async def admit(self, scope: Scope, headers: Headers) -> None:
        """Check token or key, and rate."""
        if scope["path"] in self._open_paths:
            return
        check = scope["check_again"] = self._choose_check(scope, headers.get("authorization"))
        bearer = scope["bearer"] = await check()
        scope["stream_id"] = bearer.stream_id
        self._context.rates.take(bearer.stream_id)

    def _choose_check(self, scope: Scope, header: str | None) -> Callable[[], Awaitable[Bearer]]:
        """`named` is what the URL of the next page has besides."""
        token, scope["named"] = read_token(header), {}
        if not shows_key(token):
            return partial(self._context.bearers.check, token)
        scope["named"] = read_parameters(scope["query_string"], (STREAM,))
        stream = scope["named"].get(STREAM)
        return partial(self._context.bearer_keys.check, token, stream)


def note_refusal(scope: Scope, code: Code, broken: bool) -> None:
    counters.refusals(code).inc()
    if broken:
        log.warning("answer broken off", extra=fields(request_id=scope["request_id"], code=code))


def is_routine(status: int, code: str | None) -> bool:
    return status < 400 or code == Code.RATE_LIMITED
