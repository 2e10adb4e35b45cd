"""The keys that sign tokens: created on demand, encrypted in the database, rotated with an overlap."""

import base64
import hashlib
import json
import logging
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from onlooker.console.tokens.models import SigningKey
from onlooker.console.web.secret_key import EARLIER_KEY_REMEDY, InvalidToken, seal, unseal
from onlooker.logs import fields

log = logging.getLogger(__name__)

TOKEN_LIFETIME = timedelta(hours=5)
OVERLAP = timedelta(minutes=1)
"""For tokens signed while a key is replaced, and for clocks that differ."""
_LOCK = "SELECT pg_advisory_xact_lock(hashtext('onlooker signing keys'))"

PrivateKey = ec.EllipticCurvePrivateKey


class KeyInUseError(Exception):
    """Tokens of an earlier key are still valid; says until when."""

    def __init__(self, until: datetime) -> None:
        super().__init__(f"An earlier key still verifies tokens until {until:%Y-%m-%d %H:%M} UTC.")
        self.until = until


def live_keys() -> QuerySet[SigningKey]:
    """Keys that verify tokens, newest first."""
    return SigningKey.objects.filter(Q(retires_at=None) | Q(retires_at__gt=timezone.now())).order_by("-id")


def signing_key() -> tuple[str, PrivateKey]:
    """The kid and the private part of the newest readable key; created if there is none."""
    found = _find_readable()
    if found is None:
        with transaction.atomic():
            _lock()
            found = _find_readable() or _replace_unreadable()
    return found


def has_readable_key() -> bool:
    """Whether tokens can be signed without a new key. Changes nothing."""
    return _find_readable() is not None


@transaction.atomic
def rotate_keys(*, now: bool = False) -> SigningKey:
    """A new key signs from now on; earlier ones verify until their last token has expired, or end now."""
    _lock()
    needed = live_keys().exclude(retires_at=None).order_by("-retires_at").first()
    if needed and needed.retires_at and not now:
        raise KeyInUseError(needed.retires_at)
    _retire(timezone.now() if now else _last_token_expires_at())
    return _create_key()[0]


def delete_retired_keys() -> None:
    """A chore: deletes keys that no longer verify anything."""
    SigningKey.objects.filter(retires_at__lte=timezone.now()).delete()


def _find_readable() -> tuple[str, PrivateKey] | None:
    """A key signs only tokens that expire before it retires."""
    for key in live_keys().exclude(retires_at__lte=timezone.now() + TOKEN_LIFETIME):
        try:
            return key.kid, _open(key.sealed_private_pem)
        except InvalidToken:
            continue
    return None


def _replace_unreadable() -> tuple[str, PrivateKey]:
    """The secret key has changed, perhaps after a leak: no more signing with old keys; existing tokens stay valid."""
    unreadable = _retire(_last_token_expires_at())
    key, private = _create_key()
    if unreadable:
        remedy = f"if the secret key was changed on purpose, {EARLIER_KEY_REMEDY}"
        log.warning("signing key could not be unsealed and was replaced", extra=fields(kid=key.kid, remedy=remedy))
    else:
        log.info("signing key created", extra=fields(kid=key.kid))
    return key.kid, private


def _retire(at: datetime) -> int:
    """Never later than it would have retired anyway."""
    return SigningKey.objects.filter(Q(retires_at=None) | Q(retires_at__gt=at)).update(retires_at=at)


def _last_token_expires_at() -> datetime:
    return timezone.now() + TOKEN_LIFETIME + OVERLAP


def _create_key() -> tuple[SigningKey, PrivateKey]:
    private = ec.generate_private_key(ec.SECP256R1())
    public: dict[str, Any] = jwt.algorithms.ECAlgorithm.to_jwk(private.public_key(), as_dict=True)
    kid = jwk_thumbprint(public)
    pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    jwk = public | {"kid": kid, "alg": "ES256", "use": "sig"}
    return SigningKey.objects.create(kid=kid, public_jwk=jwk, sealed_private_pem=seal(pem)), private


@lru_cache(maxsize=8)
def _open(sealed: str) -> PrivateKey:
    key = load_pem_private_key(unseal(sealed).encode(), password=None)
    assert isinstance(key, PrivateKey)
    return key


def _lock() -> None:
    """Only one of several consoles creates a key."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK)


def jwk_thumbprint(jwk: dict[str, str]) -> str:
    """The kid of a public key (RFC 7638): SHA-256 of its canonical JSON."""
    needed = {name: jwk[name] for name in ("crv", "kty", "x", "y")}
    canonical = json.dumps(needed, sort_keys=True, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(hashlib.sha256(canonical).digest()).rstrip(b"=").decode()
