"""The key-value buckets: their limits, and reading and writing them."""

from dataclasses import dataclass

import msgspec
from nats.js.api import DiscardPolicy, StorageType, StreamConfig
from nats.js.client import JetStreamContext
from nats.js.errors import NotFoundError

from onlooker.bus.connection import Bus
from onlooker.bus.publishing import ANSWER_LIMIT_S, NotKept, publish_kept
from onlooker.bus.subjects import FEEDS, RESULTS, SESSIONS, shard_of
from onlooker.settings import Settings

KEPT_AFTER_USE_S = 60
"""How much longer than its use an entry stays on disk; readers check the exact time themselves."""
FEEDS_DISK_BYTES = 64 * 1024**2


@dataclass(frozen=True)
class Entry:
    """A value and the revision that a compare-and-set must name."""

    value: bytes
    revision: int


@dataclass(frozen=True)
class PastEntry:
    """A value that was written once, whether or not it is still the newest of its key."""

    key: str
    value: bytes


class WrongRevision(Exception):
    """Somebody else wrote since the revision that was named."""


_WRONG_REVISION = (10071, 10164)
_EXPECTED = "Nats-Expected-Last-Subject-Sequence"
_DELETE = {"KV-Operation": "DEL"}


class Bucket:
    """One kind of key-value bucket, spread over its shards, by the subjects that NATS documents for them."""

    def __init__(self, bus: Bus, name: str, *, shards: int) -> None:
        self._bus = bus
        self._name = name
        self._shards = shards

    def _subject(self, key: str) -> str:
        return f"$KV.{shard_of(self._name, key, self._shards)}.{key}"

    async def get(self, key: str) -> Entry | None:
        """The value, or None; an entry that was removed has an empty value and a revision."""
        shard = shard_of(self._name, key, self._shards)
        subject = f"$JS.API.DIRECT.GET.KV_{shard}.$KV.{shard}.{key}"
        found = await self._bus.ask(subject, timeout_s=ANSWER_LIMIT_S)
        headers = found.headers or {}
        if "Status" in headers:
            return None
        value = b"" if "KV-Operation" in headers or "Nats-Marker-Reason" in headers else found.data
        return Entry(value, int(headers["Nats-Sequence"]))

    async def get_past(self, shard: int, revision: int) -> PastEntry | None:
        """What was written at a revision, for as long as the bucket keeps it."""
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
        """Compare-and-set; raises WrongRevision when somebody else wrote since."""
        return await self._write(key, value, {_EXPECTED: str(revision)})

    async def remove(self, key: str) -> None:
        await self._write(key, b"", _DELETE)

    async def _write(self, key: str, value: bytes, headers: dict[str, str] | None) -> int:
        try:
            return await publish_kept(self._bus, self._subject(key), value, headers=headers)
        except NotKept as refusal:
            if refusal.code in _WRONG_REVISION:
                raise WrongRevision(key) from None
            raise


@dataclass(frozen=True)
class BucketLimits:
    """How long entries of a kind of bucket are kept, over how many shards, in how much disk each."""

    age_s: float
    shards: int
    disk_bytes: int
    keeps_past: bool = False
    """Whether older values of a key stay too, until they are too old."""


def bucket_limits(settings: Settings) -> dict[str, BucketLimits]:
    shards, disk_bytes = settings.bucket_shards, settings.results_disk_bytes
    return {
        SESSIONS: BucketLimits(
            max(settings.session_idle_s, settings.session_result_retention_s), shards, disk_bytes, keeps_past=True
        ),
        RESULTS: BucketLimits(settings.result_retention_s, shards, disk_bytes),
        FEEDS: BucketLimits(settings.feed_idle_s * 2, 1, FEEDS_DISK_BYTES),
    }


def disk_needed(settings: Settings) -> int:
    """What all buckets may fill together."""
    return sum(limits.shards * limits.disk_bytes for limits in bucket_limits(settings).values())


async def prepare_buckets(jetstream: JetStreamContext, settings: Settings) -> None:
    """Make every bucket, or bring its limits to what the settings say."""
    for name, limits in bucket_limits(settings).items():
        for index in range(limits.shards):
            config = _bucket_config(f"{name}-{index}", limits)
            try:
                await jetstream.stream_info(f"KV_{name}-{index}")
            except NotFoundError:
                await jetstream.add_stream(config)
            else:
                await jetstream.update_stream(config)


def _bucket_config(bucket: str, limits: BucketLimits) -> StreamConfig:
    age_s = limits.age_s + KEPT_AFTER_USE_S
    return StreamConfig(
        name=f"KV_{bucket}",
        subjects=[f"$KV.{bucket}.>"],
        max_msgs_per_subject=-1 if limits.keeps_past else 1,
        max_age=age_s,
        max_bytes=limits.disk_bytes,
        discard=DiscardPolicy.OLD,
        storage=StorageType.FILE,
        allow_direct=True,
        deny_delete=True,
        duplicate_window=min(age_s, 120),
    )
