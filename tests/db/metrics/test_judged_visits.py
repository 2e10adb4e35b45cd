"""A metric's condition may be negated, and nobody is lost to a NULL; both ways to measure a visit measure the same."""

import time
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest

from onlooker.database import Pool
from onlooker.metrics import rollup, statements
from onlooker.metrics.definitions import ALL_FIGURES, METRICS, Metric, Unit
from onlooker.metrics.execution import run_query
from onlooker.metrics.query import Query
from onlooker.metrics.rollup import fill_slots
from onlooker.metrics.statements import clip_to_range, compile_filling, judge_visits, measure_by_ends
from onlooker.visits.partitions import Partitions
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.visits.visit import Interval, Visit
from recorder_process import create_stream, visit, with_pool

pytest_plugins = ["migrated"]

NOON_MS = int(time.time() * 1000) // 86_400_000 * 86_400_000 - 43_200_000
"""Of yesterday."""
KNOWN: dict[str, Any] = {
    "age": 40.0,
    "age_confidence": 0.8,
    "gender": "female",
    "gender_confidence": 0.9,
    "expression": (0.0, 1.0, 0.0, 0.0, 0.0),
}
UNKNOWN: dict[str, Any] = {"age": None, "gender": None, "gender_confidence": 0.0, "expression": None}

CONDITIONS = {
    "NOT interested": 3,
    "passing_by AND NOT interested": 3,
    "NOT passing_by": 0,
    "NOT still_for > interval '2 s'": 1,
    "NOT looking_for > interval '2 s'": 2,
    "NOT known_gender = 'female'": 3,
    "NOT known_emotion = 'happiness'": 3,
    "NOT band = 4": 3,
}
"""And for how many of these four people it holds."""


def four_people(stream_id: int) -> list[Visit]:
    """Only the last one is interested, and known. The first neither stops nor looks, the second does not look."""
    stay, pause = [(NOON_MS, NOON_MS + 5000)], [(NOON_MS, NOON_MS + 2500)]
    given: list[tuple[list[Interval], list[Interval], dict[str, Any]]] = [
        ([], [], UNKNOWN),
        (stay, [], UNKNOWN),
        (pause, stay, UNKNOWN),
        (stay, stay, KNOWN),
    ]
    return [
        visit(stream_id, began_ms=NOON_MS, revision=5, still=still, looking=looking, **person)
        for still, looking, person in given
    ]


def counting(name: str, condition: str) -> Metric:
    figure = f"count(*) FILTER (WHERE {condition})"
    meaning = "People for whom a condition holds."
    return Metric(name, name, Unit.PEOPLE, meaning, {name: figure}, {"value": "{0}"})


@pytest.mark.parametrize(("condition", "expected"), CONDITIONS.items())
def test_a_negated_condition_counts_people_of_whom_nothing_is_known(
    url: str, monkeypatch: pytest.MonkeyPatch, condition: str, expected: int
) -> None:
    name = f"negated_{list(CONDITIONS).index(condition)}"
    metric = counting(name, condition)
    monkeypatch.setitem(METRICS, name, metric)
    monkeypatch.setattr(statements, "ALL_FIGURES", ALL_FIGURES | metric.figures)
    monkeypatch.setattr(rollup, "FILL", compile_filling())
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"ALTER TABLE metrics_slot ADD COLUMN {name} integer NOT NULL DEFAULT 0")
    stream_id = create_stream(url)
    noon = datetime.fromtimestamp(NOON_MS / 1000, UTC)
    query = Query(stream_id, (name,), noon, noon + timedelta(hours=1), ZoneInfo("UTC"))
    counted = []

    async def act(pool: Pool) -> None:
        await VisitWriter(pool, Partitions(pool)).write(four_people(stream_id))
        counted.append((await run_query(pool, query)).entities["global"][name]["value"])
        assert await fill_slots(pool, due_s=0) == 1
        counted.append((await run_query(pool, query)).entities["global"][name]["value"])

    with_pool(url, act)
    assert counted == [expected, expected]


def test_a_metric_is_of_interested_people_unless_somebody_else_counts_in_it() -> None:
    others = [name for name, metric in METRICS.items() if not metric.is_of_interested]
    assert others == ["passing_by", "stopped"]
    for condition in CONDITIONS:
        assert not counting("some", condition).is_of_interested


def draw_intervals(random: Random, most: int) -> list[Interval]:
    """Up to so many, in order and apart, of a hundred seconds from noon on."""
    ends = sorted(random.sample(range(0, 100_000, 500), 2 * random.randrange(most + 1)))
    return [(NOON_MS + begin, NOON_MS + end) for begin, end in zip(ends[::2], ends[1::2], strict=True)]


def test_the_ends_of_intervals_measure_what_their_parts_do(url: str) -> None:
    """Of visits with none, one and several intervals, cut to any range."""
    random, stream_id = Random(20261119), create_stream(url)
    visits = [
        visit(
            stream_id,
            began_ms=NOON_MS,
            revision=5,
            present=draw_intervals(random, 3) or [(NOON_MS, NOON_MS + 1000)],
            still=draw_intervals(random, 3),
            looking=draw_intervals(random, 2),
        )
        for _ in range(300)
    ]

    async def act(pool: Pool) -> None:
        await VisitWriter(pool, Partitions(pool)).write(visits)

    with_pool(url, act)
    columns = "id, begins_at, present_for, still_for, longest_stop, looking_for, passing_by, stopped, interested"
    with psycopg.connect(url) as connection:
        for _ in range(20):
            ends = sorted(NOON_MS / 1000 + random.randrange(-20, 240) / 2 for _ in range(2))
            values = dict(zip(("from_at", "to_at"), (f"to_timestamp({end})" for end in ends), strict=True))
            visits_in_sql = f"SELECT false AS grouped, * FROM visits_visit WHERE stream_id = {stream_id}"
            ways = {"clip": clip_to_range(values)}, {"measured": measure_by_ends(values)}
            more = ", present_for, longest_stop"
            by_parts, by_ends = (
                connection.execute(
                    f"SELECT {columns} FROM ({judge_visits(visits_in_sql, **way, more=more)}) one ORDER BY id".encode()
                ).fetchall()
                for way in ways
            )
            assert by_ends == by_parts
