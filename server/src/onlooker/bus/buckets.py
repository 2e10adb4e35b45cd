"""Reading and writing the key-value buckets."""

from dataclasses import dataclass

import msgspec

from onlooker.bus.connection import ANSWER_LIMIT_S, EXPECTED_REVISION, WRONG_REVISION, Bus, NotKept, publish_kept
from onlooker.bus.subjects import shard_of


@dataclass(frozen=True)
class Entry:
    """A value and the revision that a compare-and-set must name."""

    value: bytes
    revision: int


@dataclass(frozen=True)
class PastEntry:
    """A value that was once written, whether or not it is still the latest of its key."""

    key: str
    value: bytes


class WrongRevision(Exception):
    """Another process has written since the given revision."""


_DELETE = {"KV-Operation": "DEL"}


class Bucket:
    """One kind of key-value bucket, spread over shards, through the subjects that NATS documents for them."""

    def __init__(self, bus: Bus, name: str, *, shards: int) -> None:
        self._bus = bus
        self._name = name
        self._shards = shards

    def _subject(self, key: str) -> str:
        return f"$KV.{shard_of(self._name, key, self._shards)}.{key}"

    async def get(self, key: str) -> Entry | None:
        """The value, or None. A removed entry has an empty value and a revision."""
        shard = shard_of(self._name, key, self._shards)
        subject = f"$JS.API.DIRECT.GET.KV_{shard}.$KV.{shard}.{key}"
        found = await self._bus.ask(subject, timeout_s=ANSWER_LIMIT_S)
        headers = found.headers or {}
        if "Status" in headers:
            return None
        value = b"" if "KV-Operation" in headers or "Nats-Marker-Reason" in headers else found.data
        return Entry(value, int(headers["Nats-Sequence"]))

    async def get_past(self, shard: int, revision: int) -> PastEntry | None:
        """What was written at a revision, as long as the bucket keeps it."""
        if shard >= self._shards:
            return None
        bucket = f"{self._name}-{shard}"
        question = msgspec.json.encode({"seq": revision})
        found = await self._bus.ask(f"$JS.API.DIRECT.GET.KV_{bucket}", question, timeout_s=ANSWER_LIMIT_S)
        headers = found.headers or {}
        if "Status" in headers or "KV-Operation" in headers:
            return None
        return PastEntry(headers["Nats-Subject"].removeprefix(f"$KV.{bucket}."), found.data)

    async def put(self, key: str, value: bytes) -> int:
        return await self._write(key, value, None)

    async def replace(self, key: str, value: bytes, *, revision: int) -> int:
        """Compare-and-set. Raises WrongRevision if another process has written since."""
        return await self._write(key, value, {EXPECTED_REVISION: str(revision)})

    async def remove(self, key: str) -> None:
        await self._write(key, b"", _DELETE)

    async def _write(self, key: str, value: bytes, headers: dict[str, str] | None) -> int:
        try:
            return await publish_kept(self._bus, self._subject(key), value, headers=headers)
        except NotKept as refusal:
            if refusal.code in WRONG_REVISION:
                raise WrongRevision(key) from None
            raise
