"""Who is in view now: open visits that were written lately, whatever the camera's clock says."""

import time
from typing import Any

import msgspec
import psycopg
import pytest

from onlooker.database import Pool
from onlooker.metrics.in_view import IN_VIEW_S, InView, read_in_view
from onlooker.visits.partitions import Partitions
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.visits.fold import PUBLISHED_EVERY_MS
from onlooker_pipeline.visits.visit import Visit
from recorder_process import create_stream, later, visit, with_pool

pytest_plugins = ["migrated"]


def somebody(stream_id: int, *, looks_until_s: float = 0.0, behind_s: float = 0.0, **changes: Any) -> Visit:
    """Who has been there for four seconds, by a clock that is behind, and looked until a moment before its end."""
    start = int((time.time() - 4 - behind_s) * 1000)
    looking = [(start, start + 4000 - int(looks_until_s * 1000))] if looks_until_s < 4 else []
    return visit(stream_id, began_ms=start, revision=4, ended=False, looking=looking, **changes)


def read(url: str, stream_id: int, *visits: Visit, old_s: float = 0.0) -> InView:
    found: list[InView] = []

    async def act(pool: Pool) -> None:
        await VisitWriter(pool, Partitions(pool)).write(visits)
        if old_s:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("UPDATE visits_visit SET written_at = now() - %s * interval '1 second'", [old_s])
        found.append(await read_in_view(pool, stream_id))

    with_pool(url, act)
    return found[0]


def test_nobody_is_in_view_of_a_stream_without_visits(url: str) -> None:
    assert read(url, create_stream(url)) == InView(0, 0)


@pytest.mark.parametrize(("ago_s", "looking"), [(0.0, 1), (0.9, 1), (1.1, 0), (4.0, 0)])
def test_who_looks_does_so_until_a_second_ago(url: str, ago_s: float, looking: int) -> None:
    stream_id = create_stream(url)
    assert read(url, stream_id, somebody(stream_id, looks_until_s=ago_s)) == InView(1, looking)


def test_of_a_stream_that_tells_of_groups_nobody_is_told_to_look(url: str) -> None:
    stream_id = create_stream(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE streams_stream SET groups_of = 5 WHERE id = %s", [stream_id])
    assert read(url, stream_id, somebody(stream_id)) == InView(1, None)


def test_who_has_left_is_not_in_view(url: str) -> None:
    stream_id = create_stream(url)
    one = somebody(stream_id)
    assert read(url, stream_id, one) == InView(1, 1)
    assert read(url, stream_id, msgspec.structs.replace(later(one, 5), ended=True)) == InView(0, 0)


def test_who_is_not_written_any_more_is_not_in_view(url: str) -> None:
    """The camera died, or everything around it: nobody says that the person has left."""
    stream_id = create_stream(url)
    assert read(url, stream_id, somebody(stream_id), old_s=PUBLISHED_EVERY_MS / 1000 + 1).people == 1
    assert read(url, stream_id, somebody(stream_id), old_s=IN_VIEW_S + 0.5).people == 0


@pytest.mark.parametrize("behind_s", [-120.0, 86_400.0])
def test_a_cameras_clock_may_be_wrong(url: str, behind_s: float) -> None:
    stream_id = create_stream(url)
    assert read(url, stream_id, somebody(stream_id, behind_s=behind_s)).people == 1


def test_people_of_two_sessions_add_up_and_those_of_other_streams_do_not(url: str) -> None:
    stream_id, other_id = create_stream(url), create_stream(url)
    people = [somebody(stream_id, session=f"{stream_id}.scene_analysis-1.{number}") for number in (1, 2)]
    assert read(url, stream_id, *people, somebody(other_id)) == InView(2, 2)


def test_it_is_found_by_an_index(url: str) -> None:
    stream_id = create_stream(url)
    read(url, stream_id, somebody(stream_id))
    with psycopg.connect(url) as connection:
        connection.execute("SET enable_seqscan = off")
        plan = connection.execute(
            "EXPLAIN SELECT count(*) FROM visits_visit WHERE stream_id = %s AND NOT ended", [stream_id]
        ).fetchall()
    assert "stream_id_idx" in str(plan)
