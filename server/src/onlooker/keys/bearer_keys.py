"""Checking a key that a program shows to read numbers: whether it is valid, may do that, and reaches the stream."""

from typing import Any
from uuid import UUID

from onlooker.database import Pool, load_queries
from onlooker.errors import Code, Problem, bad_request
from onlooker.keys.key_text import PREFIX, hash_key, is_key
from onlooker.keys.key_uses import KeyUses
from onlooker.streams.bearer_tokens import STALE_LIMIT_S, Bearer
from onlooker.streams.cache import BoundedCache

CACHE_SIZE = 50_000
HEADERS = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
SCOPE_HEADERS = {"WWW-Authenticate": 'Bearer error="insufficient_scope", scope="numbers"'}
NAME_STREAM = "A key may reach several streams. Name one: stream=<client_id>, its Login."

_queries = load_queries("onlooker.keys")


def shows_key(token: str) -> bool:
    """Whether what stands in the place of a token is meant to be a key; no JWT begins like one."""
    return token.startswith(PREFIX)


class BearerKeys:
    """Checks keys. What the database says of them is cached for as long as of tokens: a key ends within a minute."""

    def __init__(self, pool: Pool, uses: KeyUses, *, remember_s: float = 30) -> None:
        self._pool = pool
        self._uses = uses
        self._cache: BoundedCache[tuple[bytes, UUID | None], dict[str, Any] | None] = BoundedCache(
            size=CACHE_SIZE, remember_s=remember_s, stale_limit_s=STALE_LIMIT_S
        )

    async def check(self, text: str, stream: str | None) -> Bearer:
        """For the stream with this client_id. Raises a Problem that says what is wrong."""
        client_id = _read_client_id(stream)
        found = await self._find(text, client_id)
        if found is None:
            detail = "This key is unknown, was revoked or has expired. Create another one in the console, under Keys."
            raise Problem(Code.INVALID_KEY, detail, headers=HEADERS)
        self._uses.note(found["key_id"])
        if not found["reads_numbers"]:
            detail = "This key has no scope `numbers`. Create one that has it."
            raise Problem(Code.MISSING_SCOPE, detail, headers=SCOPE_HEADERS)
        if client_id is None:
            raise bad_request(
                NAME_STREAM if not stream else f"`stream` is not the client_id of a stream. {NAME_STREAM}"
            )
        if found["stream_id"] is None:
            detail = "This key reaches no stream with this client_id. Its sites and streams are listed under Keys."
            raise Problem(Code.NOT_FOUND, detail)
        return Bearer(
            stream_id=found["stream_id"],
            client_id=client_id,
            time_zone=found["time_zone"],
            grid=found["grid"],
            actor=f"key:{found['key_id']}",
            key_id=found["key_id"],
        )

    async def _find(self, text: str, client_id: UUID | None) -> dict[str, Any] | None:
        if not is_key(text):
            return None
        sha256 = hash_key(text)
        return await self._cache.get((sha256, client_id), lambda: self._read(sha256, client_id))

    async def _read(self, sha256: bytes, client_id: UUID | None) -> dict[str, Any] | None:
        async with self._pool.connection() as connection:
            values = {"sha256": sha256, "client_id": client_id}
            return await (await connection.execute(_queries["find_key_bearer"], values)).fetchone()


def _read_client_id(text: str | None) -> UUID | None:
    try:
        return UUID(text or "")
    except ValueError:
        return None
