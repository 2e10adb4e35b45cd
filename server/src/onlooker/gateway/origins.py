"""The one page that may send to the gateway: the console's own. What another page's browser asks is not granted."""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response

DEFAULT_PORTS = {"http": 80, "https": 443}
PREFLIGHT_S = 7200
"""Longer than browsers remember it."""

_EXPOSED = b"Retry-After, X-Request-Id"
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, DELETE",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": str(PREFLIGHT_S),
}


def origin_of(url: str) -> str:
    """As a browser writes it: lower-case, and without a port that goes without saying."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    is_plain = parts.port is None or parts.port == DEFAULT_PORTS.get(parts.scheme)
    return f"{parts.scheme}://{host}" if is_plain else f"{parts.scheme}://{host}:{parts.port}"


class Origins:
    """Says what a request's `Origin` is granted. Who sends none is no page, and sees nothing of this."""

    def __init__(self, console_url: str) -> None:
        self._granted = origin_of(console_url)
        self._headers = (
            (b"access-control-allow-origin", self._granted.encode()),
            (b"access-control-expose-headers", _EXPOSED),
            (b"vary", b"Origin"),
        )

    def headers(self, origin: str | None) -> tuple[tuple[bytes, bytes], ...]:
        """For every answer, refusals too: a page must be able to read what was wrong."""
        if origin is None:
            return ()
        return self._headers if origin == self._granted else self._headers[-1:]

    def is_preflight(self, method: str, headers: Headers) -> bool:
        """Whether a browser asks, without credentials, if the console's page may send what it is about to."""
        if method != "OPTIONS" or headers.get("origin") != self._granted:
            return False
        return "access-control-request-method" in headers


def preflight_answer() -> Response:
    return Response(status_code=204, headers=_PREFLIGHT)
