"""The key-value buckets: their limits, and reading and writing them."""

from dataclasses import dataclass

from nats.aio.client import Client
from nats.js.api import DiscardPolicy, StorageType, StreamConfig
from nats.js.client import JetStreamContext
from nats.js.errors import KeyNotFoundError, NotFoundError
from nats.js.kv import KeyValue

from onlooker.bus.subjects import FEEDS, RESULTS, SESSION_RESULTS, SESSIONS, shard_of
from onlooker.settings import Settings

KEPT_AFTER_USE_S = 60
"""How much longer than its use an entry stays on disk; readers check the exact time themselves."""
STATES_DISK_BYTES = 1024**3


@dataclass(frozen=True)
class Entry:
    """A value and the revision that a compare-and-set must name."""

    value: bytes
    revision: int


class Bucket:
    """One kind of bucket, spread over its shards; never asks the server for leave to administer."""

    def __init__(self, connection: Client, name: str, *, shards: int) -> None:
        jetstream = connection.jetstream(timeout=2)
        self._shards = shards
        self._name = name
        self._stores = {
            shard: KeyValue(name=shard, stream=f"KV_{shard}", pre=f"$KV.{shard}.", js=jetstream, direct=True)
            for shard in (f"{name}-{index}" for index in range(shards))
        }

    def _store(self, key: str) -> KeyValue:
        return self._stores[shard_of(self._name, key, self._shards)]

    async def get(self, key: str) -> Entry | None:
        """The value, or None; an entry that was removed has an empty value and a revision."""
        try:
            found = await self._store(key).get(key, validate_keys=False)
        except KeyNotFoundError as error:
            if error.entry is None:
                return None
            return Entry(b"", error.entry.revision)
        return Entry(found.value or b"", found.revision or 0)

    async def put(self, key: str, value: bytes) -> int:
        return await self._store(key).put(key, value, validate_keys=False)

    async def replace(self, key: str, value: bytes, *, revision: int) -> int:
        """Compare-and-set; raises KeyWrongLastSequenceError when somebody else wrote since."""
        return await self._store(key).update(key, value, last=revision, validate_keys=False)

    async def remove(self, key: str) -> None:
        await self._store(key).purge(key)


@dataclass(frozen=True)
class BucketLimits:
    """How long entries of a kind of bucket are kept, over how many shards, in how much disk each."""

    age_s: float
    shards: int
    disk_bytes: int


def bucket_limits(settings: Settings) -> dict[str, BucketLimits]:
    shards, disk_bytes = settings.bucket_shards, settings.results_disk_bytes
    return {
        SESSIONS: BucketLimits(settings.session_idle_s, shards, STATES_DISK_BYTES),
        RESULTS: BucketLimits(settings.result_retention_s, shards, disk_bytes),
        SESSION_RESULTS: BucketLimits(settings.session_result_retention_s, shards, disk_bytes),
        FEEDS: BucketLimits(settings.feed_idle_s * 2, 1, STATES_DISK_BYTES),
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
        max_msgs_per_subject=1,
        max_age=age_s,
        max_bytes=limits.disk_bytes,
        discard=DiscardPolicy.OLD,
        storage=StorageType.FILE,
        allow_rollup_hdrs=True,
        allow_direct=True,
        deny_delete=True,
        duplicate_window=min(age_s, 120),
    )
