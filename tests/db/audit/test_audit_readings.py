"""Readings through the data endpoint are in the audit log: all of them, in few entries."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onlooker.audit.readings import LoggedRange, ReadingKind, ReadingLog
from onlooker.database import open_pool
from onlooker.settings import Settings
from readers import Question

pytest_plugins = ["endpoint"]

BEGAN = datetime(2026, 3, 2, 9, 20, tzinfo=UTC)
MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59), timezones=st.just(UTC))
MOST_ENTRIES = 26
"""A unit of an hour, doubled until it is longer than all time."""


def readings_of(question: Question) -> list[tuple[str, dict[str, Any]]]:
    query = """SELECT actor, detail FROM audit_entry WHERE stream_id = %s AND action = 'numbers.read' ORDER BY number"""
    rows = question.reader.archive.execute(query, question.stream.stream_id)
    return [(actor, json.loads(detail)) for actor, detail in rows]


@settings(max_examples=200, deadline=None)
@given(ranges=st.lists(st.tuples(MOMENTS, MOMENTS), min_size=1, max_size=80))
def test_any_ranges_are_covered_by_few_entries(ranges: list[tuple[datetime, datetime]]) -> None:
    logged = LoggedRange()
    for one, other in ranges:
        from_at, to_at = min(one, other), max(one, other)
        if not logged.covers(from_at, to_at):
            logged.from_at, logged.to_at = logged.widened(from_at, to_at)
            logged.entries += 1
        assert logged.covers(from_at, to_at)
    assert logged.entries <= MOST_ENTRIES


def test_a_range_that_creeps_outwards_takes_few_entries() -> None:
    logged = LoggedRange()
    for minutes in range(0, 600_000, 7):
        ends = BEGAN + timedelta(minutes=minutes)
        if not logged.covers(BEGAN, ends):
            logged.from_at, logged.to_at = logged.widened(BEGAN, ends)
            logged.entries += 1
    assert logged.entries <= 15


def test_a_reading_is_logged_with_its_token_and_range(question: Question) -> None:
    question.body()
    ((actor, told),) = readings_of(question)
    assert actor == f"account:{question.stream.owner_id}"
    assert told == {
        "kind": "page",
        "password": question.stream.credential,
        "from": "2026-03-02T00:00:00.000000Z",
        "to": "2026-03-03T00:00:00.000000Z",
    }


def test_the_same_again_and_parts_of_it_add_nothing(question: Question) -> None:
    for minute in range(0, 60, 5):
        question.body(from_date=f"2026-03-02T10:{minute:02}:00Z")
        question.body()
    assert len(readings_of(question)) == 2, "the first is shorter than the others"


def test_ways_of_reading_are_told_apart(question: Question) -> None:
    question.body(compare="previous")
    assert question.ask("/api/1/entities.csv").status_code == 200
    told = [detail for _, detail in readings_of(question)]
    assert [one["kind"] for one in told] == ["page", "comparison", "table"]
    assert told[1]["to"] == "2026-02-24T00:00:00.000000Z", "the same day a week before"


def test_ten_thousand_questions_leave_few_entries(question: Question) -> None:
    """Adaptive ones, too: each further entry is rounded twice as coarsely."""

    async def ask() -> None:
        kind = ReadingKind(question.stream.stream_id, "account:1", 1, "page")
        async with open_pool(Settings(database_url=question.reader.archive.database_url)) as pool:
            log = ReadingLog(pool)
            for number in range(10_000):
                begins = BEGAN - timedelta(minutes=number * 37 % 525_600)
                await log.note(kind, begins, BEGAN + timedelta(minutes=number), now=BEGAN)

    asyncio.run(ask())
    assert 1 <= len(readings_of(question)) <= 20


def test_the_next_hour_is_logged_again(question: Question) -> None:
    async def ask() -> None:
        kind = ReadingKind(question.stream.stream_id, "account:1", 1, "page")
        async with open_pool(Settings(database_url=question.reader.archive.database_url)) as pool:
            log = ReadingLog(pool)
            for minutes in (0, 39, 40, 99, 100):  # an hour begins 40 minutes after
                await log.note(kind, BEGAN, BEGAN + timedelta(hours=1), now=BEGAN + timedelta(minutes=minutes))

    asyncio.run(ask())
    assert len(readings_of(question)) == 3


def test_readers_at_the_same_time_leave_one_entry(question: Question) -> None:
    parameters = {"metrics": "passing_by", "from_date": "2026-03-02T00:00:00Z", "to_date": "2026-03-03T00:00:00Z"}
    answers = question.reader.many(20, params=parameters, headers=question.reader.bearing(question.stream))
    assert {answer.status_code for answer in answers} == {200}
    assert len(readings_of(question)) == 1


def test_what_can_not_be_logged_is_not_answered(question: Question) -> None:
    """The log is part of the answer: nobody reads while it can't be written."""
    question.body()
    archive = question.reader.archive
    archive.execute("ALTER TABLE audit_entry RENAME TO audit_entry_away")
    try:
        assert question.ask().status_code == 200, "logged before"
        assert question.ask(from_date="2025-03-02T00:00:00Z").status_code >= 500
    finally:
        archive.execute("ALTER TABLE audit_entry_away RENAME TO audit_entry")
    assert question.ask(from_date="2025-03-02T00:00:00Z").status_code == 200


def test_a_refused_request_reads_nothing(question: Question) -> None:
    assert question.ask(metrics="nonsense").status_code == 400
    assert question.reader.request("GET", headers={"Authorization": "Bearer x"}).status_code == 401
    assert readings_of(question) == []


def test_an_entry_holds_nothing_of_the_token(question: Question) -> None:
    question.body()
    token = question.reader.archive.token(question.stream)
    with psycopg.connect(question.reader.archive.database_url) as connection:
        rows = connection.execute("SELECT detail FROM audit_entry WHERE action = 'numbers.read'").fetchall()
    assert rows
    assert not any(part in detail for (detail,) in rows for part in token.split("."))


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_any_method_counts(question: Question, method: str) -> None:
    parameters = {"metrics": "passing_by", "from_date": "2026-03-02T00:00:00Z"}
    headers = question.reader.bearing(question.stream)
    assert question.reader.request(method, params=parameters, headers=headers).status_code == 200
    assert len(readings_of(question)) == 1
