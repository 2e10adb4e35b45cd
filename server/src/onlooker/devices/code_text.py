"""The text of an enrolment code: created at random, read as people type it, hashed."""

import secrets

from django.conf import settings
from django.utils.crypto import salted_hmac

LETTERS = "CDFGHJKMNPQRTVWXY34679"
"""None that looks like another in some type: no 0 O, 1 I L, 2 Z, 5 S, 8 B, U V; and no vowels, so no words."""
LENGTH = 12
"""53 bits: at ten wrong ones a minute from each of 10,000 addresses, to hit one of 1,000 codes takes a century."""
GROUP = 4
_SALT = "onlooker.devices.code"


def new_code() -> str:
    """As it is shown."""
    return show_code("".join(secrets.choice(LETTERS) for _ in range(LENGTH)))


def show_code(letters: str) -> str:
    """In groups, which are easier to type."""
    return "-".join(letters[at : at + GROUP] for at in range(0, len(letters), GROUP))


def read_code(typed: str) -> str:
    """The letters alone; empty if this can't be a code."""
    letters = "".join(one for one in typed.upper() if one.isalnum())
    return letters if len(letters) == LENGTH and set(letters) <= set(LETTERS) else ""


def hash_code(letters: str) -> bytes:
    return _hash(letters, settings.SECRET_KEY)


def possible_hashes(letters: str) -> list[bytes]:
    """With the secret key, and with those before it: replacing the key ends no code."""
    return [_hash(letters, key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]


def _hash(letters: str, key: str) -> bytes:
    return salted_hmac(_SALT, letters, secret=key, algorithm="sha256").digest()
