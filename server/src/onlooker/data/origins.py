"""Pages of any origin may read with a token: there is no cookie here that a page could ride on."""

from starlette.responses import Response

METHODS = "GET, HEAD, OPTIONS"
PREFLIGHT_S = 600

COMMON_HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "Content-Disposition, ETag, Retry-After, WWW-Authenticate, X-Request-Id",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}
"""On every answer, refusals too: a page must be able to read what was wrong."""


def preflight_answer() -> Response:
    """A browser asks this before a page's request with a token; also what OPTIONS says to others."""
    headers = {
        "Allow": METHODS,
        "Access-Control-Allow-Methods": METHODS,
        "Access-Control-Allow-Headers": "Authorization, If-None-Match, X-Request-Id",
        "Access-Control-Max-Age": str(PREFLIGHT_S),
    }
    return Response(status_code=204, headers=headers)
