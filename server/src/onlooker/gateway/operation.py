"""What a row of the route table says."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class RouteRow:
    """One operation: how it is asked for, who answers, what it is for."""

    method: str
    path: str
    handler: Handler
    summary: str
    open: bool = False
    """Whether it answers without credentials."""
    for_trials: bool = False
    """Whether it answers who has but a trial token."""


class Endpoint:
    """A handler as an ASGI app: problems go up to the gate, without Starlette's own handling of exceptions."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self.__name__ = handler.__name__

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._handler(Request(scope, receive, send))
        await response(scope, receive, send)
