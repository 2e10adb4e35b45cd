"""The console's secret key, and encryption of what must not be readable in a copy of the database."""

import base64
import secrets
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from onlooker.settings import Settings, SettingsError, variable_name

__all__ = ["InvalidToken", "ensure_secret_key", "find_secret_key", "require_secret_key", "seal", "unseal"]


def find_secret_key(settings: Settings) -> str:
    """The one that is set, or the one `onlooker up` created; empty if there is neither."""
    path = settings.home_path / "secret_key"
    if settings.secret_key or not path.exists():
        return settings.secret_key
    return path.read_text(encoding="utf-8").strip()


def require_secret_key(settings: Settings) -> None:
    if not find_secret_key(settings):
        raise SettingsError(
            "A secret key is required, the same for all consoles and for this command. "
            f"Set {variable_name('secret_key')} to "
            "50 or more random characters; `onlooker up` creates one by itself."
        )


def ensure_secret_key(settings: Settings) -> str:
    """Create one if there is none, in a file that only its owner can read."""
    if not find_secret_key(settings):
        path = settings.home_path / "secret_key"
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(64), encoding="utf-8")
    return find_secret_key(settings)


def seal(text: str) -> str:
    """Encrypt with the secret key."""
    return _box().encrypt(text.encode()).decode()


def unseal(sealed: str) -> str:
    """Decrypt; raises InvalidToken if the secret key has changed."""
    return _box().decrypt(sealed.encode()).decode()


@lru_cache(maxsize=1)
def _box() -> Fernet:
    from django.conf import settings

    derived = HKDF(SHA256(), 32, salt=None, info=b"onlooker sealed").derive(settings.SECRET_KEY.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
