"""What a row of the route table says."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

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
