"""Files in the format of age: encrypted for public keys, and opened with a file of private ones."""

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from io import RawIOBase
from pathlib import Path
from typing import BinaryIO

import pyrage
from pyrage import x25519

from onlooker.settings import SettingsError

PUBLIC_PREFIX = "age1"


class BlockReader(RawIOBase):
    """A file to read from, of what an iterator yields."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        super().__init__()
        self._blocks = iter(blocks)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._rest = memoryview(block)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def create_key(path: Path) -> str:
    """Write a new private key, as `age-keygen` does, and return its public part."""
    identity = x25519.Identity.generate()
    public = str(identity.to_public())
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"# created: {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\n# public key: {public}\n{identity}\n")
    except FileExistsError:
        raise SettingsError(f"{path} exists already, and a key is never overwritten. Name another file.") from None
    except OSError as error:
        raise SettingsError(f"{path} can't be written: {error.strerror}.") from None
    return public


def read_key(path: Path) -> list[x25519.Identity]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        found = [x25519.Identity.from_str(line.strip()) for line in lines if line.strip() and not line.startswith("#")]
    except (OSError, UnicodeDecodeError, pyrage.IdentityError) as error:
        raise SettingsError(
            f"{path} can't be read as a key ({error}). `onlooker backup key` and `age-keygen` write such files."
        ) from None
    if not found:
        raise SettingsError(f"{path} contains no key. `onlooker backup key` and `age-keygen` write such files.")
    return found


def parse_recipient(text: str) -> x25519.Recipient:
    """Raises ValueError with the remedy."""
    try:
        return x25519.Recipient.from_str(text)
    except pyrage.RecipientError:
        raise ValueError(
            f"{text[:8]}... is not a public key. It begins with {PUBLIC_PREFIX}; `onlooker backup key` prints it."
        ) from None


def encrypt(blocks: Iterable[bytes], target: BinaryIO, recipients: list[x25519.Recipient]) -> None:
    pyrage.encrypt_io(BlockReader(blocks), target, recipients)


@contextmanager
def open_decrypted(path: Path, identities: list[x25519.Identity]) -> Iterator[BinaryIO]:
    """What is in an encrypted file, to read once from its beginning. Each part is checked before it is handed out."""
    failures: list[Exception] = []
    reading, writing = os.pipe()

    def decrypt() -> None:
        try:
            with os.fdopen(writing, "wb") as sink, path.open("rb") as source:
                pyrage.decrypt_io(source, sink, identities)
        except BrokenPipeError:
            pass  # the reader had enough
        except (pyrage.DecryptError, OSError) as error:
            failures.append(error)

    decrypting = threading.Thread(target=decrypt, name="decrypting", daemon=True)
    decrypting.start()
    try:
        with os.fdopen(reading, "rb") as stream:
            yield stream
    finally:
        decrypting.join()
        if failures:  # whatever the reader complained of, this is why
            raise SettingsError(_explain(path, failures[0])) from None


def _explain(path: Path, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"There is no file {path}."
    if isinstance(error, pyrage.DecryptError) and "matching keys" in str(error):
        return f"{path} was encrypted for another key. Name the file of that key with --key."
    if isinstance(error, pyrage.DecryptError):
        return f"{path} is not an encrypted backup ({error})."
    return f"{path} is damaged or incomplete ({error}). Take another backup."
