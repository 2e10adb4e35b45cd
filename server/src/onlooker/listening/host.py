"""Every HTTP/1.1 request names its host exactly once, as RFC 9112 demands; others are refused."""

from starlette.types import ASGIApp, Receive, Scope, Send

from onlooker.errors import bad_request
from onlooker.listening.refusal import refuse


class RequiredHost:
    """ASGI middleware around the whole app of a listener."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        hosts = sum(name == b"host" for name, _ in scope["headers"])
        if hosts == 1 or (hosts == 0 and scope["http_version"] == "1.0"):
            await self._app(scope, receive, send)
        else:
            await refuse(bad_request(f"A request has one Host header; this one has {hosts or 'none'}."), send)
