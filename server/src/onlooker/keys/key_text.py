"""The text of a key: created at random, told apart from tokens and Passwords, hashed."""

import hashlib
import re
import secrets

PREFIX = "onl_"
"""By which people and scanners of leaked secrets know one."""
BEGINNING = 12
"""How many characters are kept and shown, to tell keys apart: 48 of 256 random bits."""
_KEY = re.compile(r"onl_[A-Za-z0-9_-]{43}")


def new_key() -> str:
    """256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def is_key(text: str) -> bool:
    """Whether it looks like one; whether there is such a key, the database knows."""
    return _KEY.fullmatch(text) is not None


def hash_key(text: str) -> bytes:
    """As of an access token: a fast hash is right for a random text."""
    return hashlib.sha256(text.encode()).digest()
