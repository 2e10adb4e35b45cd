"""How full the buckets of the bus are, and whether they lose records before their time."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import msgspec

from onlooker.bus import counters
from onlooker.bus.bucket_setup import bucket_limits
from onlooker.bus.connection import ANSWER_LIMIT_S, Bus, BusError, BusLost
from onlooker.bus.roles import info_subject
from onlooker.bus.subjects import RESULTS, SESSION_STATES, VISITS
from onlooker.logs import fields
from onlooker.settings import Settings, variable_name

log = logging.getLogger(__name__)

UNREADABLE = "the use of a bucket can't be read"
WARNED_FROM = 0.8
FULL_FROM = 0.95
"""A full bucket has room for less than one more record, and records are far smaller than the rest."""


class _StreamConfig(msgspec.Struct):
    max_bytes: int


class _StreamState(msgspec.Struct):
    messages: int
    bytes: int
    first_ts: datetime


class _Cluster(msgspec.Struct):
    leader: str = ""


class _StreamInfo(msgspec.Struct):
    config: _StreamConfig
    state: _StreamState
    ts: datetime
    """Now, by the clock that `first_ts` is of."""
    cluster: _Cluster | None = None
    """None where the bus is one server."""


_decode_info = msgspec.json.Decoder(_StreamInfo).decode


@dataclass(frozen=True)
class WatchedBucket:
    """A bucket or stream of the bus whose disk a setting limits."""

    name: str
    """As it is called in metrics and in the log."""
    stream: str
    setting: str
    kept_s: float | None = None
    """How long its records must be there; None where a full one refuses new records instead of dropping old ones."""


def watched_buckets(settings: Settings) -> Iterator[WatchedBucket]:
    limits = bucket_limits(settings)
    for kind in (SESSION_STATES, RESULTS):
        for index in range(limits[kind].shards):
            name = f"{kind}-{index}"
            yield WatchedBucket(name, f"KV_{name}", "results_disk_bytes", limits[kind].age_s)
    yield WatchedBucket("visits", VISITS, "visits_disk_bytes")


@dataclass(frozen=True)
class BucketUsage:
    """How much of a bucket's disk is used, and by how many seconds its oldest record left too early."""

    filled: float
    short_s: float
    has_leader: bool = True


def usage_of(bucket: WatchedBucket, answer: bytes) -> BucketUsage:
    """A young bucket has no old records either: they are missing only where it is full."""
    info = _decode_info(answer)
    filled, has_leader = info.state.bytes / info.config.max_bytes, info.cluster is None or bool(info.cluster.leader)
    oldest_s = (info.ts - info.state.first_ts).total_seconds()
    if bucket.kept_s is None or filled < FULL_FROM or not info.state.messages:
        return BucketUsage(filled, 0.0, has_leader)
    return BucketUsage(filled, max(0.0, bucket.kept_s - oldest_s), has_leader)


class BucketWatch:
    """Measures the buckets, and warns in the log when one fills up, once until it has room again."""

    def __init__(self, bus: Bus, settings: Settings) -> None:
        self._bus = bus
        self._buckets = list(watched_buckets(settings))
        self._warned: set[tuple[str, str]] = set()

    async def measure(self) -> dict[str, BucketUsage]:
        """By name; of those that the bus tells about, which one of an older release does not."""
        found: dict[str, BucketUsage] = {}
        for bucket in self._buckets:
            try:
                answer = await self._bus.ask(info_subject(bucket.stream), timeout_s=ANSWER_LIMIT_S)
                usage = usage_of(bucket, answer.data)
            except (BusError, msgspec.MsgspecError) as error:
                self._warn(bucket, UNREADABLE, True, error=repr(error))
                if not isinstance(error, BusLost):  # a bus that is away is another matter
                    counters.bucket_leader(bucket.name).set(0)
                continue
            self._warn(bucket, UNREADABLE, False)
            found[bucket.name] = usage
            counters.bucket_leader(bucket.name).set(usage.has_leader)
            counters.bucket_filled(bucket.name).set(usage.filled)
            counters.bucket_short(bucket.name).set(usage.short_s)
            said = {"filled": round(usage.filled, 3), "raise_setting": variable_name(bucket.setting)}
            self._warn(bucket, "a bucket fills up", usage.filled >= WARNED_FROM, **said)
            self._warn(bucket, "records vanish early", usage.short_s > 0, short_s=round(usage.short_s), **said)
        return found

    def _warn(self, bucket: WatchedBucket, sentence: str, is_so: bool, **said: object) -> None:
        key = (bucket.name, sentence)
        if not is_so:
            self._warned.discard(key)
        elif key not in self._warned:
            self._warned.add(key)
            log.warning(sentence, extra=fields(bucket=bucket.name, **said))
