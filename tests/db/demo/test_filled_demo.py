"""A database that is filled for the demo: numbers and gaps as the product itself would have written them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest

from onlooker.database import Pool
from onlooker.demo import PLACES, DemoStream, fill_demo, history
from onlooker.demo.days import find_gaps
from onlooker.metrics.buckets import page_buckets
from onlooker.metrics.coverage import Absence, BucketCoverage, read_coverage
from onlooker.metrics.execution import Answer, run_query
from onlooker.metrics.query import Query, Time
from recorder_process import with_pool

pytest_plugins = ["migrated"]

DAYS = 30
QUIET = [replace(place, people_a_day=40) for place in PLACES]
OWNER = "somebody@example.org"


def read(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(query).fetchall()


def ask(url: str, stream: DemoStream, now: datetime) -> tuple[Answer, tuple[BucketCoverage, ...]]:
    """Its numbers and its coverage over all the days."""
    query = Query(
        stream.id,
        ("passing_by", "interested"),
        now - timedelta(days=DAYS),
        now,
        ZoneInfo(stream.place.zone),
        Time.BY_HOUR,
    )
    found: list[Any] = []

    async def act(pool: Pool) -> None:
        buckets = page_buckets(query, first=0, count=DAYS * 24)
        found.append(await run_query(pool, query, size=DAYS * 24 + 1))
        found.append(await read_coverage(pool, query, buckets, now=now))

    with_pool(url, act)
    return found[0], found[1]


def test_every_reason_of_a_gap_is_seen_and_nothing_waits_to_be_filled(url: str) -> None:
    now = datetime.now(UTC)
    streams = fill_demo(url, days=DAYS, places=QUIET, now=now, owner=OWNER)
    missing: dict[Absence, float] = {}
    for stream in streams:
        answer, coverage = ask(url, stream, now)
        assert sum(int(one["passing_by"]["value"] or 0) for one in answer.entities.values()) > 200
        for one in coverage:
            for absence, seconds in one.missing.items():
                missing[absence] = missing.get(absence, 0.0) + seconds
    gaps = [gap for place in QUIET for gap in find_gaps(place, now=now)]
    for why in (Absence.OFFLINE, Absence.REFUSED, Absence.DISABLED, Absence.QUOTA):
        length = sum((gap.to_at - gap.from_at for gap in gaps if gap.why is why), timedelta())
        assert missing[why] == pytest.approx(length.total_seconds(), abs=60)
    assert read(url, "SELECT count(*) FROM visits_mark") == [(0,)]


def test_filling_again_goes_on_where_it_ended(url: str) -> None:
    now = datetime.now(UTC)
    [before] = fill_demo(url, days=3, places=PLACES[:1], now=now - timedelta(days=1), owner="again@example.org")
    [after] = fill_demo(url, days=3, places=PLACES[:1], now=now, owner="again@example.org")
    assert (after.id, after.access_token) == (before.id, "")
    assert before.access_token
    counts = (
        "SELECT count(*), count(*) FILTER (WHERE began_at > now() - interval '1 day') "
        f"FROM visits_visit WHERE stream_id = {after.id}"
    )
    [(everybody, lately)] = read(url, counts)
    assert everybody > lately > 0
    fill_demo(url, days=3, places=PLACES[:1], now=now, owner="again@example.org")
    assert read(url, counts)[0][0] == everybody
    [(most_s,)] = read(url, f"SELECT max(video_s) FROM streams_coverage WHERE stream_id = {after.id}")
    assert most_s == pytest.approx(900)


def test_who_stops_it_in_the_middle_loses_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now, wanted = datetime.now(UTC), {"days": 10, "places": QUIET[:1], "owner": "hasty@example.org"}

    async def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(history, "write_coverage", stop)
        with pytest.raises(KeyboardInterrupt):
            fill_demo(url, now=now, **wanted)
    [stream] = fill_demo(url, now=now, **wanted)
    [(seen, people)] = read(url, f"SELECT count(*), count(DISTINCT id) FROM visits_visit WHERE stream_id = {stream.id}")
    assert seen == people > 100
    _, coverage = ask(url, stream, now)
    assert sum(one.missing.get(Absence.REFUSED, 0.0) for one in coverage) > 0
