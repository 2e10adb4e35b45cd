"""How much of a bucket was looked at, and why not the rest."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onlooker.database import Pool
from onlooker.metrics.buckets import count_buckets, page_buckets
from onlooker.metrics.coverage import (
    BucketCoverage,
    Watched,
    read_coverage,
    read_covered,
    read_watched,
)
from onlooker.metrics.hour_sums import past_buckets
from onlooker.metrics.query import Query, Time
from recorder_process import create_stream, with_pool
from testkit.coverage_oracle import SECOND_US, SLOT_US, CameraLog, expect_coverage

pytest_plugins = ["migrated"]
NOON = datetime(2026, 5, 31, 12, tzinfo=UTC)
LATER = NOON + timedelta(days=10)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
SLOT = 15 * MINUTE


@dataclass
class Camera:
    """A stream, and what the tables have of it."""

    url: str
    connection: psycopg.Connection
    stream_id: int

    def covers(self, at: datetime, *, video_s: float = 900, slots: int = 1) -> None:
        rows = [(self.stream_id, at + number * SLOT, video_s) for number in range(slots)]
        self._write("INSERT INTO streams_coverage (stream_id, slot_at, video_s) VALUES (%s, %s, %s)", rows)

    def is_refused(self, at: datetime, frames: int, reason: str) -> None:
        row = (self.stream_id, at, reason, frames)
        self._write("INSERT INTO streams_refusal (stream_id, slot_at, reason, frames) VALUES (%s, %s, %s, %s)", [row])

    def is_blind(self, at: datetime, video_s: float, fault: str) -> None:
        row = (self.stream_id, at, fault, video_s)
        self._write("INSERT INTO streams_blindness (stream_id, slot_at, fault, video_s) VALUES (%s, %s, %s, %s)", [row])

    def becomes(self, state: str, at: datetime) -> None:
        row = (self.stream_id, at, state)
        self._write("INSERT INTO streams_statechange (stream_id, at, state) VALUES (%s, %s, %s)", [row])

    def opens(self, hours: str, since_at: datetime) -> None:
        row = (self.stream_id, since_at, hours)
        insert = "INSERT INTO streams_openinghours (stream_id, since_at, hours, time_zone) VALUES (%s, %s, %s, 'UTC')"
        self._write(insert, [row])

    def shares(self, from_at: datetime, to_at: datetime) -> list[float | None]:
        """Of each hour, as they are read alone."""
        query = Query(self.stream_id, ("watched",), from_at, to_at, ZoneInfo("UTC"), Time.BY_HOUR)
        found: list[Watched] = []

        async def act(pool: Pool) -> None:
            buckets = page_buckets(query, first=0, count=count_buckets(query))
            found.extend(await read_watched(pool, query, buckets, now=LATER))

        with_pool(self.url, act)
        return [one.share for one in found]

    def is_created(self, at: datetime) -> None:
        self._write("UPDATE streams_stream SET created_at = %s WHERE id = %s", [(at, self.stream_id)])

    def keeps_coverage_since(self, at: datetime) -> None:
        self._write("UPDATE streams_stream SET coverage_since = %s WHERE id = %s", [(at, self.stream_id)])

    def keeps_visits_since(self, at: datetime) -> None:
        self._write("INSERT INTO visits_kept (stream_id, since) VALUES (%s, %s)", [(self.stream_id, at)])

    def coverage(
        self, from_at: datetime, to_at: datetime, *, by: Time = Time.GLOBAL, now: datetime = LATER
    ) -> tuple[BucketCoverage, ...]:
        query = Query(self.stream_id, ("interested",), from_at, to_at, ZoneInfo("UTC"), by)
        buckets = page_buckets(query, first=0, count=min(50, count_buckets(query)))
        found: list[BucketCoverage] = []

        async def act(pool: Pool) -> None:
            found.extend(await read_coverage(pool, query, buckets, now=now))

        with_pool(self.url, act)
        assert all(one.covered_s + sum(one.missing.values()) == pytest.approx(one.length_s) for one in found)
        return tuple(found)

    def hours(self, from_at: datetime, to_at: datetime, *, now: datetime) -> list[float]:
        """Seconds that were covered in each hour, as a week is drawn from them."""
        by_hour = Query(self.stream_id, ("interested",), from_at, to_at, ZoneInfo("UTC"), Time.BY_HOUR)
        hours = page_buckets(by_hour, first=0, count=count_buckets(by_hour))
        found: list[float] = []

        async def act(pool: Pool) -> None:
            covered_s, _ = await read_covered(pool, self.stream_id, past_buckets(by_hour, hours.edges_s, now))
            found.extend(covered_s)

        with_pool(self.url, act)
        return found

    def watched(self, from_at: datetime, to_at: datetime, *, now: datetime) -> list[float]:
        """Seconds that were covered in each hour, as they are read alone."""
        query = Query(self.stream_id, ("watched",), from_at, to_at, ZoneInfo("UTC"), Time.BY_HOUR)
        found: list[Watched] = []

        async def act(pool: Pool) -> None:
            buckets = page_buckets(query, first=0, count=count_buckets(query))
            found.extend(await read_watched(pool, query, buckets, now=now))
            whole = await read_coverage(pool, query, buckets, now=now)
            assert [one.length_s for one in found] == [one.length_s for one in whole]
            assert [one.share for one in found] == pytest.approx([one.watched.share for one in whole])

        with_pool(self.url, act)
        return [one.covered_s for one in found]

    def _write(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        with self.connection.cursor() as cursor:
            cursor.executemany(statement, rows)


@pytest.fixture(scope="module")
def connection(database: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database, autocommit=True) as opened:
        yield opened


@pytest.fixture
def camera(database: str, connection: psycopg.Connection) -> Camera:
    return Camera(database, connection, create_stream(database))


def test_a_slot_that_was_watched_from_end_to_end_lacks_nothing(camera: Camera) -> None:
    camera.covers(NOON, slots=4)
    assert camera.coverage(NOON, NOON + HOUR) == (BucketCoverage(3600, 3600, {}, None),)


def test_slots_of_which_nothing_is_written_down_were_offline(camera: Camera) -> None:
    camera.covers(NOON, slots=1)
    assert camera.coverage(NOON, NOON + HOUR) == (BucketCoverage(3600, 900, {"offline": 2700}, None),)


@pytest.mark.parametrize("known_since", [NOON - DAY, NOON + 3 * HOUR])
def test_before_it_was_created_a_stream_was_not_offline(camera: Camera, known_since: datetime) -> None:
    """Not even where nobody would know any more."""
    camera.is_created(NOON + 2 * HOUR + 5 * MINUTE)
    camera.keeps_coverage_since(known_since)
    camera.becomes("disabled", NOON)  # a log that begins before its stream says nothing
    camera.becomes("enabled", NOON + 2 * HOUR + 5 * MINUTE)
    camera.covers(NOON + 2 * HOUR, video_s=400)
    before, half = camera.coverage(NOON + HOUR, NOON + 3 * HOUR, by=Time.BY_HOUR)
    assert before == BucketCoverage(3600, 0, {"not_created": 3600}, None)
    assert half.covered_s == 400
    assert half.missing["not_created"] == 300
    assert sum(half.missing.values()) == 3200


def test_a_film_of_a_time_before_the_stream_covers_it(camera: Camera) -> None:
    camera.is_created(NOON + DAY)
    camera.covers(NOON, video_s=600)
    assert camera.coverage(NOON, NOON + HOUR) == (BucketCoverage(3600, 600, {"not_created": 3000}, None),)


def test_another_streams_slots_cover_nothing(camera: Camera) -> None:
    other = Camera(camera.url, camera.connection, create_stream(camera.url))
    other.covers(NOON)
    other.is_refused(NOON, 5, "overloaded")
    other.becomes("disabled", NOON)
    assert camera.coverage(NOON, NOON + SLOT) == (BucketCoverage(900, 0, {"offline": 900}, None),)


def test_two_cameras_cover_no_more_than_the_time_there_is(camera: Camera) -> None:
    camera.covers(NOON, video_s=1500)
    assert camera.coverage(NOON, NOON + 2 * SLOT) == (BucketCoverage(1800, 900, {"offline": 900}, None),)


def test_each_bucket_has_its_own_slots(camera: Camera) -> None:
    camera.covers(NOON, video_s=600)
    camera.covers(NOON + HOUR, slots=4)
    found = camera.coverage(NOON, NOON + 3 * HOUR, by=Time.BY_HOUR)
    assert [one.covered_s for one in found] == [600, 3600, 0]
    assert [one.missing for one in found] == [{"offline": 3000}, {}, {"offline": 3600}]


def test_a_slot_that_an_edge_cuts_counts_by_proportion(camera: Camera) -> None:
    camera.covers(NOON, video_s=600)
    found = camera.coverage(NOON + 5 * MINUTE, NOON + 14 * MINUTE)
    assert found == (BucketCoverage(540, pytest.approx(360), {"offline": pytest.approx(180)}, None),)


def test_the_slot_of_now_is_as_long_as_it_has_lasted(camera: Camera) -> None:
    camera.covers(NOON, video_s=300)
    found = camera.coverage(NOON - HOUR, NOON + 2 * HOUR, by=Time.BY_HOUR, now=NOON + 5 * MINUTE)
    assert found == (
        BucketCoverage(3600, 0, {"offline": 3600}, None),
        BucketCoverage(300, 300, {}, None),
        BucketCoverage(0, 0, {}, None),
    )


def test_a_range_in_the_future_lacks_nothing(camera: Camera) -> None:
    assert camera.coverage(LATER + HOUR, LATER + 2 * HOUR) == (BucketCoverage(0, 0, {}, None),)


def test_a_stream_that_was_switched_off_was_disabled(camera: Camera) -> None:
    camera.becomes("disabled", NOON + SLOT)
    camera.becomes("enabled", NOON + 3 * HOUR)
    found = camera.coverage(NOON, NOON + 4 * HOUR, by=Time.BY_HOUR)
    assert [one.missing for one in found] == [
        {"offline": 900, "disabled": 2700},
        {"disabled": 3600},
        {"disabled": 3600},
        {"offline": 3600},
    ]


def test_a_stream_that_is_switched_off_still_is_disabled(camera: Camera) -> None:
    camera.becomes("disabled", NOON - 3 * DAY)
    assert camera.coverage(NOON, NOON + HOUR)[0].missing == {"disabled": 3600}


def test_what_came_before_it_was_switched_off_is_not_taken_for_less(camera: Camera) -> None:
    """Five minutes of video, then ten minutes off: nothing was offline."""
    camera.covers(NOON, video_s=300)
    camera.becomes("disabled", NOON + 5 * MINUTE)
    assert camera.coverage(NOON, NOON + SLOT) == (BucketCoverage(900, 300, {"disabled": 600}, None),)


def test_a_recording_covers_a_time_in_which_the_stream_was_disabled(camera: Camera) -> None:
    camera.becomes("disabled", NOON)
    camera.becomes("enabled", NOON + HOUR)
    camera.covers(NOON, video_s=850)
    found = camera.coverage(NOON, NOON + HOUR)
    assert found == (BucketCoverage(3600, 850, {"disabled": 2750}, None),)


def test_a_used_up_month_is_over_with_the_month(camera: Camera) -> None:
    """Nobody writes it down before the stream's next frame."""
    camera.becomes("quota", NOON + 10 * HOUR)
    found = camera.coverage(NOON + 9 * HOUR, NOON + 14 * HOUR, by=Time.BY_HOUR)
    reasons = [list(one.missing) for one in found]
    assert reasons == [["offline"], ["quota"], ["quota"], ["offline"], ["offline"]]


def test_frames_that_came_and_were_not_computed_were_refused(camera: Camera) -> None:
    camera.covers(NOON, video_s=200)
    camera.is_refused(NOON, 3000, "overloaded")
    camera.is_refused(NOON, 10, "bad_image")
    found = camera.coverage(NOON, NOON + 2 * SLOT)
    assert found == (BucketCoverage(1800, 200, {"refused": 700, "offline": 900}, "overloaded"),)


def test_the_reason_is_named_that_took_most_of_the_time(camera: Camera) -> None:
    """Many frames out of order cost little while others of the same minutes were computed."""
    camera.covers(NOON, video_s=890)
    camera.is_refused(NOON, 9000, "out_of_order")
    camera.is_refused(NOON + SLOT, 50, "overloaded")
    found = camera.coverage(NOON, NOON + 2 * SLOT)
    assert found == (BucketCoverage(1800, 890, {"refused": 910}, "overloaded"),)


def test_frames_refused_because_it_was_disabled_are_told_by_the_log_of_states(camera: Camera) -> None:
    camera.becomes("disabled", NOON)
    camera.becomes("enabled", NOON + 5 * MINUTE)
    camera.is_refused(NOON, 3000, "stream_disabled")
    assert camera.coverage(NOON, NOON + SLOT)[0].missing == {"disabled": 300, "offline": 600}


def test_frames_refused_beside_a_closure_take_the_rest(camera: Camera) -> None:
    camera.covers(NOON, video_s=100)
    camera.is_refused(NOON, 40, "rate_limited")
    camera.becomes("disabled", NOON + 10 * MINUTE)
    found = camera.coverage(NOON, NOON + SLOT)
    assert found == (BucketCoverage(900, 100, {"disabled": 300, "refused": 500}, "rate_limited"),)


def test_what_an_earlier_release_deleted_is_unknown(camera: Camera) -> None:
    camera.keeps_coverage_since(NOON + 30 * MINUTE)
    camera.becomes("disabled", NOON - 2 * HOUR)
    camera.becomes("enabled", NOON - HOUR)
    found = camera.coverage(NOON - 3 * HOUR, NOON + HOUR, by=Time.BY_HOUR)
    assert [one.missing for one in found] == [
        {"unknown": 3600},
        {"disabled": 3600},
        {"unknown": 3600},
        {"unknown": 1800, "offline": 1800},
    ]


def test_where_not_all_is_known_there_is_no_share(camera: Camera) -> None:
    camera.keeps_coverage_since(NOON + 30 * MINUTE)
    camera.covers(NOON + HOUR, slots=4)
    query = (NOON, NOON + 3 * HOUR)
    assert [one.watched.share for one in camera.coverage(*query, by=Time.BY_HOUR)] == [None, 1, 0]
    assert camera.watched(*query, now=LATER) == [0, 3600, 0]


def test_coverage_outlives_the_visits(camera: Camera) -> None:
    """As the roll-up does: an old range can tell why it is zero."""
    kept = Camera(camera.url, camera.connection, create_stream(camera.url, retention_days=2))
    kept.keeps_visits_since(NOON + 9 * DAY)
    kept.covers(NOON, slots=4)
    kept.is_refused(NOON + HOUR, 5, "overloaded")
    found = kept.coverage(NOON, NOON + 3 * HOUR, by=Time.BY_HOUR, now=NOON + 3000 * DAY)
    assert [one.missing for one in found] == [{}, {"refused": 900, "offline": 2700}, {"offline": 3600}]


def test_of_a_stream_that_is_gone_nothing_is_known(camera: Camera) -> None:
    assert Camera(camera.url, camera.connection, 999_999).coverage(NOON, NOON + HOUR)[0].missing == {"unknown": 3600}


def test_a_year_is_one_sum(camera: Camera) -> None:
    camera.connection.execute(
        """INSERT INTO streams_coverage (stream_id, slot_at, video_s)
           SELECT %s, slot_at, 600 FROM generate_series(%s, %s, interval '15 minutes') slot_at""",
        [camera.stream_id, LATER - 360 * DAY, LATER - SLOT],
    )
    [found] = camera.coverage(LATER - 360 * DAY, LATER)
    assert (found.length_s, found.covered_s) == (360 * 86_400, 360 * 57_600)
    assert found.missing == {"offline": 360 * 28_800}


def test_seconds_of_a_blind_camera_are_missing_with_their_fault(camera: Camera) -> None:
    camera.covers(NOON, video_s=500)
    camera.is_blind(NOON, 300, "covered")
    camera.is_blind(NOON + SLOT, 900, "dark")
    [found] = camera.coverage(NOON, NOON + HOUR)
    assert (found.length_s, found.covered_s) == (3600, 500)
    assert found.missing == pytest.approx({"covered": 300, "dark": 900, "offline": 1900})


def test_a_slot_is_not_blind_for_longer_than_it_was_not_covered(camera: Camera) -> None:
    """Two sessions of one camera, of which one is blind."""
    camera.covers(NOON, video_s=800)
    camera.is_blind(NOON, 150, "covered")
    camera.is_blind(NOON, 50, "dark")
    [found] = camera.coverage(NOON, NOON + SLOT)
    assert found.missing == pytest.approx({"covered": 75, "dark": 25})


def test_what_was_refused_beside_a_blind_time_is_told_too(camera: Camera) -> None:
    camera.is_blind(NOON, 300, "frozen")
    camera.is_refused(NOON, 7, "overloaded")
    camera.is_blind(NOON + SLOT, 100, "frozen")
    [found] = camera.coverage(NOON, NOON + 2 * SLOT)
    assert found.missing == pytest.approx({"frozen": 400, "refused": 600, "offline": 800})


def test_closed_time_is_no_gap(camera: Camera) -> None:
    camera.opens("we 12:00-14:00", NOON - 100 * DAY)  # NOON is a Sunday
    wednesday = NOON + 3 * DAY
    camera.covers(wednesday, slots=6)
    camera.becomes("disabled", wednesday + 3 * HOUR)
    camera.is_refused(wednesday + 5 * HOUR, 70, "stream_closed")
    (day,) = camera.coverage(wednesday, wednesday + DAY)
    assert day.missing == {"closed": 22 * 3600, "offline": 1800}
    assert (day.open_s, day.watched.share) == (7200, 0.75)
    (closed,) = camera.coverage(wednesday + 4 * HOUR, wednesday + 5 * HOUR)
    assert (closed.open_s, closed.watched.share) == (0, None)


def test_hours_hold_from_when_they_were_set(camera: Camera) -> None:
    camera.opens("mo 00:00-00:15", NOON + 30 * MINUTE)
    camera.opens("", NOON + HOUR)
    (found,) = camera.coverage(NOON, NOON + 2 * HOUR)
    assert found.missing == {"offline": 5400, "closed": 1800}


def test_watched_alone_knows_closed_time_too(camera: Camera) -> None:
    camera.opens("su 12:00-12:30", NOON - 100 * DAY)
    camera.covers(NOON)
    assert camera.shares(NOON, NOON + 2 * HOUR) == [0.5, None]


@dataclass(frozen=True)
class World:
    """What may be in the tables for some hours; slots and moments are counted from noon."""

    videos: dict[int, float]
    refusals: dict[int, str]
    blind: dict[tuple[int, str], float]
    """By slot and fault."""
    states: dict[int, str]
    """By the second."""
    from_s: int = 0
    to_s: int = 0
    now_s: int = 0


@st.composite
def worlds(draw: st.DrawFn) -> World:
    slots, moments = st.integers(0, 15), st.integers(0, 4 * 3600)
    blind_s = st.sampled_from([0.5, 300.0, 899.0, 1200.0])
    from_s, to_s = sorted(draw(st.lists(moments, min_size=2, max_size=2, unique=True)))
    return World(
        draw(st.dictionaries(slots, st.sampled_from([1.0, 250.0, 600.5, 900.0, 1700.0]))),
        draw(st.dictionaries(slots, st.sampled_from(["overloaded", "bad_image", "stream_disabled"]), max_size=6)),
        draw(st.dictionaries(st.tuples(slots, st.sampled_from(["black", "dark"])), blind_s, max_size=6)),
        draw(st.dictionaries(moments, st.sampled_from(["enabled", "disabled", "quota"]), max_size=6)),
        from_s,
        to_s,
        draw(moments) + 1,
    )


def hours_by_the_second(world: World) -> list[dict[str, float]]:
    """Slot by slot, with the state of every second looked up."""
    edges = range(world.from_s // 3600 * 3600, -(-world.to_s // 3600) * 3600 + 1, 3600)
    return [hour_by_the_second(world, *hour) for hour in pairwise(edges)]


def hours_by_the_oracle(world: World) -> list[dict[str, float]]:
    """The same piece by piece, as `just check-metrics` has it."""
    noon_us = int(NOON.timestamp()) * SECOND_US
    log = CameraLog(
        videos={noon_us + slot * SLOT_US: video_s for slot, video_s in world.videos.items()},
        refusals={noon_us + slot * SLOT_US: reason for slot, reason in world.refusals.items()},
        blind={(noon_us + slot * SLOT_US, fault): blind_s for (slot, fault), blind_s in world.blind.items()},
        states={noon_us + at_s * SECOND_US: state for at_s, state in world.states.items()},
    )
    edges = range(world.from_s // 3600 * 3600, -(-world.to_s // 3600) * 3600 + 1, 3600)
    hours = ((max(begin_s, world.from_s), min(end_s, world.to_s)) for begin_s, end_s in pairwise(edges))
    now_us = noon_us + world.now_s * SECOND_US
    return [
        expect_coverage(log, noon_us + begin_s * SECOND_US, noon_us + end_s * SECOND_US, now_us=now_us)
        for begin_s, end_s in hours
    ]


def hour_by_the_second(world: World, begin_s: int, end_s: int) -> dict[str, float]:
    seconds = range(max(begin_s, world.from_s), min(end_s, world.to_s, world.now_s))
    found: Counter[str] = Counter()
    for slot in sorted({second // 900 for second in seconds}):
        inside = [second for second in seconds if second // 900 == slot]
        lasted_s = min(900, world.now_s - slot * 900)
        covered = min(world.videos.get(slot, 0), lasted_s) * len(inside) / lasted_s
        states = Counter(state_at(world, second) for second in inside)
        rest = len(inside) - covered
        blind = {fault: blind_s for (number, fault), blind_s in world.blind.items() if number == slot}
        told = min(rest, sum(blind.values()) * len(inside) / lasted_s)
        for fault, blind_s in blind.items():
            found[fault] += told * blind_s / sum(blind.values())
        rest -= told
        disabled = min(rest, states["disabled"])
        quota = min(rest - disabled, states["quota"])
        refused = world.refusals.get(slot, "stream_disabled") != "stream_disabled"
        found["covered"] += covered
        found["disabled"] += disabled
        found["quota"] += quota
        found["refused" if refused else "offline"] += rest - disabled - quota
    return {why: found_s for why, found_s in found.items() if why == "covered" or found_s > 1e-6}


def state_at(world: World, second: int) -> str:
    changes = [at for at in world.states if at <= second]
    return world.states[max(changes)] if changes else "enabled"


@settings(max_examples=50, deadline=None)
@given(worlds())
def test_any_hours_are_reckoned_like_second_by_second(
    database: str, connection: psycopg.Connection, world: World
) -> None:
    camera = Camera(database, connection, create_stream(database))
    for slot, video_s in world.videos.items():
        camera.covers(NOON + slot * SLOT, video_s=video_s)
    for slot, reason in world.refusals.items():
        camera.is_refused(NOON + slot * SLOT, 7, reason)
    for (slot, fault), blind_s in world.blind.items():
        camera.is_blind(NOON + slot * SLOT, blind_s, fault)
    for at_s, state in sorted(world.states.items()):
        camera.becomes(state, NOON + timedelta(seconds=at_s))
    from_at, to_at, now = (NOON + timedelta(seconds=at_s) for at_s in (world.from_s, world.to_s, world.now_s))
    found = camera.coverage(from_at, to_at, by=Time.BY_HOUR, now=now)
    seconds = [{"covered": one.covered_s} | one.missing if one.length_s else {} for one in found]
    assert seconds == [pytest.approx(hour) for hour in hours_by_the_second(world)]
    assert seconds == [pytest.approx(hour, abs=1e-5) for hour in hours_by_the_oracle(world)]
    assert camera.watched(from_at, to_at, now=now) == pytest.approx([one.covered_s for one in found])
    assert camera.hours(from_at, to_at, now=now) == pytest.approx([one.covered_s for one in found])
