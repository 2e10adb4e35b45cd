"""Basic authentication: user = client_id, password = access_token."""

import base64

from onlooker.errors import Code, Problem


def read_credentials(header: str | None) -> tuple[str, str]:
    """client_id and access_token from an Authorization header."""
    scheme, _, encoded = (header or "").partition(" ")
    if scheme.lower() != "basic":
        raise refusal()
    try:
        client_id, colon, access_token = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except ValueError:
        raise refusal() from None
    if not colon:
        raise refusal()
    return client_id, access_token


def refusal() -> Problem:
    """One and the same for every cause."""
    return Problem(
        Code.BAD_CREDENTIALS,
        "Send a stream's client_id as user and its access_token as password (HTTP Basic).",
        headers={"WWW-Authenticate": 'Basic realm="onlooker", charset="UTF-8"'},
    )
