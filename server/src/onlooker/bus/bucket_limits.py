"""What the buckets on the bus may hold, and making them so."""

import re
from dataclasses import dataclass

from nats.js.api import DiscardPolicy, StorageType, StreamConfig
from nats.js.client import JetStreamContext

from onlooker.bus.key_buckets import KEY_BUCKET_BYTES, KEY_BUCKETS, kept_s, key_bucket_config
from onlooker.bus.subjects import FEEDS, RESULTS, SESSION_KEYS, SESSION_STATES
from onlooker.settings import Settings

KEPT_AFTER_USE_S = 60
"""How much longer than its use an entry can be found; readers check the exact time themselves."""
FEEDS_DISK_BYTES = 64 * 1024**2

_OUR_BUCKETS = re.compile(rf"KV_({SESSION_STATES}|{SESSION_KEYS}|{RESULTS}|{FEEDS}|sessions)-[0-9]+")
"""`sessions`: states as they were kept before they were sealed."""


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
        SESSION_STATES: BucketLimits(kept_s(settings), shards, disk_bytes, keeps_past=True),
        RESULTS: BucketLimits(settings.result_retention_s, shards, disk_bytes),
        FEEDS: BucketLimits(settings.feed_idle_s * 2, 1, FEEDS_DISK_BYTES),
    }


def disk_needed(settings: Settings) -> int:
    """What all buckets may fill together."""
    entries = sum(limits.shards * limits.disk_bytes for limits in bucket_limits(settings).values())
    return entries + KEY_BUCKETS * KEY_BUCKET_BYTES


async def prepare_buckets(jetstream: JetStreamContext, settings: Settings) -> None:
    """Make every bucket, or bring its limits to what the settings say; remove those of ours that have no use left."""
    wanted = {str(config.name): config for config in _bucket_configs(settings)}
    found = {str(info.config.name): info.config for info in await jetstream.streams_info()}
    for name, config in list(found.items()):
        if _OUR_BUCKETS.fullmatch(name) and (name not in wanted or _has_other_periods(config, wanted[name])):
            await jetstream.delete_stream(name)
            del found[name]
    for name, config in wanted.items():
        await (jetstream.update_stream if name in found else jetstream.add_stream)(config)


def _has_other_periods(found: StreamConfig, wanted: StreamConfig) -> bool:
    """Whether a bucket may hold keys that were made for other times, and end too early for these."""
    return bool(wanted.allow_msg_ttl) and found.max_age != wanted.max_age


def _bucket_configs(settings: Settings) -> list[StreamConfig]:
    entries = [
        _bucket_config(f"{name}-{index}", limits)
        for name, limits in bucket_limits(settings).items()
        for index in range(limits.shards)
    ]
    return [*entries, *(key_bucket_config(index, settings) for index in range(KEY_BUCKETS))]


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
