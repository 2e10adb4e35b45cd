"""The recorder on a real bus and a real database: each visit once, whatever dies, and no visit holds up another."""

import time
import urllib.request
from collections.abc import Iterator
from itertools import permutations

import pytest

from onlooker.bus.session_store import sealed_name
from onlooker.bus.subjects import visits_subject
from onlooker_pipeline.visits.visit import Visit
from recorder_process import Recording, eventually, later, running_recording, visit
from testkit import migrated_database


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    with (
        migrated_database() as database_url,
        running_recording(database_url, tmp_path_factory.mktemp("recording")) as running,
    ):
        yield running


def metrics(recording: Recording) -> dict[str, float]:
    url = f"http://127.0.0.1:{recording.settings.monitoring_port}/metrics"
    with urllib.request.urlopen(url, timeout=5) as answer:
        lines = answer.read().decode().splitlines()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[:1] != "#")}


def await_done(recording: Recording, *, within_s: float = 30) -> None:
    """Until the bus has nothing left."""
    eventually(lambda: recording.waiting() == 0, within_s=within_s)


def test_every_member_of_a_visit_is_written(recording: Recording) -> None:
    stream_id = recording.create_stream()
    start = int(time.time() * 1000) - 60_123
    one = visit(stream_id, began_ms=start, ended=False)
    unknown = visit(stream_id, began_ms=start, age=None, gender=None, expression=None, looking=[])
    recording.publish(one, unknown)
    await_done(recording)
    query = """SELECT ended, session, (extract(epoch FROM began_at) * 1000)::bigint, present::text, still::text,
                      (extract(epoch FROM upper(looking)) * 1000)::bigint, age, age_confidence, gender,
                      gender_confidence, neutral, happiness, surprise, anger, sadness, confidence
               FROM visits_visit WHERE stream_id = %s ORDER BY gender"""
    first, second = recording.execute(query, stream_id)
    assert (*first[:3], *first[4:6]) == (False, sealed_name(one.session), start, "{}", start + 500)
    assert first[6:] == pytest.approx((33.5, 0.8, "female", 0.9, 0.2, 0.5, 0.1, 0.1, 0.1, 1.0))
    assert (*second[5:7], second[8], *second[10:15]) == (None,) * 8
    assert second[:2] == (True, ""), "which session it was in is forgotten with its end"


def test_what_is_no_visit_is_put_aside_at_once(recording: Recording) -> None:
    stream_id = recording.create_stream()
    recording.send("worker-1", [(visits_subject(stream_id), b"\xc1"), ("visits.nobody", b"[]")])
    good = visit(stream_id)
    recording.publish(good)
    await_done(recording)
    aside = recording.put_aside("undecodable")
    assert [(row[1], bytes(row[2])) for row in aside] == [(stream_id, b"\xc1"), (None, b"[]")]
    assert recording.revisions(stream_id) == {good.id: 1}


@pytest.mark.parametrize(
    "began_ms",
    [0, int((time.time() + 100 * 86_400) * 1000), 10**17, -(10**14)],
    ids=["1970", "in a hundred days", "far in the future", "far in the past"],
)
def test_a_month_that_nobody_keeps_is_put_aside_at_once(recording: Recording, began_ms: int) -> None:
    stream_id = recording.create_stream()
    one, good = visit(stream_id, began_ms=began_ms), visit(stream_id)
    recording.publish(one, good)
    await_done(recording)
    assert one.id in [row[0].bytes for row in recording.put_aside("out_of_range")]
    assert recording.revisions(stream_id) == {good.id: 1}


def test_a_month_of_the_past_that_a_stream_keeps_gets_its_partition(recording: Recording) -> None:
    stream_id = recording.create_stream()
    old = visit(stream_id, began_ms=int((time.time() - 200 * 86_400) * 1000))
    recording.publish(old)
    await_done(recording)
    assert recording.revisions(stream_id) == {old.id: 1}


def test_visits_of_a_stream_that_is_gone_are_dropped_and_counted(recording: Recording) -> None:
    gone, here = 2**40, recording.create_stream()
    name = 'onlooker_recorder_visits_total{outcome="stream_gone"}'
    before = metrics(recording).get(name, 0)
    good = visit(here)
    recording.publish(visit(gone), good, visit(gone, gender="neither"))
    await_done(recording)
    assert recording.revisions(here) == {good.id: 1}
    assert metrics(recording)[name] - before >= 2
    assert recording.execute("SELECT count(*) FROM visits_visit WHERE stream_id = %s", gone) == [(0,)]


def test_a_stream_takes_its_visits_with_it(recording: Recording) -> None:
    stream_id = recording.create_stream()
    recording.publish(*(visit(stream_id) for _ in range(5)))
    await_done(recording)
    recording.execute("DELETE FROM streams_stream WHERE id = %s", stream_id)
    assert recording.revisions(stream_id) == {}


def test_two_recorders_share_the_work(recording: Recording) -> None:
    stream_id = recording.create_stream()
    visits = [visit(stream_id, began_ms=int((time.time() - 260 * 86_400) * 1000)) for _ in range(1000)]
    with recording.second_recorder():
        recording.publish(*visits)
        await_done(recording)
    assert recording.revisions(stream_id) == {one.id: 1 for one in visits}


def test_the_bus_may_be_killed(recording: Recording) -> None:
    stream_id = recording.create_stream()
    before, after = [visit(stream_id) for _ in range(300)], [visit(stream_id) for _ in range(300)]
    recording.publish(*before)
    recording.kill_bus()
    recording.start_bus()
    recording.publish(*after)
    await_done(recording)
    assert recording.revisions(stream_id) == {one.id: 1 for one in before + after}


def test_what_is_delivered_thrice_is_written_once(recording: Recording) -> None:
    stream_id = recording.create_stream()
    one = visit(stream_id)
    recording.publish(one, one, one)
    await_done(recording)
    recording.publish(one)
    await_done(recording)
    assert recording.revisions(stream_id) == {one.id: 1}


def test_the_highest_revision_stays_whatever_the_order(recording: Recording) -> None:
    stream_id = recording.create_stream()
    expected: dict[bytes, int] = {}
    rounds: list[list[Visit]] = [[], [], []]
    for order in permutations([1, 2, 3]):
        one = visit(stream_id)
        expected[one.id] = 3
        for batch, revision in zip(rounds, order, strict=True):
            batch.append(later(one, revision))
    for batch in rounds:
        recording.publish(*batch)
        await_done(recording)
    assert recording.revisions(stream_id) == expected
    together = [later(one, revision) for one in rounds[0] for revision in (7, 5, 6)]
    recording.publish(*together)
    await_done(recording)
    assert recording.revisions(stream_id) == dict.fromkeys(expected, 7)
    seconds = recording.execute("SELECT extract(epoch FROM upper(present) - began_at)::int FROM visits_visit"
                                " WHERE stream_id = %s", stream_id)  # fmt: skip
    assert set(seconds) == {(7,)}
