"""The recorder while it is killed or stopped, its database is away, or a visit is refused: nothing is lost."""

import random
import time
import urllib.request
from collections.abc import Iterator

import msgspec
import pytest

from onlooker_pipeline.visits.visit import decode_visit
from recorder_process import ACK_WAIT_S, Recording, database_away, eventually, running_recording, visit
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


def test_a_refused_visit_is_put_aside_after_three_tries_and_holds_up_nobody(recording: Recording) -> None:
    stream_id = recording.create_stream()
    poison, good = visit(stream_id, gender="neither"), [visit(stream_id) for _ in range(20)]
    recording.publish(visit(recording.create_stream()))
    await_done(recording)  # now it runs
    before = metrics(recording).get('onlooker_recorder_refused_total{reason="refused"}', 0)
    recording.publish(*good[:10], poison, *good[10:])
    eventually(lambda: len(recording.revisions(stream_id)) == 20, within_s=3)
    assert recording.put_aside("refused") == []
    [(visit_id, aside_stream, payload, detail)] = eventually(lambda: recording.put_aside("refused"))
    assert (visit_id.bytes, aside_stream) == (poison.id, stream_id)
    assert decode_visit(payload) == msgspec.structs.replace(poison, session=""), "without its session"
    assert "gender" in detail
    await_done(recording)
    found = metrics(recording)
    assert found['onlooker_recorder_refused_total{reason="refused"}'] - before == 3
    assert found['onlooker_recorder_put_aside_total{reason="refused"}'] == 1


def test_nothing_is_lost_when_recorders_are_killed(recording: Recording) -> None:
    stream_id = recording.create_stream()
    visits = [visit(stream_id) for _ in range(600)]
    recording.kill_recorder()
    chance = random.Random(1)
    for number in range(2):
        recording.publish(*visits[number::2])
        left = recording.waiting()
        recording.start_recorder()
        eventually(lambda left=left: recording.waiting() < left)  # type: ignore[misc]
        time.sleep(chance.uniform(0, 0.05))
        recording.kill_recorder()
    recording.start_recorder()
    await_done(recording)
    assert recording.revisions(stream_id) == {one.id: 1 for one in visits}


def test_a_recorder_that_is_asked_to_stop_finishes_and_gives_back(recording: Recording) -> None:
    stream_id = recording.create_stream()
    first, *rest = visits = [visit(stream_id) for _ in range(501)]
    recording.publish(first)
    await_done(recording)  # now it runs
    recording.publish(*rest)
    assert recording.stop_recorder() == 0
    recording.start_recorder()
    await_done(recording)
    assert recording.revisions(stream_id) == {one.id: 1 for one in visits}


def test_the_database_may_be_away_and_its_absence_is_no_try(recording: Recording) -> None:
    """Longer than it takes three deliveries, so a visit that waits would be put aside if waiting counted."""
    stream_id = recording.create_stream()
    visits = [visit(stream_id) for _ in range(100)]
    refused_before = len(recording.put_aside("refused"))
    recording.publish(*visits[:50])
    await_done(recording)
    with database_away(recording.settings.database_url):
        recording.publish(*visits[50:])
        time.sleep(3 * ACK_WAIT_S + 0.5)
    await_done(recording, within_s=60)
    assert recording.revisions(stream_id) == {one.id: 1 for one in visits}
    assert len(recording.put_aside("refused")) == refused_before
    assert "visits wait for the database" in recording.log
