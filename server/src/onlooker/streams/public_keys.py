"""The public keys that verify tokens, remembered for a while."""

import jwt

from onlooker.database import Pool, load_queries
from onlooker.streams.memory import Memory

REFETCH_EVERY_S = 1.0
"""An unknown kid may be a key made just now; strangers make up as many as they like."""

_queries = load_queries("onlooker.streams")
_ALL = "all"


class PublicKeys:
    """Found by kid; all are read at once, for there are one or two."""

    def __init__(self, pool: Pool, *, remember_s: float, stale_limit_s: float) -> None:
        self._pool = pool
        self._memory: Memory[str, dict[str, jwt.PyJWK]] = Memory(
            size=1, remember_s=remember_s, stale_limit_s=stale_limit_s
        )

    async def find(self, kid: object) -> jwt.PyJWK | None:
        """None where no live key has this kid."""
        if not isinstance(kid, str):
            return None
        keys = await self._memory.get(_ALL, self._read)
        if kid not in keys:
            keys = await self._memory.get(_ALL, self._read, remember_s=REFETCH_EVERY_S)
        return keys.get(kid)

    async def _read(self) -> dict[str, jwt.PyJWK]:
        async with self._pool.connection() as connection:
            rows = await (await connection.execute(_queries["list_public_keys"])).fetchall()
        return {row["kid"]: jwt.PyJWK(row["public_jwk"]) for row in rows}
