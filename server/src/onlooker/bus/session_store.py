"""The states of sessions on the bus: numbers, never pixels.

Each state is sealed with a key of its session and period, because JetStream leaves expired records in its files for a
long time. Destroying the key makes them unreadable. What is sealed may be compressed; both kinds are always read.
"""

import asyncio
import hashlib
import math
import os
import time
import zlib
from functools import lru_cache
from typing import Any

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from onlooker.bus.bucket_setup import KEY_BUCKETS, kept_s, key_bucket, period_s
from onlooker.bus.buckets import Bucket, Entry, PastEntry, read_last
from onlooker.bus.connection import (
    ANSWER_LIMIT_S,
    EXPECTED_REVISION,
    WRONG_REVISION,
    Bus,
    BusError,
    NotKept,
    publish_kept,
)
from onlooker.bus.subjects import SESSION_STATES, shard_index
from onlooker.settings import Settings

PERIOD_BYTES, NONCE_BYTES = 4, 12
_NAME_END = b"\n"
NAME_LENGTH = 32

COMPRESSED = b"\xc1"
"""First byte of a compressed state: the one byte that MessagePack never uses."""
WORTH_BYTES = 300
"""Shorter states are written as they are."""
STATE_LIMIT_BYTES = 32 * 1024**2
"""More than any message on the bus has. What would grow beyond it was not written by a worker of ours."""
_LEVEL, _WINDOW_BITS = 1, -15
"""Raw deflate at its quickest: a header and a checksum would add nothing to what is sealed."""


class SessionState(msgspec.Struct, array_like=True):
    """Written by a worker after each call. Older states stay for a while, because each holds the result of its call."""

    last_seen: float
    service: Any = None
    """What the service itself remembers."""
    job_ids: list[str] = msgspec.field(default_factory=list)
    result: bytes = b"{}"
    error_code: str | None = None
    last_frame_at: float | None = None
    """Unix time of the last frame, by its timestamp and its arrival."""
    visits: bytes | None = None
    """The open visits of the people who were seen; None if nothing is stored."""
    outbox: list[bytes] = msgspec.field(default_factory=list)
    """Encoded visits that must reach JetStream before the call is answered."""
    told_at: float = 0.0
    """The last frame's own timestamp; 0 if an older release wrote this."""
    told_since: float = 0.0
    """When the first frame with that timestamp arrived."""
    arrived_at: float = 0.0
    """When the last frame arrived."""


encode_state = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(SessionState).decode


def decode_state(value: bytes) -> SessionState | None:
    """None for a state that another release wrote differently: the session starts over."""
    try:
        return _decode(value)
    except msgspec.MsgspecError:
        return None


def compress_state(value: bytes) -> bytes:
    """The same bytes where it does not pay."""
    if len(value) < WORTH_BYTES:
        return value
    compressed = COMPRESSED + zlib.compress(value, _LEVEL, _WINDOW_BITS)
    return compressed if len(compressed) < len(value) else value


def decompress_state(value: bytes) -> bytes | None:
    """What was compressed, or the same bytes if nothing was; None if it can't be read."""
    if not value.startswith(COMPRESSED):
        return value
    inflate = zlib.decompressobj(_WINDOW_BITS)
    try:
        plain = inflate.decompress(value[1:], STATE_LIMIT_BYTES)
    except zlib.error:
        return None
    return plain if inflate.eof else None


class _Deletion(msgspec.Struct):
    success: bool = False


_decode_deletion = msgspec.json.Decoder(_Deletion).decode


class SessionKeys:
    """Creates, finds and destroys keys, and holds those that this process seals with."""

    def __init__(self, bus: Bus, settings: Settings) -> None:
        self._bus = bus
        self._period_s = period_s(settings)
        self._kept_s = kept_s(settings)
        self._from_leader = settings.bus_replicas > 1
        self._held: dict[str, tuple[int, AESGCM]] = {}

    async def current(self, name: str) -> tuple[int, AESGCM]:
        """The current period, and the session's key for it."""
        period = int(time.time() / self._period_s)
        held = self._held.get(name)
        if held is None or held[0] != period:
            held = self._held[name] = (period, AESGCM(await self._make(period, name)))
        return held

    def forget(self, name: str) -> None:
        """The session may have ended since: read its key again before sealing."""
        self._held.pop(name, None)

    async def find(self, period: int, name: str) -> AESGCM | None:
        """None once it has been destroyed."""
        found = await self._read(period % KEY_BUCKETS, name)
        return AESGCM(found[1]) if found else None

    async def destroy(self, name: str) -> None:
        """Overwrite every key of a session in the files."""
        self.forget(name)
        await asyncio.gather(*(self._destroy(index, name) for index in range(KEY_BUCKETS)))

    async def _make(self, period: int, name: str) -> bytes:
        """A new key, or the one that another worker created first for the same period."""
        key = AESGCM.generate_key(256)
        last_use = (period + 1) * self._period_s
        left_s = math.ceil(last_use + self._kept_s - time.time())
        headers = {EXPECTED_REVISION: "0", "Nats-TTL": f"{left_s}s"}
        try:
            await publish_kept(self._bus, f"$KV.{key_bucket(period % KEY_BUCKETS)}.{name}", key, headers=headers)
        except NotKept as refusal:
            found = await self._read(period % KEY_BUCKETS, name) if refusal.code in WRONG_REVISION else None
            if found is None:
                raise
            return found[1]
        return key

    async def _read(self, index: int, name: str) -> tuple[int, bytes] | None:
        bucket = key_bucket(index)
        found = await read_last(self._bus, f"KV_{bucket}", f"$KV.{bucket}.{name}", from_leader=self._from_leader)
        return (found.revision, found.value) if found else None

    async def _destroy(self, index: int, name: str) -> None:
        found = await self._read(index, name)
        if found is None:
            return
        question = msgspec.json.encode({"seq": found[0], "no_erase": False})
        subject = f"$JS.API.STREAM.MSG.DELETE.KV_{key_bucket(index)}"
        answer = await self._bus.ask(subject, question, timeout_s=ANSWER_LIMIT_S)
        if not _decode_deletion(answer.data).success and await self._read(index, name):
            raise BusError(f"{subject}: {answer.data.decode()}")


@lru_cache(maxsize=10_000)
def sealed_name(session: str) -> str:
    """The name of a session on the bus. Record names stay in the files, so they must not reveal the session."""
    return hashlib.sha256(session.encode()).hexdigest()[:NAME_LENGTH]


class SessionBucket:
    """Reads and writes states like any other bucket. A state whose key is destroyed counts as removed."""

    def __init__(self, bus: Bus, settings: Settings) -> None:
        self._shards = settings.bucket_shards
        self._bucket = Bucket(bus, SESSION_STATES, shards=self._shards, from_leader=settings.bus_replicas > 1)
        self._keys = SessionKeys(bus, settings)
        self._compress = settings.state_compression == "on"

    def shard(self, session: str) -> int:
        """The shard of the session's states."""
        return shard_index(sealed_name(session), self._shards)

    async def get(self, session: str) -> Entry | None:
        return await self.get_named(sealed_name(session))

    async def get_named(self, name: str) -> Entry | None:
        """The same by the session's name on the bus."""
        self._keys.forget(name)
        entry = await self._bucket.get(name)
        if entry is None or not entry.value:
            return entry
        opened = await self._open(name, entry.value)
        return Entry(opened.value if opened else b"", entry.revision)

    async def get_past(self, shard: int, revision: int) -> PastEntry | None:
        """What was written at a revision, as long as its key is kept."""
        found = await self._bucket.get_past(shard, revision)
        return await self._open(found.key, found.value) if found else None

    async def replace(self, session: str, value: bytes, *, revision: int) -> int:
        """Compare-and-set. Raises WrongRevision if another process has written since."""
        name = sealed_name(session)
        period, key = await self._keys.current(name)
        if self._compress:
            value = compress_state(value)
        nonce = os.urandom(NONCE_BYTES)
        sealed = key.encrypt(nonce, session.encode() + _NAME_END + value, None)
        return await self._bucket.replace(
            name, period.to_bytes(PERIOD_BYTES, "big") + nonce + sealed, revision=revision
        )

    async def remove(self, session: str) -> None:
        """End a session and destroy its keys: after the last write, so that none can follow under a new key."""
        name = sealed_name(session)
        await self._bucket.remove(name)
        await self._keys.destroy(name)

    async def destroy(self, session: str) -> None:
        """Destroy the keys of a session that has ended already."""
        await self._keys.destroy(sealed_name(session))

    def forget(self, session: str) -> None:
        """This process no longer needs the session's key."""
        self._keys.forget(sealed_name(session))

    async def _open(self, name: str, sealed: bytes) -> PastEntry | None:
        period = int.from_bytes(sealed[:PERIOD_BYTES], "big")
        key = await self._keys.find(period, name)
        if key is None:
            return None
        nonce, rest = sealed[PERIOD_BYTES : PERIOD_BYTES + NONCE_BYTES], sealed[PERIOD_BYTES + NONCE_BYTES :]
        try:
            session, _, value = key.decrypt(nonce, rest, None).partition(_NAME_END)
        except (InvalidTag, ValueError):
            return None
        plain = decompress_state(value)
        return None if plain is None else PastEntry(session.decode(), plain)
