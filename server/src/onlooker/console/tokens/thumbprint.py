"""The name of a public key, made from the key itself (RFC 7638)."""

import base64
import hashlib
import json


def thumbprint(jwk: dict[str, str]) -> str:
    """SHA-256 of the members that make up an elliptic curve's key, in the one form the standard gives them."""
    needed = {name: jwk[name] for name in ("crv", "kty", "x", "y")}
    canonical = json.dumps(needed, sort_keys=True, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(hashlib.sha256(canonical).digest()).rstrip(b"=").decode()
