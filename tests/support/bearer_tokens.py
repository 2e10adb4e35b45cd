"""Tokens as a bearer shows them, and refusals of them."""

from collections.abc import Callable
from typing import Any

import jwt
import pytest
from django.db import connection

from onlooker.console.tokens.signing_keys import signing_key
from onlooker.errors import Problem
from onlooker.streams.bearer_tokens import Bearer

ISSUER = "https://console.example.org"
REMEMBER_S = 0.2
Check = Callable[[str], Bearer]


def database_url() -> str:
    """Of the tests' own database."""
    address = connection.settings_dict
    user = f"{address['USER']}@" if address["USER"] else ""
    return f"postgresql://{user}{address['HOST']}:{address['PORT']}/{address['NAME']}"


def refusal(check: Check, token: str) -> str:
    """The code of the problem that a token meets."""
    with pytest.raises(Problem) as caught:
        check(token)
    assert caught.value.status == 401
    assert caught.value.headers["WWW-Authenticate"].startswith("Bearer")
    return str(caught.value.code)


def claims_of(token: str) -> dict[str, Any]:
    return dict(jwt.decode(token, options={"verify_signature": False}))


def sign(claims: dict[str, Any], **headers: Any) -> str:
    """With the server's own key, whatever the claims are."""
    kid, private = signing_key()
    return jwt.encode(claims, private, algorithm="ES256", headers={"kid": kid} | headers)
