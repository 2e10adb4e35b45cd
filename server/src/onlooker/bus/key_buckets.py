"""The buckets that hold the keys of sessions: written in turn, so that expired keys leave the files."""

from nats.js.api import DiscardPolicy, StorageType, StreamConfig

from onlooker.bus.subjects import SESSION_KEYS
from onlooker.settings import Settings

PERIODS_KEPT = 15
"""Periods that a record stays readable for; its key is destroyed one period later."""
KEY_BUCKETS = PERIODS_KEPT + 3
"""They are written in turn. JetStream removes a block file once all records in it have expired, and a bucket that takes
no new ones for 16 periods gets there: a period before its next turn."""
SHORTEST_PERIOD_S = 1.0
"""JetStream counts a record's time to live in whole seconds."""
KEY_BUCKET_BYTES = 16 * 1024**2


def kept_s(settings: Settings) -> float:
    """How long a session's records are readable: the state while the session lives, results for their retention."""
    return max(settings.session_idle_s, settings.session_result_retention_s)


def period_s(settings: Settings) -> float:
    return max(kept_s(settings) / PERIODS_KEPT, SHORTEST_PERIOD_S)


def key_bucket(index: int) -> str:
    return f"{SESSION_KEYS}-{index}"


def key_bucket_config(index: int, settings: Settings) -> StreamConfig:
    """Records go by their own time to live; `max_age` is for one that was written without."""
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
