"""Sessions that end: by a client that stops, by DELETE, or because everything around them died."""

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator

import msgspec
import pytest

from onlooker.bus.connection import Bus
from onlooker.bus.session_store import SessionBucket, SessionState, encode_state, sealed_name
from onlooker.database import Pool, load_queries, open_pool
from onlooker.visits.partitions import Partitions
from onlooker.visits.session_end import SilentSessions
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.visits.fold import fold_call
from onlooker_pipeline.visits.sightings import Estimate, Seen, SeenFrame, Sighting
from onlooker_pipeline.visits.visit import decode_visit
from recorder_process import Recording, eventually, running_recording, visit
from testkit import migrated_database


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    with (
        migrated_database() as database_url,
        running_recording(database_url, tmp_path_factory.mktemp("recording")) as running,
    ):
        yield running


def frames(person: bytes, start_ms: int, offsets_ms: range) -> list[SeenFrame]:
    return [SeenFrame(start_ms + at, [Sighting(person, still=True, looking=True)]) for at in offsets_ms]


class Watched:
    """A session in which one person was seen for 2 s that are settled and 0.8 s that are not, and published at 2 s."""

    def __init__(self, recording: Recording) -> None:
        self.stream_id = recording.create_stream()
        self.key = f"{self.stream_id}.scene_analysis-1.{uuid.uuid4().hex}"
        self.person = uuid.uuid4().bytes
        self.start_ms = int(time.time() * 1000) - 20_000
        first = self.seen(range(0, 2000, 200), range(0))
        names = {"stream_id": self.stream_id, "session": self.key}
        remembered, [self.published] = fold_call(None, [first], **names)  # type: ignore[arg-type]
        second = self.seen(range(0), range(2000, 2800, 200))
        self.remembered, self.unpublished = fold_call(remembered, [second], **names)  # type: ignore[arg-type]

    def seen(self, settled: range, unsettled: range) -> Seen:
        known = {self.person: Estimate(0.9, 40.0, 0.5, "male", 0.7)}
        one, other = (frames(self.person, self.start_ms, part) for part in (settled, unsettled))
        return Seen(one, other, known, [])

    def state(self, *, last_seen: float, outbox: list[bytes] | None = None) -> bytes:
        return encode_state(SessionState(last_seen, visits=self.remembered, outbox=outbox or []))


def row_of(recording: Recording, stream_id: int) -> tuple[bool, int, int] | None:
    """Whether the stream's one visit has ended, its milliseconds, and its revision."""
    query = """SELECT ended, (extract(epoch FROM upper(present) - lower(present)) * 1000)::int, revision
               FROM visits_visit WHERE stream_id = %s"""
    rows = recording.execute(query, stream_id)
    assert len(rows) <= 1
    return rows[0] if rows else None  # type: ignore[return-value]


def write_state(recording: Recording, key: str, state: bytes) -> None:
    async def put(bus: Bus) -> None:
        bucket = SessionBucket(bus, recording.settings)
        entry = await bucket.get(key)
        await bucket.replace(key, state, revision=entry.revision if entry else 0)

    asyncio.run(recording.with_bus("worker-1", put))


def look(recording: Recording, *, idle_s: float = 0.3, margin_s: float = 0.2) -> int:
    """What a recorder does every few seconds, now and with a short idle time."""

    async def close(bus: Bus) -> int:
        async with open_pool(recording.settings) as pool:
            sessions = SessionBucket(bus, recording.settings)
            writer = VisitWriter(pool, Partitions(pool))
            return await SilentSessions(pool, writer, sessions, idle_s=idle_s, margin_s=margin_s).close_silent()

    return int(asyncio.run(recording.with_bus("recorder", close)))


def show(recording: Recording, *looks: Callable[[], None], quiet_s: float = 0.3) -> list[int]:
    """The same some time before, again after each of what happens meanwhile."""

    async def show_quiet(bus: Bus) -> list[int]:
        async with open_pool(recording.settings) as pool:
            sessions = SessionBucket(bus, recording.settings)
            writer = VisitWriter(pool, Partitions(pool))
            silent = SilentSessions(pool, writer, sessions, idle_s=60, quiet_s=quiet_s)
            found = [await silent.show_quiet()]
            for meanwhile in looks:
                await asyncio.to_thread(meanwhile)
                found.append(await silent.show_quiet())
            return found

    return list(asyncio.run(recording.with_bus("recorder", show_quiet)))


def written_at(recording: Recording, watched: Watched) -> object:
    query = "SELECT written_at FROM visits_visit WHERE session = %s"
    return recording.execute(query, sealed_name(watched.key))


def publish_open(recording: Recording, watched: Watched) -> None:
    recording.publish(decode_visit(watched.published))
    eventually(lambda: row_of(recording, watched.stream_id))
    assert row_of(recording, watched.stream_id) == (False, 2000, 1)


def test_a_silent_session_is_closed_with_its_unsettled_frames(recording: Recording) -> None:
    watched = Watched(recording)
    publish_open(recording, watched)
    write_state(recording, watched.key, watched.state(last_seen=time.time() - 5))
    time.sleep(0.6)
    assert look(recording) >= 1
    assert row_of(recording, watched.stream_id) == (True, 2800, 2)


def test_what_a_quiet_session_adds_is_written_and_its_visits_stay_open(recording: Recording) -> None:
    watched = Watched(recording)
    publish_open(recording, watched)
    before = written_at(recording, watched)
    write_state(recording, watched.key, watched.state(last_seen=time.time() - 5))
    time.sleep(0.4)
    first, again = show(recording, lambda: None)
    assert (first >= 1, again) == (True, 0)
    assert row_of(recording, watched.stream_id) == (False, 2800, 1)
    assert written_at(recording, watched) == before, "nobody comes into view by it, and silence is not prolonged"


def test_a_quiet_session_that_goes_on_is_written_as_ever(recording: Recording) -> None:
    """Its next revision replaces what was shown; when it is quiet again, what it adds is shown again."""
    watched = Watched(recording)
    publish_open(recording, watched)
    write_state(recording, watched.key, watched.state(last_seen=time.time() - 5))
    time.sleep(0.4)
    names = {"stream_id": watched.stream_id, "session": watched.key}
    more = watched.seen(range(2000, 9000, 200), range(0))
    remembered, [published] = fold_call(watched.remembered, [more], **names)  # type: ignore[arg-type]

    def go_on() -> None:
        recording.publish(decode_visit(published))
        eventually(lambda: row_of(recording, watched.stream_id) == (False, 9000, 2))
        rest = watched.seen(range(0), range(9000, 9600, 200))
        watched.remembered, _ = fold_call(remembered, [rest], **names)  # type: ignore[arg-type]
        write_state(recording, watched.key, watched.state(last_seen=time.time() - 5))
        time.sleep(0.4)

    show(recording, go_on)
    assert row_of(recording, watched.stream_id) == (False, 9600, 2)


def test_of_a_session_that_lives_nothing_is_shown(recording: Recording) -> None:
    watched = Watched(recording)
    publish_open(recording, watched)
    write_state(recording, watched.key, watched.state(last_seen=time.time() + 3600))
    time.sleep(0.4)
    show(recording)
    assert row_of(recording, watched.stream_id) == (False, 2000, 1)


def test_the_recorder_itself_shows_what_a_quiet_session_adds(recording: Recording) -> None:
    watched = Watched(recording)
    publish_open(recording, watched)
    write_state(recording, watched.key, watched.state(last_seen=time.time() - 41))
    recording.execute(
        "UPDATE visits_visit SET written_at = now() - interval '45 s' WHERE stream_id = %s", watched.stream_id
    )
    eventually(lambda: row_of(recording, watched.stream_id) == (False, 2800, 1))


def test_a_session_that_lives_is_left_alone(recording: Recording) -> None:
    watched = Watched(recording)
    publish_open(recording, watched)
    write_state(recording, watched.key, watched.state(last_seen=time.time() + 3600))
    time.sleep(0.6)
    look(recording)
    assert row_of(recording, watched.stream_id) == (False, 2000, 1)


def test_what_a_dead_worker_left_unpublished_is_written(recording: Recording) -> None:
    """A person who had left is in nobody's memory any more, only in the outbox."""
    watched = Watched(recording)
    publish_open(recording, watched)
    left = visit(watched.stream_id, session=watched.key)
    state = watched.state(last_seen=time.time() - 5, outbox=[msgspec.msgpack.encode(left)])
    write_state(recording, watched.key, state)
    time.sleep(0.6)
    look(recording)
    assert recording.revisions(watched.stream_id) == {watched.person: 2, left.id: 1}
    left_over = "SELECT count(*) FROM visits_visit WHERE stream_id = %s AND (NOT ended OR session <> '')"
    assert recording.execute(left_over, watched.stream_id) == [(0,)]


def test_open_visits_of_the_release_before_are_closed_by_its_key(recording: Recording) -> None:
    """It named the session by the key of its state, in which is the client's own id."""
    watched = Watched(recording)
    publish_open(recording, watched)
    rename = "UPDATE visits_visit SET session = %s WHERE stream_id = %s RETURNING session"
    assert recording.execute(rename, watched.key, watched.stream_id) == [(watched.key,)]
    write_state(recording, watched.key, watched.state(last_seen=time.time() - 5))
    time.sleep(0.6)
    look(recording)
    assert row_of(recording, watched.stream_id) == (True, 2800, 2)
    assert recording.execute("SELECT session FROM visits_visit WHERE stream_id = %s", watched.stream_id) == [("",)]


@pytest.mark.parametrize("state", [None, b"", b"\xc1", msgspec.msgpack.encode([1.0, None, [], b"{}", None, 1.0, 5])])
def test_where_the_state_is_gone_or_unreadable_visits_end_as_they_are(
    recording: Recording, state: bytes | None
) -> None:
    watched = Watched(recording)
    publish_open(recording, watched)
    if state is not None:
        write_state(recording, watched.key, state)
    time.sleep(0.6)
    look(recording)
    assert row_of(recording, watched.stream_id) == (True, 2000, 1)
    recording.publish(decode_visit(msgspec.msgpack.encode(visit_again(watched))))
    eventually(lambda: row_of(recording, watched.stream_id) == (True, 2000, 4))


def visit_again(watched: Watched) -> object:
    """A higher revision that was still on its way."""
    return msgspec.structs.replace(decode_visit(watched.published), revision=4, ended=True)


def test_deleting_a_session_closes_its_visits(recording: Recording) -> None:
    watched = Watched(recording)
    publish_open(recording, watched)
    recording.end(watched.stream_id, watched.state(last_seen=time.time()))
    eventually(lambda: row_of(recording, watched.stream_id) == (True, 2800, 2))


def test_the_end_may_overtake_the_visits(recording: Recording) -> None:
    watched = Watched(recording)
    recording.end(watched.stream_id, watched.state(last_seen=time.time()))
    recording.publish(decode_visit(watched.published))
    eventually(lambda: recording.waiting() == 0)
    assert row_of(recording, watched.stream_id) == (True, 2800, 2)


def test_the_recorder_itself_looks_for_silence(recording: Recording) -> None:
    watched = Watched(recording)
    publish_open(recording, watched)
    write_state(recording, watched.key, watched.state(last_seen=time.time() - 500))
    recording.execute(
        "UPDATE visits_visit SET written_at = now() - interval '80 s' WHERE stream_id = %s", watched.stream_id
    )
    eventually(lambda: row_of(recording, watched.stream_id) == (True, 2800, 2))


def test_open_visits_are_found_without_reading_the_table(recording: Recording) -> None:
    stream_id = recording.create_stream()
    fill = """INSERT INTO visits_visit (stream_id, began_at, id, revision, ended, session, present, still, looking,
                                        age_confidence, gender_confidence, confidence)
              SELECT %s, began_at, gen_random_uuid(), 1, n %% 2000 > 0, n::text, multirange(tstzrange(began_at, NULL)),
                     '{}', '{}', 0, 0, 0
              FROM generate_series(1, 20000) n, LATERAL (SELECT now() - n * interval '1 s' AS began_at) moment"""

    async def explain(pool: Pool) -> str:
        async with pool.connection() as connection:
            values = {"silent_s": 75, "limit": 500}
            rows = await (
                await connection.execute("EXPLAIN " + load_queries("onlooker.visits")["silent_sessions"], values)
            ).fetchall()
        return "\n".join(row["QUERY PLAN"] for row in rows)

    recording.execute(fill, stream_id)
    for preparation in ("SELECT 1", "ANALYZE visits_visit"):
        recording.execute(preparation)
        plan = asyncio.run(with_pool(recording, explain))
        assert f"Seq Scan on {fullest_partition(recording)}" not in plan, plan
    recording.execute("DELETE FROM streams_stream WHERE id = %s", stream_id)


def fullest_partition(recording: Recording) -> str:
    query = "SELECT tableoid::regclass::text FROM visits_visit GROUP BY 1 ORDER BY count(*) DESC LIMIT 1"
    return str(recording.execute(query)[0][0])


async def with_pool(recording: Recording, act: Callable[[Pool], Awaitable[str]]) -> str:
    async with open_pool(recording.settings) as pool:
        return await act(pool)
