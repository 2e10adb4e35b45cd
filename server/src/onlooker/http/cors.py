"""Which pages may use an endpoint from a browser (CORS): one origin's, or all."""

from typing import Protocol
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response

DEFAULT_PORTS = {"http": 80, "https": 443}

HeaderPairs = tuple[tuple[bytes, bytes], ...]


class CorsPolicy(Protocol):
    """What the gate asks: `docs/decisions/0019-cors.md` says why it is not Starlette's middleware."""

    def headers(self, origin: str | None) -> HeaderPairs:
        """For every answer, refusals too: a page must be able to read what was wrong."""

    def preflight(self, method: str, headers: Headers) -> Response | None:
        """The answer to a preflight request, which has no credentials; None if the request is not one."""


class SingleOrigin:
    """Grants one origin. A request without `Origin` does not come from a page, and its answer has none of this."""

    def __init__(self, url: str, *, methods: str, request_headers: str, exposed: str, max_age_s: int) -> None:
        self._granted = origin_of(url)
        self._headers = (
            (b"access-control-allow-origin", self._granted.encode()),
            (b"access-control-expose-headers", exposed.encode()),
            (b"vary", b"Origin"),
        )
        self._preflight = {
            "Access-Control-Allow-Methods": methods,
            "Access-Control-Allow-Headers": request_headers,
            "Access-Control-Max-Age": str(max_age_s),
        }

    def headers(self, origin: str | None) -> HeaderPairs:
        if origin is None:
            return ()
        return self._headers if origin == self._granted else self._headers[-1:]

    def preflight(self, method: str, headers: Headers) -> Response | None:
        if method != "OPTIONS" or headers.get("origin") != self._granted:
            return None
        if "access-control-request-method" not in headers:
            return None
        return Response(status_code=204, headers=self._preflight)


class AnyOrigin:
    """Grants all origins, on every answer: without cookies there is nothing that a page could abuse."""

    def __init__(self, *, methods: str, request_headers: str, exposed: str, max_age_s: int) -> None:
        self._headers = (
            (b"access-control-allow-origin", b"*"),
            (b"access-control-expose-headers", exposed.encode()),
        )
        self._preflight = {
            "Allow": methods,
            "Access-Control-Allow-Methods": methods,
            "Access-Control-Allow-Headers": request_headers,
            "Access-Control-Max-Age": str(max_age_s),
        }

    def headers(self, origin: str | None) -> HeaderPairs:
        return self._headers

    def preflight(self, method: str, headers: Headers) -> Response | None:
        """Also what OPTIONS says to clients that are no browsers."""
        return Response(status_code=204, headers=self._preflight) if method == "OPTIONS" else None


def origin_of(url: str) -> str:
    """As a browser writes it: lower-case, without the scheme's default port."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    is_plain = parts.port is None or parts.port == DEFAULT_PORTS.get(parts.scheme)
    return f"{parts.scheme}://{host}" if is_plain else f"{parts.scheme}://{host}:{parts.port}"
