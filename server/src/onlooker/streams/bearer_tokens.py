"""Checking a bearer token: who signed it, whether it expired, and whether its credential is still valid."""

import time
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import jwt
import msgspec

from onlooker.database import Pool, load_queries
from onlooker.errors import Code, Problem
from onlooker.streams.cache import BoundedCache

ALGORITHM = "ES256"
AUDIENCE = "onlooker-data"
"""What a token is for: reading a stream's numbers."""
LONGEST_TOKEN = 4096
CACHE_SIZE = 50_000
STALE_LIMIT_S = 45
"""How old a cached answer may get while the database is away: a token ends within a minute of its credential."""
CLOCKS_DIFFER_S = 5
REFETCH_EVERY_S = 1.0
"""An unknown kid may be a new key, but strangers can make up as many as they like."""

_queries = load_queries("onlooker.streams")
_ALL = "all"


class Claims(msgspec.Struct, frozen=True):
    """The claims of a token that we use."""

    user_id: int
    username: str
    client_id: UUID
    credential: int
    iat: float
    exp: float


@dataclass(frozen=True)
class Bearer:
    """Who may see the numbers of a stream: an account with a token, or a program with a key."""

    stream_id: int
    client_id: UUID
    time_zone: str
    grid: bool
    """Whether ranges are rounded to slots."""
    actor: str
    """As the audit log names it."""
    user_id: int | None = None
    username: str = ""
    credential: int | None = None
    """The number of the access token that the token was issued for; None with a key."""
    key_id: int | None = None


class PublicKeys:
    """The public keys by kid. There are one or two, so all are read at once."""

    def __init__(self, pool: Pool, *, remember_s: float, stale_limit_s: float) -> None:
        self._pool = pool
        self._cache: BoundedCache[str, dict[str, jwt.PyJWK]] = BoundedCache(
            size=1, remember_s=remember_s, stale_limit_s=stale_limit_s
        )

    async def find(self, kid: object) -> jwt.PyJWK | None:
        """None if no live key has this kid."""
        if not isinstance(kid, str):
            return None
        keys = await self._cache.get(_ALL, self._read)
        if kid not in keys:
            keys = await self._cache.get(_ALL, self._read, remember_s=REFETCH_EVERY_S)
        return keys.get(kid)

    async def _read(self) -> dict[str, jwt.PyJWK]:
        async with self._pool.connection() as connection:
            rows = await (await connection.execute(_queries["list_public_keys"])).fetchall()
        return {row["kid"]: jwt.PyJWK(row["public_jwk"]) for row in rows}


class BearerTokens:
    """Checks tokens. What the database says of their credentials is cached."""

    def __init__(self, pool: Pool, issuer: str, *, remember_s: float = 30) -> None:
        self._pool = pool
        self._issuer = issuer
        self._keys = PublicKeys(pool, remember_s=remember_s, stale_limit_s=STALE_LIMIT_S)
        self._cache: BoundedCache[tuple[int, int, UUID], dict[str, Any] | None] = BoundedCache(
            size=CACHE_SIZE, remember_s=remember_s, stale_limit_s=STALE_LIMIT_S
        )

    async def check(self, token: str) -> Bearer:
        """Raises a Problem that says what is wrong with the token."""
        claims = await self._verify(token)
        key = (claims.credential, claims.user_id, claims.client_id)
        found = await self._cache.get(key, lambda: self._find(claims))
        if found is None or claims.iat + CLOCKS_DIFFER_S < found["since"]:  # the membership was granted again
            raise _invalid("What this token was got with has ended. Ask for a new token with the credentials of now.")
        return Bearer(
            stream_id=found["stream_id"],
            client_id=claims.client_id,
            time_zone=found["time_zone"],
            grid=found["grid"],
            actor=f"account:{claims.user_id}",
            user_id=claims.user_id,
            username=claims.username,
            credential=claims.credential,
        )

    async def _verify(self, token: str) -> Claims:
        """Nothing in a token is trusted before its signature is verified, except which key to verify it with."""
        if len(token) > LONGEST_TOKEN or not token.isascii():
            raise _malformed()
        try:
            key = await self._keys.find(jwt.get_unverified_header(token).get("kid", ""))
            if key is None:
                raise _invalid("No key of this server signed this token. Ask for a new one.")
            claims = jwt.decode(
                token,
                key,
                algorithms=[ALGORITHM],
                issuer=self._issuer,
                audience=AUDIENCE,
                leeway=CLOCKS_DIFFER_S,
                options={"require": ["exp", "iat", "iss", "aud"]},
            )
            read = msgspec.convert(claims, Claims)
            if read.exp <= time.time():  # clock skew is allowed for at its beginning only
                raise jwt.ExpiredSignatureError
            return read
        except jwt.ExpiredSignatureError:
            raise _refusal(Code.EXPIRED_JWT, "The token has expired. Ask for a new one.") from None
        except (jwt.InvalidTokenError, msgspec.ValidationError, RecursionError):
            raise _malformed() from None

    async def _find(self, claims: Claims) -> dict[str, Any] | None:
        values = {"user_id": claims.user_id, "credential": claims.credential, "client_id": claims.client_id}
        async with self._pool.connection() as connection:
            return await (await connection.execute(_queries["find_bearer"], values)).fetchone()


def read_token(header: str | None) -> str:
    """The token of an Authorization header."""
    scheme, _, token = (header or "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        detail = (
            "Send `Authorization: Bearer <token>`. The console's token endpoint gives tokens; a key with scope "
            "`numbers` may stand in the place of one."
        )
        raise Problem(Code.MISSING_TOKEN, detail, headers={"WWW-Authenticate": "Bearer"})
    return token.strip()


def _malformed() -> Problem:
    """The same text whatever is wrong: somebody forging tokens learns nothing from it."""
    return _invalid("This is no valid token of this server. Ask for a new one.")


def _invalid(detail: str) -> Problem:
    return _refusal(Code.INVALID_JWT, detail)


def _refusal(code: Code, detail: str) -> Problem:
    return Problem(code, detail, headers={"WWW-Authenticate": 'Bearer error="invalid_token"'})
