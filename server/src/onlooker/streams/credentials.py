"""Checking a stream's client_id and access_token, or a key in the place of that, with a cache."""

import hashlib
import hmac
import secrets
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace

from onlooker.database import Pool, load_queries
from onlooker.streams.cache import BoundedCache
from onlooker.streams.rate_limit import RateLimit, Table
from onlooker.streams.video_time import month_of

CACHE_SIZE = 50_000
STALE_LIMIT_S = 60
"""How old a cached answer may get while the database is away."""
RECHECK_S = 1.0
"""How old a cached answer may be to refuse a request: a Password may have been created since."""
ALL_STREAMS = 0
"""In the place of a stream's number: no stream has it."""
RECHECKS_PER_SECOND = 20
"""Over all streams: a device with an old Password, or somebody guessing, must not cost a query each time."""

_queries = load_queries("onlooker.streams")


@dataclass(frozen=True)
class StreamRecord:
    """What the gateway knows about a stream."""

    id: int
    kind: str
    enabled: bool
    video_s: float
    """Computed video this month, at the time of reading."""
    token_hashes: tuple[bytes, ...]
    trial_hashes: tuple[bytes, ...]
    logged_state: str | None
    """The latest state in the log; None if there is none yet."""
    reads_age: bool
    reads_gender: bool
    reads_expression: bool
    retention_days: int
    time_zone: str
    compute: str = "server"
    """Where its agent is to compute: `server` or `device`."""
    reads_faces: bool = True
    hours: str = ""
    """Opening hours; empty: always open."""
    hours_since_s: float | None = None
    """Since when they hold."""
    groups_of: int = 1
    """How many people are told about together, at least."""
    is_trial: bool = False
    """Whether it was opened with a trial token: nothing that it sends may be stored."""
    key_hashes: tuple[bytes, ...] = ()
    """Of its organisation's keys that may send for it."""
    key_numbers: tuple[int, ...] = ()
    """In the same order."""
    key_id: int | None = None
    """Which of them it was opened with."""

    def opened_with(self, given: bytes) -> "StreamRecord | None":
        """The record, if this is the hash of one of its valid tokens or keys."""
        if _is_among(given, self.token_hashes):
            return self
        if _is_among(given, self.key_hashes):
            return replace(self, key_id=self.key_numbers[self.key_hashes.index(given)])
        return replace(self, is_trial=True) if _is_among(given, self.trial_hashes) else None


def _is_among(given: bytes, hashes: tuple[bytes, ...]) -> bool:
    """All are compared, each in constant time."""
    right = [hmac.compare_digest(given, known) for known in hashes]
    return any(right)


def new_access_token() -> str:
    """256 random bits, as text."""
    return secrets.token_urlsafe(32)


def hash_access_token(access_token: str) -> bytes:
    """A fast hash is right for a random token; a slow one would only help to exhaust us."""
    return hashlib.sha256(access_token.encode()).digest()


class Credentials:
    """Checks credentials. Failures are cached too, and the cache is bounded."""

    def __init__(
        self,
        pool: Pool,
        *,
        remember_s: float,
        table: Table | None = None,
        note_key: Callable[[int], None] = lambda _: None,
    ) -> None:
        """`note_key` is told of each use of a key."""
        self._pool = pool
        self._note_key = note_key
        self._cache: BoundedCache[uuid.UUID, StreamRecord | None] = BoundedCache(
            size=CACHE_SIZE, remember_s=remember_s, stale_limit_s=STALE_LIMIT_S
        )
        self._rechecks = RateLimit(per_second=RECHECKS_PER_SECOND, burst=RECHECKS_PER_SECOND, table=table)

    async def check(self, client_id: str, access_token: str) -> StreamRecord | None:
        """The stream, if it exists and the token is one of its valid ones."""
        try:
            key = uuid.UUID(client_id)
        except ValueError:
            return None
        given = hash_access_token(access_token)
        record = await self._cache.get(key, lambda: self._read(key))
        opened = record.opened_with(given) if record else None
        if opened is None and self._cache.age_s(key) >= RECHECK_S and not self._rechecks.wait_s(ALL_STREAMS):
            record = await self._cache.get(key, lambda: self._read(key), remember_s=RECHECK_S)
            opened = record.opened_with(given) if record else None
        if opened and opened.key_id is not None:
            self._note_key(opened.key_id)
        return opened

    def forget(self, client_id: uuid.UUID) -> None:
        """One of its tokens ended before its time: none is taken any more without asking the database."""
        self._cache.drop(client_id)

    def forget_key(self, key_id: int) -> None:
        """A key ended: the streams that it reached are read again."""
        self._cache.drop_where(lambda record: record is not None and key_id in record.key_numbers)

    async def _read(self, client_id: uuid.UUID) -> StreamRecord | None:
        async with self._pool.connection() as connection:
            cursor = await connection.execute(
                _queries["find_stream"], {"client_id": client_id, "month": month_of(time.time())}
            )
            row = await cursor.fetchone()
        if row is None:
            return None
        lists = {name: tuple(row[name]) for name in ("token_hashes", "trial_hashes", "key_hashes", "key_numbers")}
        return StreamRecord(**row | lists)
