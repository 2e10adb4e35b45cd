"""A row of a route table, and the router that serves the rows."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class RouteRow:
    """One operation: method, path, handler, and what it does."""

    method: str
    path: str
    handler: Handler
    summary: str
    open: bool = False
    """Whether it needs no credentials."""
    for_trials: bool = False
    """Whether it serves requests that carry a trial token."""


class RouteEndpoint:
    """A handler as an ASGI app: problems go up to the gate, without Starlette's own handling of exceptions."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self.__name__ = handler.__name__

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._handler(Request(scope, receive, send))
        await response(scope, receive, send)


def build_router(rows: Iterable[RouteRow], guard: Callable[[RouteRow], Handler] | None = None) -> Router:
    """`guard` may put a check in front of a row's handler."""
    routes = [
        Route(row.path, RouteEndpoint(guard(row) if guard else row.handler), methods=[row.method]) for row in rows
    ]
    return Router(routes, redirect_slashes=False)


def open_paths(rows: Iterable[RouteRow]) -> frozenset[str]:
    """The paths that need no credentials."""
    return frozenset(row.path for row in rows if row.open)
