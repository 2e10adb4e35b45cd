"""Revalidation: a client that has an answer asks whether it is still current, and is not sent it again."""

import hashlib

from starlette.requests import Request
from starlette.responses import Response

CACHING = {"Cache-Control": "private, no-cache", "Vary": "Authorization"}
"""Stored by the bearer only, and revalidated before each use."""


def revalidated(request: Request, body: bytes) -> Response:
    """A JSON body with its tag, or 304 if the request names that tag."""
    tag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = CACHING | {"ETag": tag}
    if _names(request.headers.get("if-none-match", ""), tag):
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type="application/json")


def _names(header: str, tag: str) -> bool:
    """Weak comparison: the same numbers, in any encoding."""
    given = [one.strip().removeprefix("W/") for one in header.split(",")]
    return tag.removeprefix("W/") in given or given == ["*"]
