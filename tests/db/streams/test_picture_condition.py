"""Whether a camera sees now: written at changes, with since when, over gaps, sessions and several gateways."""

import asyncio
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from onlooker.bus.messages import Outcome, Reply, Task
from onlooker.database import Pool, open_pool
from onlooker.gateway.meters import StreamMeters
from onlooker.settings import Settings
from onlooker.streams.condition import CONFIRMED_EVERY_S, FRESH_S, SIGHT_S, PictureConditions
from onlooker_pipeline.catalogue import read_catalogue
from onlooker_pipeline.service_call import Sender
from recorder_process import create_stream
from testkit import migrated_database

SCENE = read_catalogue("")["scene_analysis"][1]


@pytest.fixture(scope="module")
def tables() -> Iterator[str]:
    with migrated_database() as url:
        yield url


class Written:
    """One stream's row."""

    def __init__(self, url: str, pool: Pool, began: float) -> None:
        self.stream_id = create_stream(url)
        self._url = url
        self._pool = pool
        self._began = began

    async def write(self, fault: str, seconds: float, *, by: PictureConditions | None = None) -> None:
        """As a gateway does that wrote nothing before; the row is as old as its frames."""
        writer = by or PictureConditions(self._pool)
        assert not await writer.write({self.stream_id: (fault, self._began + seconds)})
        self._ask("UPDATE streams_picturecondition SET seen_at = to_timestamp(%s) WHERE stream_id = %s", seconds)

    def read(self) -> tuple[str, float, float | None]:
        """Fault, since when, and blind since when, in seconds after the beginning."""
        [(fault, since_at, blind_since_at)] = self._ask(
            "SELECT fault, since_at, blind_since_at FROM streams_picturecondition "
            "WHERE to_timestamp(%s) IS NOT NULL AND stream_id = %s",
            0,
        )
        return fault, self._seconds(since_at), blind_since_at and self._seconds(blind_since_at)

    def _seconds(self, at: datetime) -> float:
        return round(at.timestamp() - self._began, 3)

    def _ask(self, query: str, seconds: float) -> list[Any]:
        with psycopg.connect(self._url, autocommit=True) as connection:
            cursor = connection.execute(query.encode(), (self._began + seconds, self.stream_id))
            return cursor.fetchall() if cursor.description else []


def play(url: str, *steps: tuple[str, float]) -> list[tuple[str, float, float | None]]:
    """What is written after each step: a fault, and the second at which frames began to have it."""

    async def run() -> list[tuple[str, float, float | None]]:
        async with open_pool(Settings(database_url=url)) as pool:
            row, found = Written(url, pool, time.time() - 5000), []
            for fault, seconds in steps:
                await row.write(fault, seconds)
                found.append(row.read())
            return found

    return asyncio.run(run())


def test_since_when_is_the_first_frame_that_shows_it(tables: str) -> None:
    assert play(tables, ("", 0), ("", 30), ("covered", 60), ("covered", 90), ("", 200)) == [
        ("", 0, None),
        ("", 0, None),
        ("covered", 60, 60),
        ("covered", 60, 60),
        ("", 200, 60),
    ]


def test_one_fault_after_another_is_one_blind_time(tables: str) -> None:
    assert play(tables, ("dark", 0), ("covered", 60), ("dark", 90))[-1] == ("dark", 90, 0)


def test_a_few_seconds_of_sight_do_not_end_a_blind_time(tables: str) -> None:
    """As at the beginning of each session, until its faults have settled."""
    assert play(tables, ("black", 0), ("", 60), ("black", 70))[-1] == ("black", 70, 0)
    assert play(tables, ("black", 0), ("", 60), ("", 100), ("black", 61 + SIGHT_S))[-1] == (
        "black",
        61 + SIGHT_S,
        61 + SIGHT_S,
    )


def test_after_a_gap_everything_begins_again(tables: str) -> None:
    late = 10 + FRESH_S
    assert play(tables, ("", 0), ("", late + 1)) == [("", 0, None), ("", late + 1, None)]
    assert play(tables, ("black", 0), ("black", late + 1))[-1] == ("black", late + 1, late + 1)


def test_a_gateway_that_is_late_changes_nothing(tables: str) -> None:
    assert play(tables, ("covered", 0), ("", 50), ("covered", 49))[-1] == ("", 50, 0)


def test_it_is_written_at_changes_and_from_time_to_time(tables: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> list[bool]:
        async with open_pool(Settings(database_url=tables)) as pool:
            writer, stream_id, now = PictureConditions(pool), create_stream(tables), time.time()
            wrote = []
            for fault, seconds in (("", 0.0), ("", 2.0), ("dark", 4.0), ("dark", 6.0), ("dark", 5 + CONFIRMED_EVERY_S)):
                monkeypatch.setattr(time, "time", lambda at=now + seconds: at)
                before = seen(tables, stream_id)
                await writer.write({stream_id: (fault, now + seconds)})
                wrote.append(seen(tables, stream_id) != before)
            return wrote

    assert asyncio.run(run()) == [True, False, True, False, True]


def seen(url: str, stream_id: int) -> list[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        query = "SELECT seen_at FROM streams_picturecondition WHERE stream_id = %s"
        return connection.execute(query, (stream_id,)).fetchall()


def test_what_a_database_that_is_away_did_not_take_is_given_back() -> None:
    async def run() -> dict[int, tuple[str, float]]:
        pool = open_pool(Settings(database_url="postgresql://nobody@127.0.0.1:1/none"))
        await pool.open(wait=False)
        try:
            return await PictureConditions(pool).write({1: ("dark", 5.0)})
        finally:
            await pool.close()

    assert asyncio.run(run()) == {1: ("dark", 5.0)}


def reply_of(blind: str, at: float) -> tuple[Task, Reply]:
    task = Task("a", "scene_analysis", 1, {"store": True}, {}, "s", at + 30, "a", at, at, Sender())
    return task, Reply(Outcome.DONE, video_s=0.5, frame_at=at, blind=blind)


@pytest.mark.parametrize(
    ("blinds", "age_s", "expected"),
    [
        (["", "covered"], 0.0, ["covered"]),
        (["covered", "moved"], 0.0, [""]),
        (["covered"], 290.0, ["covered"]),
        (["covered"], 310.0, []),
    ],
)
def test_only_frames_of_now_say_how_it_is_now(
    tables: str, blinds: list[str], age_s: float, expected: list[str]
) -> None:
    async def run() -> int:
        stream_id = create_stream(tables)
        async with open_pool(Settings(database_url=tables)) as pool:
            meters = StreamMeters(pool, Settings(database_url=tables))
            for blind in blinds:
                meters.count_reply(stream_id, SCENE, *reply_of(blind, time.time() - age_s))
            await meters.flush()
        return stream_id

    stream_id = asyncio.run(run())
    with psycopg.connect(tables, autocommit=True) as connection:
        query = "SELECT fault, since_at FROM streams_picturecondition WHERE stream_id = %s"
        rows = connection.execute(query, (stream_id,)).fetchall()
    assert [fault for fault, _ in rows] == expected
    assert all(abs((datetime.now(UTC) - since_at).total_seconds()) < 20 for _, since_at in rows)
