"""No token is accepted that the console did not sign as it stands."""

import base64
import binascii
import hmac
import json
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given, settings
from hypothesis import strategies as st

from bearer_tokens import Check, claims_of, refusal, sign
from onlooker.console.tokens.models import SigningKey
from onlooker.console.tokens.signing_keys import rotate_keys, signing_key
from token_requests import Camera, get_token

pytest_plugins = ["pages", "cameras"]
pytestmark = pytest.mark.django_db(transaction=True)
CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.= "
WRONG_CLAIMS: list[dict[str, Any]] = [
    {"iss": "https://elsewhere.example.org"},
    {"aud": "another-audience"},
    {"aud": ["onlooker"]},
    {"client_id": "7e0d1c2a-0f2e-4b43-9d6f-0a3d0f9f3c11"},
    {"client_id": "no uuid"},
    {"user_id": 987_654_321},
    {"user_id": "1"},
    {"user_id": True},
    {"credential": 987_654_321},
    {"credential": None},
    {"credential": 2**70},
    {"credential": -(2**63) - 1},
    {"iat": int(time.time()) + 3600},
    {"exp": "soon"},
    {"nbf": int(time.time()) + 3600},
]


def encoded(value: object) -> str:
    return text(json.dumps(value).encode())


def text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


HOSTILE = [
    "",
    ".",
    "..",
    "a.b.c",
    "é.é.é",
    "\ud800",
    "x" * 100_000,
    text(b"[" * 2900) + ".e30.",
    text(b'{"kid":' + b"[" * 2800) + ".e30.",
    encoded({"alg": "ES256", "kid": 5}) + ".e30.AAAA",
    encoded({"alg": "ES256", "kid": ["a"]}) + ".e30.AAAA",
    encoded([]) + ".e30.AAAA",
    encoded({"alg": None}) + ".e30.",
]


def test_what_is_wrongly_claimed_is_refused_even_with_the_right_signature(camera: Camera, check: Check) -> None:
    claims = claims_of(get_token(camera))
    assert check(sign(claims))
    codes = {str(change): refusal(check, sign(claims | change)) for change in WRONG_CLAIMS}
    assert [change for change, code in codes.items() if code != "invalid_jwt"] == []


def test_no_claim_may_be_missing(camera: Camera, check: Check) -> None:
    claims = claims_of(get_token(camera))
    for name in ("iss", "aud", "exp", "iat", "user_id", "client_id", "credential", "username"):
        assert refusal(check, sign({key: value for key, value in claims.items() if key != name})) == "invalid_jwt"


def test_the_algorithm_is_pinned(camera: Camera, check: Check) -> None:
    """Neither `none`, nor a MAC made with the public key, which everybody has."""
    claims = claims_of(get_token(camera))
    kid, private = signing_key()
    pem = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    jwk = json.dumps(SigningKey.objects.get().public_jwk).encode()
    for algorithm, secret in (("none", None), ("HS256", pem), ("HS256", jwk), ("ES256", pem)):
        signed = f"{encoded({'alg': algorithm, 'typ': 'JWT', 'kid': kid})}.{encoded(claims)}"
        signature = hmac.digest(secret, signed.encode(), "sha256") if secret else b""
        assert refusal(check, f"{signed}.{text(signature)}") == "invalid_jwt"


def test_a_token_with_another_kid_or_none_is_refused(camera: Camera, check: Check) -> None:
    claims = claims_of(get_token(camera))
    rotate_keys()
    other = SigningKey.objects.exclude(retires_at=None).get().kid
    for kid in (other, "", "x" * 1000):
        assert refusal(check, sign(claims, kid=kid)) == "invalid_jwt"
    assert refusal(check, jwt.encode(claims, signing_key()[1], algorithm="ES256")) == "invalid_jwt"


def test_what_is_no_token_at_all_is_refused(camera: Camera, check: Check) -> None:
    get_token(camera)
    assert [token[:50] for token in HOSTILE if refusal(check, token) != "invalid_jwt"] == []


def test_no_change_of_a_token_is_accepted(camera: Camera, check: Check) -> None:
    token = get_token(camera)
    kinds = st.sampled_from(["replace", "insert", "cut"])

    @settings(max_examples=300, deadline=None, database=None, derandomize=True)
    @given(place=st.integers(0, len(token) - 1), character=st.sampled_from(CHARACTERS), kind=kinds)
    def tamper(place: int, character: str, kind: str) -> None:
        rest = {"replace": token[place + 1 :], "insert": token[place:], "cut": ""}[kind]
        changed = token[:place] + (character if kind != "cut" else "") + rest
        if decoded(changed) != decoded(token):
            assert refusal(check, changed) == "invalid_jwt"

    tamper()


def decoded(token: str) -> list[bytes] | None:
    """The bytes a token stands for: several texts may stand for the same, as base64 has it."""
    try:
        return [base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in token.split(".")]
    except (binascii.Error, ValueError):
        return None
