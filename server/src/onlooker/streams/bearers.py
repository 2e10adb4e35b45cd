"""Checking a bearer's token: who signed it, whether it expired, and whether the credential behind it lives."""

import time
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import jwt
import msgspec

from onlooker.database import Pool, load_queries
from onlooker.errors import Code, Problem
from onlooker.streams.memory import Memory
from onlooker.streams.public_keys import PublicKeys

ALGORITHM = "ES256"
AUDIENCE = "onlooker-data"
"""What a token is for: reading a stream's numbers. Whose numbers, says its issuer."""
LONGEST_TOKEN = 4096
CACHE_SIZE = 50_000
STALE_LIMIT_S = 45
"""How old a remembered answer may get while the database is away: a token dies within a minute of its credential."""
CLOCKS_DIFFER_S = 5

_queries = load_queries("onlooker.streams")


class Claims(msgspec.Struct, frozen=True):
    """What a token says, as far as we need it."""

    user_id: int
    username: str
    client_id: UUID
    credential: int
    iat: float
    exp: float


@dataclass(frozen=True)
class Bearer:
    """An account that may see the numbers of a stream."""

    stream_id: int
    client_id: UUID
    time_zone: str
    user_id: int
    username: str


class Bearers:
    """Answers whether a token is good; what the database says is remembered for a while."""

    def __init__(self, pool: Pool, issuer: str, *, remember_s: float = 30) -> None:
        self._pool = pool
        self._issuer = issuer
        self._keys = PublicKeys(pool, remember_s=remember_s, stale_limit_s=STALE_LIMIT_S)
        self._memory: Memory[tuple[int, int, UUID], dict[str, Any] | None] = Memory(
            size=CACHE_SIZE, remember_s=remember_s, stale_limit_s=STALE_LIMIT_S
        )

    async def check(self, token: str) -> Bearer:
        """Raises a Problem that says what is wrong with the token."""
        claims = await self._verify(token)
        key = (claims.credential, claims.user_id, claims.client_id)
        found = await self._memory.get(key, lambda: self._find(claims))
        if found is None or claims.iat + CLOCKS_DIFFER_S < found["since"]:  # a membership that was given anew
            raise _invalid("What this token was got with has ended. Ask for a new token with the credentials of now.")
        return Bearer(
            stream_id=found["stream_id"],
            client_id=claims.client_id,
            time_zone=found["time_zone"],
            user_id=claims.user_id,
            username=claims.username,
        )

    async def _verify(self, token: str) -> Claims:
        """Nothing of a token is believed before its signature was verified, but which key to verify it with."""
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
            if read.exp <= time.time():  # other clocks are allowed for at its beginning only
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
        detail = "Send `Authorization: Bearer <token>`. The console's token endpoint gives tokens."
        raise Problem(Code.MISSING_TOKEN, detail, headers={"WWW-Authenticate": "Bearer"})
    return token.strip()


def _malformed() -> Problem:
    """One and the same whatever is wrong with it: who made it up need not know how far it got."""
    return _invalid("This is no valid token of this server. Ask for a new one.")


def _invalid(detail: str) -> Problem:
    return _refusal(Code.INVALID_JWT, detail)


def _refusal(code: Code, detail: str) -> Problem:
    return Problem(code, detail, headers={"WWW-Authenticate": 'Bearer error="invalid_token"'})
