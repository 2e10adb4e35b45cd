"""Who reads numbers in tests: streams with tokens, visits written as a recorder does, and an app to ask."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import httpx2
import jwt
import msgspec
import psycopg
from cryptography.hazmat.primitives.asymmetric import ec

from onlooker.data.app import build_app
from onlooker.data.context import DataContext, open_context
from onlooker.database import open_pool
from onlooker.metrics.block_release import release_blocks
from onlooker.metrics.rollup import fill_slots
from onlooker.metrics.week_release import release_weeks
from onlooker.settings import Settings
from onlooker.visits.partitions import Partitions
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.visits.visit import Visit
from recorder_process import visit

CONSOLE_URL = "https://console.example.org"
DATA_URL = "https://data.example.org"
PATH = "/api/1/entities"
KID = "a key of the tests"
UNBOUNDED = {"data_rate_limit_per_second": 1e6, "data_rate_limit_burst": 10**6}


@dataclass(frozen=True)
class Watched:
    """A stream, its owner, and the credential that tokens are got with."""

    stream_id: int
    client_id: UUID
    owner_id: int
    credential: int


class Archive:
    """A migrated database and the key that signs for it."""

    def __init__(self, database_url: str) -> None:
        self.database_url = database_url
        self._private = ec.generate_private_key(ec.SECP256R1())
        public = jwt.algorithms.ECAlgorithm.to_jwk(self._private.public_key())
        self.execute(
            "INSERT INTO tokens_signingkey (kid, public_jwk, sealed_private_pem) VALUES (%s, %s, '')", KID, public
        )

    def execute(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            cursor = connection.execute(query, values)
            return cursor.fetchall() if cursor.description else []

    def create_stream(self, *, time_zone: str = "UTC") -> Watched:
        row = self.execute(
            """WITH owner AS (INSERT INTO accounts_account
                                     (password, is_superuser, email, is_staff, is_active, created_at)
                              VALUES ('!', false, gen_random_uuid()::text || '@example.org', false, true, now())
                              RETURNING id),
                    made AS (INSERT INTO streams_stream (owner_id, name, client_id, kind, enabled, created_at,
                                                         retention_days, time_zone)
                             SELECT id, 'test', gen_random_uuid(), 'enterprise', true, now(), 3650, %s FROM owner
                             RETURNING id, client_id, owner_id),
                    token AS (INSERT INTO streams_accesstoken (stream_id, sha256, created_at)
                              SELECT id, '', now() FROM made RETURNING id)
               SELECT made.id, made.client_id, made.owner_id, token.id FROM made, token""",
            time_zone,
        )[0]
        return Watched(*row)

    def token(self, stream: Watched, **changes: Any) -> str:
        """As the console signs them."""
        now = int(time.time())
        claims = {
            "iss": CONSOLE_URL,
            "aud": "onlooker-data",
            "username": "owner@example.org",
            "user_id": stream.owner_id,
            "client_id": str(stream.client_id),
            "credential": stream.credential,
            "iat": now,
            "exp": now + 18_000,
        }
        return jwt.encode(claims | changes, self._private, algorithm="ES256", headers={"kid": KID})

    def write(self, *visits: Visit) -> None:
        async def run() -> None:
            async with open_pool(Settings(database_url=self.database_url)) as pool:
                assert await VisitWriter(pool, Partitions(pool)).write(visits) == []

        asyncio.run(run())

    @contextmanager
    def held_up(self) -> Iterator[None]:
        """Readers of the roll-up wait until the block ends."""
        with psycopg.connect(self.database_url) as connection:
            connection.execute("LOCK TABLE metrics_slot IN ACCESS EXCLUSIVE MODE")
            yield

    def fill(self) -> None:
        """As a recorder does it from time to time."""

        async def run() -> None:
            async with open_pool(Settings(database_url=self.database_url)) as pool:
                while await fill_slots(pool, due_s=0):
                    pass

        asyncio.run(run())

    def release_weeks(self) -> None:
        """Those that are over, with their blocks."""

        async def run() -> None:
            async with open_pool(Settings(database_url=self.database_url)) as pool:
                await release_blocks(pool)
                assert await release_weeks(pool)

        asyncio.run(run())


def seen(stream: Watched, at: str, *, still_s: float = 0, look_s: float = 0, **changes: Any) -> Visit:
    """Somebody came at a moment, was there for 20 seconds, and in them stood still and looked for so long."""
    start = int(datetime.fromisoformat(at).timestamp() * 1000)
    intervals = {"still": still_s, "looking": look_s}
    ends = {name: [(start, start + int(seconds * 1000))] if seconds else [] for name, seconds in intervals.items()}
    one = visit(stream.stream_id, began_ms=start, present=[(start, start + 20_000)])
    return msgspec.structs.replace(one, **(ends | changes))


class Reader:
    """Asks the app in this process, as a client would over HTTP."""

    def __init__(self, runner: asyncio.Runner, archive: Archive, **settings: Any) -> None:
        own = {"database_url": archive.database_url, "console_url": CONSOLE_URL, "data_url": DATA_URL}
        values: dict[str, Any] = own | {"database_pool_size": 4} | UNBOUNDED | settings
        self._runner = runner
        self._stack = AsyncExitStack()
        self.archive = archive
        self.parts = runner.run(self._open(Settings(**values)))

    async def _open(self, settings: Settings) -> DataContext:
        parts = await self._stack.enter_async_context(open_context(settings))
        transport = httpx2.ASGITransport(app=build_app(parts), raise_app_exceptions=False)
        client = httpx2.AsyncClient(transport=transport, base_url="http://elsewhere.example.org", timeout=30)
        self.client = await self._stack.enter_async_context(client)
        return parts

    def close(self) -> None:
        self._runner.run(self._stack.aclose())

    def request(self, method: str, path: str = PATH, **options: Any) -> httpx2.Response:
        return self._runner.run(self.client.request(method, path, **options))

    def many(self, count: int, **options: Any) -> list[httpx2.Response]:
        """The same request so many times at once."""

        async def run() -> list[httpx2.Response]:
            return list(await asyncio.gather(*(self.client.get(PATH, **options) for _ in range(count))))

        return self._runner.run(run())

    def ask(self, stream: Watched, path: str = PATH, /, **parameters: Any) -> httpx2.Response:
        """With a good token."""
        return self.request("GET", path, params=parameters, headers=self.bearing(stream))

    def bearing(self, stream: Watched) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.archive.token(stream)}"}


@dataclass(frozen=True)
class Question:
    """A stream and a reader of it."""

    reader: Reader
    stream: Watched

    def ask(self, path: str = PATH, **parameters: Any) -> httpx2.Response:
        asked = {"metrics": "passing_by", "from_date": "2026-03-02T00:00:00Z", "to_date": "2026-03-03T00:00:00Z"}
        kept = {name: value for name, value in (asked | parameters).items() if value is not None}
        return self.reader.ask(self.stream, path, **kept)

    def body(self, **parameters: Any) -> dict[str, Any]:
        answer = self.ask(**parameters)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def write(self, *visits: Visit) -> None:
        self.reader.archive.write(*visits)
