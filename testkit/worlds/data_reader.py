"""Reading a stream's numbers through the data endpoint's own app, in this process: real tokens, real PostgreSQL."""

import asyncio
import csv
import io
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import jwt
import msgspec
from cryptography.hazmat.primitives.asymmetric import ec
from starlette.types import ASGIApp, Message

from onlooker.data.app import build_app
from onlooker.data.context import open_context
from onlooker.database import Pool
from onlooker.settings import Settings
from onlooker.streams.bearer_tokens import ALGORITHM, AUDIENCE

PATH = "/api/1/entities"
TABLE_PATH = f"{PATH}.csv"
OWNER = "owner@worlds.example"
PAGES_AT_MOST = 20
SETTINGS: dict[str, Any] = {
    "data_rate_limit_per_second": 1e9,
    "data_rate_limit_burst": 10**9,
    "database_pool_size": 4,
    "data_time_limit_s": 120,
}

_MAKE_STREAMS = """
WITH owner AS (
    INSERT INTO accounts_account (password, is_superuser, email, is_staff, is_active, created_at)
    VALUES ('!', false, %(owner)s, false, true, now())
    ON CONFLICT (email) DO UPDATE SET email = excluded.email RETURNING id),
made AS (
    INSERT INTO streams_stream (owner_id, name, client_id, kind, enabled, created_at, retention_days, time_zone,
                                reads_expression)
    SELECT owner.id, 'world', gen_random_uuid(), 'enterprise', true, 'epoch', %(retention_days)s, zone, true
    FROM owner, unnest(%(zones)s::text[]) WITH ORDINALITY AS zones (zone, place) ORDER BY place
    RETURNING id, client_id, time_zone, owner_id),
credential AS (
    INSERT INTO streams_accesstoken (stream_id, sha256, created_at)
    SELECT id, sha256(client_id::text::bytea), now() FROM made RETURNING id, stream_id)
SELECT made.*, credential.id AS credential FROM made JOIN credential ON stream_id = made.id ORDER BY made.id"""
_REMOVALS = tuple(
    f"DELETE FROM {table} WHERE {column} = ANY(%s)".encode()  # noqa: S608 (names of ours)
    for table, column in (
        ("devices_device", "stream_id"),
        ("devices_enrolmentcode", "stream_id"),
        ("keys_keystream", "stream_id"),
        ("streams_note", "stream_id"),
        ("streams_accesstoken", "stream_id"),
        ("streams_coverage", "stream_id"),
        ("streams_refusal", "stream_id"),
        ("streams_blindness", "stream_id"),
        ("streams_picturecondition", "stream_id"),
        ("streams_agentcondition", "stream_id"),
        ("streams_quality", "stream_id"),
        ("streams_devicecoverage", "stream_id"),
        ("streams_openinghours", "stream_id"),
        ("streams_statechange", "stream_id"),
        ("notices_noticeversion", "stream_id"),
        ("visits_erased", "stream_id"),
        ("streams_stream", "id"),
    )
)
_KEEP_KEY = "INSERT INTO tokens_signingkey (kid, public_jwk, sealed_private_pem) VALUES (%s, %s, '')"


class Refused(AssertionError):
    """The app did not answer with numbers."""


@dataclass(frozen=True)
class WorldStream:
    """A stream of a world, and a token for its numbers."""

    id: int
    zone: str
    token: str


@dataclass(frozen=True)
class DataReader:
    """Creates streams and reads their numbers."""

    settings: Settings
    pool: Pool
    app: ASGIApp
    kid: str
    key: ec.EllipticCurvePrivateKey

    async def make_streams(self, zones: Sequence[str], *, retention_days: int = 3650) -> list[WorldStream]:
        values = {"owner": OWNER, "retention_days": retention_days, "zones": list(zones)}
        async with self.pool.connection() as connection:
            rows = await (await connection.execute(_MAKE_STREAMS, values)).fetchall()
        assert [row["time_zone"] for row in rows] == list(zones)
        return [WorldStream(row["id"], row["time_zone"], self._sign(row)) for row in rows]

    def _sign(self, row: dict[str, Any]) -> str:
        now = int(time.time())
        claims = {
            "iss": self.settings.console_url,
            "aud": AUDIENCE,
            "username": OWNER,
            "user_id": row["owner_id"],
            "client_id": str(row["client_id"]),
            "credential": row["credential"],
            "iat": now,
            "exp": now + 3600,
        }
        return jwt.encode(claims, self.key, algorithm=ALGORITHM, headers={"kid": self.kid})

    async def walk(self, stream: WorldStream, parameters: dict[str, str]) -> list[dict[str, Any]]:
        """The bodies of all pages, one after another, as `next_page` says."""
        bodies = [await self.get(stream, urlencode(parameters))]
        while url := bodies[-1]["next_page"]:
            start = f"{self.settings.data_url}{PATH}?"
            if not url.startswith(start) or len(bodies) > PAGES_AT_MOST:
                raise Refused(f"next_page is wrong: {url}")
            bodies.append(await self.get(stream, url.removeprefix(start)))
        return bodies

    async def get(self, stream: WorldStream, query: str) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.json.decode(await self._read(stream, PATH, query))
        return found

    async def read_table(self, stream: WorldStream, parameters: dict[str, str]) -> dict[str, dict[str, Any]]:
        """The buckets of the same numbers as a table, in the form that a page has."""
        text = (await self._read(stream, TABLE_PATH, urlencode(parameters))).decode()
        metrics = parameters["metrics"].split(",")
        return {row["bucket"]: bucket_of(row, metrics) for row in csv.DictReader(io.StringIO(text))}

    async def _read(self, stream: WorldStream, path: str, query: str) -> bytes:
        status, body = await self._call(path, query, stream.token)
        if status != 200:
            raise Refused(f"{status} {body.decode(errors='replace')} to {path}?{query}")
        return body

    async def _call(self, path: str, query: str, token: str) -> tuple[int, bytes]:
        """A request as a server hands it to an app."""
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "https",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [(b"authorization", f"Bearer {token}".encode())],
            "client": ("127.0.0.1", 1),
            "server": ("localhost", 443),
        }
        sent: list[Message] = []
        requests: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> Message:
            if not requests:
                await asyncio.Event().wait()  # the client stays: an app that waits for its end is cancelled
            return requests.pop()

        async def send(message: Message) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


def bucket_of(row: dict[str, str], metrics: Sequence[str]) -> dict[str, dict[str, Any]]:
    """A row of a table as a bucket: `gender_female` is the part `female` of `gender`, `interested` is a value."""
    bucket: dict[str, dict[str, Any]] = {metric: {} for metric in metrics}
    for column, cell in row.items():
        metric = max((one for one in metrics if f"{column}_".startswith(f"{one}_")), key=len, default=None)
        if metric:
            bucket[metric][column.removeprefix(metric).removeprefix("_") or "value"] = _number_of(cell)
    return bucket


def _number_of(cell: str) -> float | str | None:
    try:
        return int(cell) if cell.isdecimal() else float(cell)
    except ValueError:
        return cell or None


async def change_stream(pool: Pool, stream_id: int, **columns: object) -> None:
    """What an owner sets; the database does what that means."""
    settings = ", ".join(f"{column} = %s" for column in columns)
    async with pool.connection() as connection:
        statement = f"UPDATE streams_stream SET {settings} WHERE id = %s".encode()  # noqa: S608 (names of ours)
        await connection.execute(statement, (*columns.values(), stream_id))


async def remove_streams(pool: Pool, ids: Sequence[int]) -> None:
    """With everything of theirs: some passes go through every stream there is."""
    async with pool.connection() as connection:
        for statement in _REMOVALS:
            await connection.execute(statement, (ids,))


@asynccontextmanager
async def open_reader(database_url: str) -> AsyncIterator[DataReader]:
    """On a migrated database."""
    settings = Settings(database_url=database_url, **SETTINGS)
    key = ec.generate_private_key(ec.SECP256R1())
    kid = uuid.uuid4().hex
    public = jwt.algorithms.ECAlgorithm.to_jwk(key.public_key())
    async with open_context(settings) as parts:
        async with parts.pool.connection() as connection:
            await connection.execute(_KEEP_KEY, (kid, public))
        yield DataReader(settings, parts.pool, build_app(parts), kid, key)
