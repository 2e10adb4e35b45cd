"""The bucket of session states: each is sealed, because JetStream leaves expired records in its files for long."""

import hashlib
import os
from functools import lru_cache

from cryptography.exceptions import InvalidTag

from onlooker.bus.buckets import Bucket, Entry, PastEntry
from onlooker.bus.connection import Bus
from onlooker.bus.session_keys import SessionKeys
from onlooker.bus.subjects import SESSION_STATES, shard_index
from onlooker.settings import Settings

PERIOD_BYTES, NONCE_BYTES = 4, 12
_NAME_END = b"\n"


@lru_cache(maxsize=10_000)
def sealed_name(session: str) -> str:
    """What a session is called on the bus: record names stay in the files, so they must not tell which session."""
    return hashlib.sha256(session.encode()).hexdigest()[:32]


class SessionBucket:
    """Reads and writes states like any other bucket; one whose key has been destroyed counts as removed."""

    def __init__(self, bus: Bus, settings: Settings) -> None:
        self._shards = settings.bucket_shards
        self._bucket = Bucket(bus, SESSION_STATES, shards=self._shards)
        self._keys = SessionKeys(bus, settings)

    def shard(self, session: str) -> int:
        """Where the session's states are."""
        return shard_index(sealed_name(session), self._shards)

    async def get(self, session: str) -> Entry | None:
        name = sealed_name(session)
        self._keys.forget(name)
        entry = await self._bucket.get(name)
        if entry is None or not entry.value:
            return entry
        opened = await self._open(name, entry.value)
        return Entry(opened.value if opened else b"", entry.revision)

    async def get_past(self, shard: int, revision: int) -> PastEntry | None:
        """What was written at a revision, for as long as its key is kept."""
        found = await self._bucket.get_past(shard, revision)
        return await self._open(found.key, found.value) if found else None

    async def replace(self, session: str, value: bytes, *, revision: int) -> int:
        """Compare-and-set; raises WrongRevision when somebody else wrote since."""
        name = sealed_name(session)
        period, key = await self._keys.current(name)
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
        """This process has no more use for the session's key."""
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
        return PastEntry(session.decode(), value)
