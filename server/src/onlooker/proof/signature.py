"""The signature of a report: Ed25519, with a key that follows from the installation's secret key."""

import base64
import hashlib
import json
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from onlooker.console.web.secret_key import find_earlier_keys, find_secret_key
from onlooker.settings import Settings

ALGORITHM = "Ed25519"
_PURPOSE = b"onlooker proof"


class BadReport(ValueError):
    """It was changed after it was signed, or was never signed."""


def sign_report(report: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """The report with its signature, as it is written into a file."""
    key = _private_key(find_secret_key(settings))
    return {
        "report": report,
        "signature": {
            "algorithm": ALGORITHM,
            "public_key": _text(key.public_key().public_bytes_raw()),
            "value": _text(key.sign(canonical(report))),
        },
    }


def verify_report(signed: Any) -> str:
    """The fingerprint of the key that signed it; raises BadReport."""
    try:
        public_key = base64.b64decode(signed["signature"]["public_key"], validate=True)
        value = base64.b64decode(signed["signature"]["value"], validate=True)
        Ed25519PublicKey.from_public_bytes(public_key).verify(value, canonical(signed["report"]))
    except (InvalidSignature, KeyError, TypeError, ValueError):
        raise BadReport("The signature does not fit the report: it was changed, or is none of ours.") from None
    return fingerprint(public_key)


def own_fingerprints(settings: Settings) -> list[str]:
    """Of this installation's key, then of those that followed from earlier secret keys."""
    secrets = [find_secret_key(settings), *find_earlier_keys(settings)]
    return [fingerprint(_private_key(secret).public_key().public_bytes_raw()) for secret in secrets if secret]


def fingerprint(public_key: bytes) -> str:
    """SHA-256 of the public key's 32 bytes, in hexadecimal."""
    return hashlib.sha256(public_key).hexdigest()


def canonical(report: Any) -> bytes:
    """What is signed: JSON in UTF-8 without spaces, members sorted by name."""
    return json.dumps(report, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _private_key(secret: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(HKDF(SHA256(), 32, salt=None, info=_PURPOSE).derive(secret.encode()))


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()
