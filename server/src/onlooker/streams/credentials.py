"""Checking a stream's client_id and access_token, remembered for a while."""

import hashlib
import hmac
import secrets
import time
import uuid
from dataclasses import dataclass

from onlooker.database import Pool, load_queries
from onlooker.streams.memory import Memory
from onlooker.streams.video_time import month_of

CACHE_SIZE = 50_000
STALE_LIMIT_S = 60
"""How old a remembered answer may get while the database is away."""

_queries = load_queries("onlooker.streams")


@dataclass(frozen=True)
class StreamRecord:
    """What the gateway knows of a stream."""

    id: int
    kind: str
    enabled: bool
    video_s: float
    """Computed video this month, when it was read."""
    token_hashes: tuple[bytes, ...]
    logged_state: str | None
    """What the log of states says it may do; None where it says nothing yet."""
    reads_age: bool
    reads_gender: bool
    reads_expression: bool
    retention_days: int


def new_access_token() -> str:
    """256 random bits, as text."""
    return secrets.token_urlsafe(32)


def hash_access_token(access_token: str) -> bytes:
    """A fast hash is right for a random token; a slow one would only be a way to exhaust us."""
    return hashlib.sha256(access_token.encode()).digest()


class Credentials:
    """Answers whether credentials are right; failures are remembered too, and the memory is bounded."""

    def __init__(self, pool: Pool, *, remember_s: float) -> None:
        self._pool = pool
        self._memory: Memory[uuid.UUID, StreamRecord | None] = Memory(
            size=CACHE_SIZE, remember_s=remember_s, stale_limit_s=STALE_LIMIT_S
        )

    async def check(self, client_id: str, access_token: str) -> StreamRecord | None:
        """The stream, if there is one and the token is one of its live ones."""
        try:
            key = uuid.UUID(client_id)
        except ValueError:
            return None
        record = await self._memory.get(key, lambda: self._read(key))
        given = hash_access_token(access_token)
        hashes = record.token_hashes if record else ()
        right = [hmac.compare_digest(given, known) for known in hashes]
        return record if any(right) else None

    async def _read(self, client_id: uuid.UUID) -> StreamRecord | None:
        async with self._pool.connection() as connection:
            cursor = await connection.execute(
                _queries["find_stream"], {"client_id": client_id, "month": month_of(time.time())}
            )
            row = await cursor.fetchone()
        if row is None:
            return None
        return StreamRecord(**row | {"token_hashes": tuple(row["token_hashes"])})
