"""How many accepted jobs of a stream may wait: exact in one gateway, though it counts rarely."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterator

import psycopg
import pytest

from onlooker.database import Pool, load_queries, open_pool
from onlooker.errors import Problem
from onlooker.gateway.queue import backlog
from onlooker.gateway.queue.backlog import Backlog
from onlooker.settings import Settings
from recorder_process import create_stream
from testkit import migrated_database

JOBS, BYTES = 40, 100_000

_queries = load_queries("onlooker.gateway")


@pytest.fixture(scope="module")
def tables() -> Iterator[str]:
    with migrated_database() as url:
        yield url


class BusyStream:
    """A stream whose jobs are taken in by one gateway; counts how often that gateway counts."""

    def __init__(self, url: str, waiting: Backlog, pool: Pool) -> None:
        self.id = create_stream(url)
        self.counted = 0
        self._waiting = waiting
        self._pool = pool
        count = waiting._count

        async def counting(stream_id: int, size_bytes: int) -> object:
            self.counted += 1
            return await count(stream_id, size_bytes)

        waiting._count = counting  # type: ignore[method-assign, assignment]

    async def send(self, size_bytes: int = 0) -> bool:
        values = {
            "job_id": uuid.uuid4(),
            "stream_id": self.id,
            "service": "dummy",
            "version": 1,
            "session": None,
            "request_id": "",
            "params": b"",
            "attachments": [],
            "size_bytes": size_bytes,
            "time_limit_s": 60,
            "retention_s": 60,
        }
        try:
            async with self._waiting.taking_in(self.id, size_bytes), self._pool.connection() as connection:
                await connection.execute(_queries["accept_job"], values)
        except Problem:
            return False
        return True


def run(url: str, scenario: Callable[[BusyStream], Awaitable[None]]) -> None:
    async def main() -> None:
        settings = Settings(database_url=url, async_jobs_per_stream=JOBS, async_bytes_per_stream=BYTES)
        async with open_pool(settings) as pool:
            await scenario(BusyStream(url, Backlog(pool, settings), pool))

    asyncio.run(main())


def remove(url: str, stream: BusyStream, count: int) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "DELETE FROM gateway_job WHERE job_id IN (SELECT job_id FROM gateway_job WHERE stream_id = %s LIMIT %s)",
            [stream.id, count],
        )


def test_as_many_as_the_limit_one_after_the_other_and_few_counts(tables: str) -> None:
    async def scenario(stream: BusyStream) -> None:
        assert [await stream.send() for _ in range(JOBS + 5)] == [True] * JOBS + [False] * 5
        assert stream.counted <= JOBS / 2

    run(tables, scenario)


def test_as_many_as_the_limit_at_once(tables: str) -> None:
    async def scenario(stream: BusyStream) -> None:
        assert sum(await asyncio.gather(*[stream.send() for _ in range(3 * JOBS)])) <= JOBS

    run(tables, scenario)


def test_who_was_refused_is_let_in_again_when_there_is_room(tables: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(stream: BusyStream) -> None:
        assert all([await stream.send() for _ in range(JOBS)])
        assert not await stream.send()
        remove(tables, stream, 3)
        assert not await stream.send(), "a refusal holds for a while"
        monkeypatch.setattr(backlog, "COUNT_HOLDS_S", 0.0)
        await asyncio.sleep(1.1)
        assert [await stream.send() for _ in range(4)] == [True, True, True, False]

    run(tables, scenario)


def test_bytes_have_a_limit_of_their_own(tables: str) -> None:
    async def scenario(stream: BusyStream) -> None:
        assert [await stream.send(BYTES // 4) for _ in range(5)] == [True] * 4 + [False]

    run(tables, scenario)
