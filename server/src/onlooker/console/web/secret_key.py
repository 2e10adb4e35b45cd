"""The console's secret key, and encryption of what must not be readable in a copy of the database."""

import base64
import os
import secrets
from functools import lru_cache
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from onlooker.settings import Settings, SettingsError, variable_name

__all__ = [
    "EARLIER_KEYS_FILE",
    "EARLIER_KEY_REMEDY",
    "KEY_FILE",
    "InvalidToken",
    "drop_earlier_keys",
    "ensure_secret_key",
    "find_earlier_keys",
    "find_secret_key",
    "is_sealed_with_newest",
    "replace_secret_key",
    "require_secret_key",
    "reseal",
    "seal",
    "unseal",
    "write_private",
]

KEY_FILE, EARLIER_KEYS_FILE = "secret_key", "secret_key_fallbacks"
"""In the home folder."""
EARLIER_KEY_REMEDY = (
    f"add the earlier key to {variable_name('secret_key_fallbacks')} and restart, then run `onlooker secrets reseal`"
)


def find_secret_key(settings: Settings) -> str:
    """The one that is set, or the one `onlooker up` created; empty if there is neither."""
    path = settings.home_path / KEY_FILE
    if settings.secret_key or not path.exists():
        return settings.secret_key
    return path.read_text(encoding="utf-8").strip()


def find_earlier_keys(settings: Settings) -> list[str]:
    """Keys that still open what they sealed and signed, those that are set first."""
    path = settings.home_path / EARLIER_KEYS_FILE
    kept = path.read_text(encoding="utf-8").split() if path.exists() else []
    return list(dict.fromkeys([*settings.secret_key_fallbacks.split(), *kept]))


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
        write_private(settings.home_path / KEY_FILE, secrets.token_urlsafe(64))
    return find_secret_key(settings)


def replace_secret_key(settings: Settings) -> None:
    """A new key in the home folder. The present one is kept first: at no moment is it nowhere."""
    present, home = find_secret_key(settings), settings.home_path
    if settings.secret_key or not present:
        raise SettingsError(
            f"There is no secret key in {home} to replace. Where {variable_name('secret_key')} is set, set it to a new "
            f"one, and {variable_name('secret_key_fallbacks')} to the one before, for all consoles."
        )
    path = home / EARLIER_KEYS_FILE
    kept = path.read_text(encoding="utf-8").split() if path.exists() else []
    write_private(path, "\n".join(dict.fromkeys([present, *kept])) + "\n")
    write_private(home / KEY_FILE, secrets.token_urlsafe(64))


def drop_earlier_keys(settings: Settings) -> None:
    (settings.home_path / EARLIER_KEYS_FILE).unlink(missing_ok=True)


def write_private(path: Path, text: str) -> None:
    """Whole or not at all, and never readable by others."""
    new = path.with_name(f"{path.name}.new")
    new.touch(mode=0o600)
    with new.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def seal(text: str) -> str:
    """Encrypt with the secret key."""
    return _boxes()[0].encrypt(text.encode()).decode()


def unseal(sealed: str) -> str:
    """Decrypt, also what an earlier key sealed; raises InvalidToken if none of the keys fits."""
    return MultiFernet(_boxes()).decrypt(sealed.encode()).decode()


def is_sealed_with_newest(sealed: str) -> bool:
    try:
        _boxes()[0].decrypt(sealed.encode())
    except InvalidToken:
        return False
    return True


def reseal(sealed: str) -> str:
    """Encrypted with the secret key instead of an earlier one; raises InvalidToken if none of the keys fits."""
    return MultiFernet(_boxes()).rotate(sealed.encode()).decode()


@lru_cache(maxsize=1)
def _boxes() -> list[Fernet]:
    """Of the secret key, then of earlier ones."""
    from django.conf import settings

    return [_box(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]


def _box(key: str) -> Fernet:
    derived = HKDF(SHA256(), 32, salt=None, info=b"onlooker sealed").derive(key.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
