"""What bounds a reader: the length of a query, its rate, its time, how many at a time; and a database that is away."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from psycopg_pool import AsyncConnectionPool

from onlooker.data import context
from onlooker.data.context import ConcurrentQueries
from onlooker.errors import Problem
from readers import PATH, Archive, Question, Reader
from recorder_process import database_away, eventually
from testkit import migrated_database
from wire import assert_problem

pytest_plugins = ["endpoint"]

ASKED = {"metrics": "passing_by", "from_date": "2026-03-02T00:00:00Z", "to_date": "2026-03-03T00:00:00Z"}
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
Make = Callable[..., Reader]


@pytest.fixture
def make_reader(runner: asyncio.Runner, archive: Archive) -> Iterator[Make]:
    """Readers with settings of their own."""
    made: list[Reader] = []

    def make(**settings: Any) -> Reader:
        made.append(Reader(runner, archive, **settings))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_a_query_string_may_have_8_kib(question: Question) -> None:
    length = len("&".join(f"{name}={value}" for name, value in ASKED.items())) + 40
    assert question.ask(padding="x" * (8192 - length)).status_code == 200
    assert "8192" in assert_problem(question.ask(padding="x" * 8192), 400, "bad_request")["detail"]


def test_a_stream_that_asks_too_fast_is_told_to_wait_and_others_are_not(make_reader: Make) -> None:
    reader = make_reader(data_rate_limit_per_second=0.5, data_rate_limit_burst=3)
    fast, slow = (Question(reader, reader.archive.create_stream()) for _ in range(2))
    assert [fast.ask().status_code for _ in range(3)] == [200] * 3
    refused = fast.ask()
    assert_problem(refused, 429, "rate_limited")
    assert 1 <= int(refused.headers["Retry-After"]) <= 2
    assert slow.ask().status_code == 200


def test_by_default_a_stream_asks_20_times_a_second_and_60_at_once(make_reader: Make) -> None:
    reader = make_reader(data_rate_limit_per_second=20, data_rate_limit_burst=60)
    stream = reader.archive.create_stream()
    answers = reader.many(70, params={}, headers=reader.bearing(stream))
    assert 60 <= [answer.status_code for answer in answers].count(400) < 70
    assert {answer.status_code for answer in answers} == {400, 429}


def test_a_query_that_takes_too_long_is_ended_in_the_database_too(make_reader: Make) -> None:
    reader = make_reader(data_time_limit_s=0.3)
    question = Question(reader, reader.archive.create_stream())
    with reader.archive.held_up():
        answer = question.ask()
        waiting = (
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        assert reader.archive.execute(waiting) == [(0,)]
    assert "0.3 seconds" in assert_problem(answer, 503, "overloaded")["detail"]
    assert int(answer.headers["Retry-After"]) >= 1
    assert question.ask().status_code == 200


def test_who_waits_too_long_for_a_place_is_refused(make_reader: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "WAIT_LIMIT_S", 0.2)
    reader = make_reader(data_time_limit_s=1, data_requests_limit=4)
    stream = reader.archive.create_stream()
    with reader.archive.held_up():
        answers = reader.many(3, params=ASKED, headers=reader.bearing(stream))
    details = sorted(assert_problem(answer, 503, "overloaded")["detail"] for answer in answers)
    assert ["are running" in detail for detail in details].count(True) == 2
    assert all(answer.headers["Retry-After"] for answer in answers)


def test_one_stream_has_at_most_half_of_the_places() -> None:
    async def run() -> None:
        taken = ConcurrentQueries(4)
        inside: list[int] = []

        async def query(stream_id: int) -> None:
            async with taken.take(stream_id):
                inside.append(stream_id)
                await asyncio.sleep(0.2)

        async with asyncio.TaskGroup() as group:
            for stream_id in (1, 1, 1, 1, 2):
                group.create_task(query(stream_id))
            await asyncio.sleep(0.1)
            assert sorted(inside) == [1, 1, 2]
        assert sorted(inside) == [1, 1, 1, 1, 2]

    asyncio.run(run())


def test_a_place_is_given_back_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "WAIT_LIMIT_S", 0.05)

    async def fail(taken: ConcurrentQueries) -> None:
        async with taken.take(1):
            with pytest.raises(Problem):
                await taken.take(2).__aenter__()
            raise ZeroDivisionError

    async def run() -> None:
        taken = ConcurrentQueries(1)
        with pytest.raises(ZeroDivisionError):
            await fail(taken)
        async with taken.take(2):
            assert list(taken._queues) == [2]
        assert taken._queues == {}

    asyncio.run(run())


class ImpatientPool(AsyncConnectionPool[Any]):
    """Waits for a moment only until there is a connection."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options | {"timeout": 0.2, "reconnect_timeout": 0.2})


@pytest.fixture
def impatient_pools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onlooker.database.AsyncConnectionPool", ImpatientPool)


@pytest.mark.usefixtures("impatient_pools")
def test_while_the_database_is_away_readers_are_told_to_come_back(runner: asyncio.Runner) -> None:
    with migrated_database() as url:
        reader = Reader(runner, Archive(url))
        question = Question(reader, reader.archive.create_stream())
        assert question.ask().status_code == 200
        with database_away(url):
            answer = question.ask()
        assert_problem(answer, 503, "overloaded")
        assert int(answer.headers["Retry-After"]) >= 1
        eventually(lambda: question.ask().status_code == 200, within_s=60)
        reader.close()


@pytest.mark.usefixtures("impatient_pools")
def test_with_no_database_from_the_start_a_token_is_not_called_wrong(make_reader: Make, archive: Archive) -> None:
    stream = archive.create_stream()
    reader = make_reader(database_url="postgresql://127.0.0.1:9/nothing")
    answer = reader.request("GET", params=ASKED, headers=reader.bearing(stream))
    assert_problem(answer, 503, "overloaded")
    assert reader.request("GET", "/livez").json() == {"live": True}
    ready = reader.request("GET", "/readyz")
    assert (ready.status_code, ready.json()) == (503, {"ready": False, "checks": {"database": False, "clock": True}})
    assert reader.request("GET", PATH).status_code == 401
