"""A metric's condition may be negated: nobody is lost to a NULL, read visit by visit or from the roll-up."""

import time
from datetime import UTC, datetime, timedelta
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
from onlooker.metrics.statements import compile_filling
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
    return Metric(name, name, Unit.PEOPLE, meaning, {name: figure}, lambda found: {"value": found[0]})


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
