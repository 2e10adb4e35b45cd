"""What the bus's files still tell: their bytes, and the session records that keys in the same files open."""

import re
import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from onlooker.bus.session_store import NONCE_BYTES, PERIOD_BYTES
from onlooker.bus.subjects import SESSION_KEYS, SESSION_STATES

_RECORD = struct.Struct("<IQqH")
"""How JetStream begins a record in a block file: length, sequence, time in nanoseconds, length of the subject."""
_HAS_HEADERS = 1 << 31
_HASH_BYTES = 8
_HEADERS_END = b"\r\n\r\n"
_KEY = re.compile(
    rb"\$KV\." + SESSION_KEYS.encode() + rb"-\d+\.(?P<name>[0-9a-f]{32}).{4}NATS/1\.0\r\n.*?\r\n\r\n(?P<key>.{32})",
    re.DOTALL,
)


@dataclass(frozen=True)
class Record:
    """One record in a block file, whether or not JetStream still knows it."""

    subject: str
    written_at: float
    value: bytes


@dataclass(frozen=True)
class BusFiles:
    """All files of the bus, as they were at one moment."""

    contents: dict[Path, bytes]

    @classmethod
    def read(cls, home: Path) -> "BusFiles":
        """Files come and go while they are read."""
        contents: dict[Path, bytes] = {}
        for path in (home / "nats" / "jetstream").rglob("*"):
            try:
                if path.is_file():
                    contents[path] = path.read_bytes()
            except OSError:
                continue
        return cls(contents)

    def holds(self, text: bytes) -> bool:
        return any(text in content for content in self.contents.values())

    def session_keys(self) -> dict[str, list[bytes]]:
        """Every key that the bytes hold, by the sealed name of its session."""
        found: dict[str, list[bytes]] = defaultdict(list)
        for content in self.contents.values():
            for match in _KEY.finditer(content):
                found[match["name"].decode()].append(match["key"])
        return found

    def sealed_states(self) -> list[Record]:
        """Every session record that the block files hold, oldest first."""
        return sorted(
            (
                record
                for path, content in self.contents.items()
                if path.suffix == ".blk" and f"KV_{SESSION_STATES}-" in str(path)
                for record in _records(content)
                if len(record.value) > PERIOD_BYTES + NONCE_BYTES
            ),
            key=lambda record: record.written_at,
        )

    def readable_states(self) -> Iterator[Record]:
        """Those that a key in the files opens, oldest first, with their session's name and plain value."""
        keys = self.session_keys()
        for record in self.sealed_states():
            name = record.subject.rpartition(".")[2]
            for key in keys.get(name, []):
                if value := _open(key, record.value):
                    yield Record(name, record.written_at, value)

    def oldest_readable(self) -> Record | None:
        return next(self.readable_states(), None)


def _records(block: bytes) -> Iterator[Record]:
    at = 0
    while at + _RECORD.size <= len(block):
        length, _, written_ns, subject_bytes = _RECORD.unpack_from(block, at)
        end = at + (length & ~_HAS_HEADERS)
        if end <= at or end > len(block):
            return
        subject_end = at + _RECORD.size + subject_bytes
        subject = block[at + _RECORD.size : subject_end].decode(errors="replace")
        value = block[subject_end : end - _HASH_BYTES]
        if length & _HAS_HEADERS:
            value = value[4:].partition(_HEADERS_END)[2]
        if subject:
            yield Record(subject, written_ns / 1e9, value)
        at = end


def _open(key: bytes, sealed: bytes) -> bytes | None:
    nonce = sealed[PERIOD_BYTES : PERIOD_BYTES + NONCE_BYTES]
    try:
        return AESGCM(key).decrypt(nonce, sealed[PERIOD_BYTES + NONCE_BYTES :], None)
    except (InvalidTag, ValueError):
        return None
