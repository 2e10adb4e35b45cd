"""The names of subjects and buckets, in one place."""

from zlib import crc32

COMPUTE = "compute"
"""Name of the workers in the NATS services API, and first word of their subjects."""


def worker_subject(pool: str, instance: str, service: str, version: int) -> str:
    """Where one running worker takes the jobs of one service version. Workers of a pool share a user of the bus."""
    return f"{COMPUTE}.{pool}.{instance}.{service}.{version}"


def ping_subject(instance: str) -> str:
    return f"$SRV.PING.{COMPUTE}.{instance}"


INFO_SUBJECT = f"$SRV.INFO.{COMPUTE}"


def feed_subject(feed_id: str) -> str:
    """Where the holder of a feed's output takes its results."""
    return f"feed.{feed_id}"


VISITS = "VISITS"
"""Name of the JetStream stream in which visits wait for a recorder."""


def visits_subject(stream_id: int | str) -> str:
    """Where a worker publishes the visits of a stream; `*` stands for every stream."""
    return f"visits.{stream_id}"


def ended_subject(stream_id: int | str) -> str:
    """Where a gateway publishes the last state of a session that its client ended; `*` stands for every stream."""
    return f"ended.{stream_id}"


SESSION_STATES = "session-states"
SESSION_KEYS = "session-keys"
RESULTS = "results"
FEEDS = "feeds"


def shard_index(key: str, shards: int) -> int:
    """The number of the shard that holds a key."""
    return crc32(key.encode()) % shards


def shard_of(bucket: str, key: str, shards: int) -> str:
    return f"{bucket}-{shard_index(key, shards)}"
