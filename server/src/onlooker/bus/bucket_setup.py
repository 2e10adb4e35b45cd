"""Creating the buckets on the bus, and what they may hold.

The keys of sessions are spread over buckets that are written in turn, so that expired keys leave the files.
"""

import logging
import re
from dataclasses import dataclass

from nats.js.api import DiscardPolicy, StorageType, StreamConfig
from nats.js.client import JetStreamContext

from onlooker.bus.subjects import FEEDS, RESULTS, SESSION_KEYS, SESSION_STATES
from onlooker.logs import fields
from onlooker.settings import Settings

log = logging.getLogger(__name__)

PERIODS_KEPT = 15
"""How many periods a record stays readable; its key is destroyed one period later."""
KEY_BUCKETS = PERIODS_KEPT + 3
"""They are written in turn. JetStream removes a block file once all records in it have expired. A bucket that gets no
new ones for 16 periods reaches that point a period before its next turn."""
SHORTEST_PERIOD_S = 1.0
"""JetStream counts a record's time to live in whole seconds."""
KEY_BUCKET_BYTES = 16 * 1024**2
KEPT_AFTER_USE_S = 60
"""How long an entry can be found beyond its use. Readers check the exact time themselves."""
FEEDS_DISK_BYTES = 64 * 1024**2

_OUR_BUCKETS = re.compile(rf"KV_({SESSION_STATES}|{SESSION_KEYS}|{RESULTS}|{FEEDS}|sessions)-[0-9]+")
"""`sessions`: the name from before states were sealed."""


def kept_s(settings: Settings) -> float:
    """How long a session's records are readable: the state while the session lives, results for their retention."""
    return max(settings.session_idle_s, settings.session_result_retention_s)


def period_s(settings: Settings) -> float:
    return max(kept_s(settings) / PERIODS_KEPT, SHORTEST_PERIOD_S)


def key_bucket(index: int) -> str:
    return f"{SESSION_KEYS}-{index}"


def key_bucket_config(index: int, settings: Settings) -> StreamConfig:
    """Records expire by their own time to live; `max_age` is for one that was written without."""
    bucket = key_bucket(index)
    return StreamConfig(
        name=f"KV_{bucket}",
        subjects=[f"$KV.{bucket}.*"],
        max_age=kept_s(settings) + 2 * period_s(settings),
        max_bytes=KEY_BUCKET_BYTES,
        discard=DiscardPolicy.NEW,  # full: new sessions are refused, and no other session loses its key
        storage=StorageType.FILE,
        allow_direct=True,
        allow_msg_ttl=True,
        duplicate_window=1,
    )


@dataclass(frozen=True)
class BucketLimits:
    """How long a kind of bucket keeps its entries, over how many shards, and how much disk each may use."""

    age_s: float
    shards: int
    disk_bytes: int
    keeps_past: bool = False
    """Whether older values of a key stay too, until they expire."""


def bucket_limits(settings: Settings) -> dict[str, BucketLimits]:
    shards, disk_bytes = settings.bucket_shards, settings.results_disk_bytes
    return {
        SESSION_STATES: BucketLimits(kept_s(settings), shards, disk_bytes, keeps_past=True),
        RESULTS: BucketLimits(settings.result_retention_s, shards, disk_bytes),
        FEEDS: BucketLimits(settings.feed_idle_s * 2, 1, FEEDS_DISK_BYTES),
    }


def disk_needed(settings: Settings) -> int:
    """Disk that all buckets together may use."""
    entries = sum(limits.shards * limits.disk_bytes for limits in bucket_limits(settings).values())
    return entries + KEY_BUCKETS * KEY_BUCKET_BYTES


async def prepare_buckets(jetstream: JetStreamContext, settings: Settings) -> None:
    """Create every bucket or update its limits to the settings; remove our buckets that are no longer used."""
    wanted = {str(config.name): config for config in bucket_configs(settings)}
    found = {str(info.config.name): info.config for info in await jetstream.streams_info()}
    for name, config in list(found.items()):
        if is_our_bucket(name) and (name not in wanted or _has_other_periods(config, wanted[name])):
            await jetstream.delete_stream(name)
            del found[name]
    for name, config in wanted.items():
        await (jetstream.update_stream if name in found else jetstream.add_stream)(
            with_replicas(config, settings, found.get(name))
        )


def with_replicas(config: StreamConfig, settings: Settings, found: StreamConfig | None) -> StreamConfig:
    """By the settings, and never fewer than there are: somebody may have raised them by hand."""
    there = (found.num_replicas if found else None) or 1
    if there > settings.bus_replicas:
        said = fields(stream=config.name, replicas=there, setting=settings.bus_replicas)
        log.warning("replicas stay as they are: lower them with the nats command, or raise the setting", extra=said)
    return config.evolve(num_replicas=max(there, settings.bus_replicas))


def _has_other_periods(found: StreamConfig, wanted: StreamConfig) -> bool:
    """Whether a bucket may hold keys from other settings, which would expire too early for these."""
    return bool(wanted.allow_msg_ttl) and found.max_age != wanted.max_age


def is_our_bucket(stream: str) -> bool:
    return bool(_OUR_BUCKETS.fullmatch(stream))


def bucket_configs(settings: Settings) -> list[StreamConfig]:
    """Every bucket that there should be, without its replicas."""
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
