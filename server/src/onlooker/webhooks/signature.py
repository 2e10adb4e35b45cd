"""Signatures of webhooks, by the Standard Webhooks specification 1.0.0 (symmetric, v1)."""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Iterable
from datetime import datetime

PREFIX = "whsec_"
SECRET_BYTES = 32
FEWEST_BYTES, MOST_BYTES = 24, 64


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def sign(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """`v1,` and the HMAC-SHA-256 of id, time and body."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(_key_of(secret), signed, hashlib.sha256)).decode()


def signed_headers(secrets_: Iterable[str], message_id: str, at: datetime, body: bytes) -> dict[str, str]:
    """One signature for each secret: a receiver accepts the message if one of them fits."""
    timestamp = int(at.timestamp())
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(sign(one, message_id, timestamp, body) for one in secrets_),
    }


def _key_of(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        raise ValueError("The secret of a webhook is base64 after whsec_.") from None
    if not FEWEST_BYTES <= len(key) <= MOST_BYTES:
        raise ValueError(f"The secret of a webhook has {FEWEST_BYTES} to {MOST_BYTES} bytes.")
    return key
