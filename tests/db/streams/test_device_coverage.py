"""What devices tell of slots: however often and in whatever order it comes, each second is added once."""

import asyncio
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onlooker.database import Pool, open_pool
from onlooker.settings import Settings
from onlooker.slots import SLOT_S
from onlooker.streams.device_coverage import (
    DEVICES_PER_SLOT,
    DeviceRefusal,
    DeviceReport,
    KnownSlot,
    QualityTotals,
    RecordedReport,
    SlotSums,
    StoredSlots,
    ToldSlot,
    judge_slots,
    record_report,
)
from recorder_process import create_stream
from testkit import migrated_database

FIRST = 2_000_000
"""Number of a slot, in the year 2027."""
MONTH = date(2027, 1, 1)
DEVICES = [uuid.UUID(int=number) for number in range(3)]


@pytest.fixture(scope="module")
def tables() -> Iterator[str]:
    with migrated_database() as url:
        yield url


def read(url: str, query: str, *values: object) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(query, values).fetchall()


def record(url: str, *reports: DeviceReport) -> list[RecordedReport]:
    async def act(pool: Pool) -> list[RecordedReport]:
        return [await record_report(pool, one) for one in reports]

    async def run() -> list[RecordedReport]:
        async with open_pool(Settings(database_url=url)) as pool:
            return await act(pool)

    return asyncio.run(run())


def report(stream_id: int, *slots: ToldSlot, device: int = 0, **more: Any) -> DeviceReport:
    values: dict[str, Any] = {"visit_slots": frozenset(), "quota_s": None} | more
    return DeviceReport(stream_id, DEVICES[device], slots, **values)


def told(number: int = 0, revision: int = 1, watched_s: float = 0.0, **more: Any) -> ToldSlot:
    return ToldSlot(FIRST + number, revision, SlotSums(watched_s=watched_s, **more))


def quality(frames: int, version: str = "1") -> QualityTotals:
    return QualityTotals(version, "2", frames, frames / 5, 0, frames, frames / 5, [frames] + [0] * 15)


def all_rows(url: str, stream_id: int) -> dict[str, list[tuple[Any, ...]]]:
    """What was added for a stream, without what is zero."""
    slot, rounded = "extract(epoch FROM slot_at)::int / 900", "round(video_s::numeric, 3)::float8"
    queries = {
        "coverage": f"{slot}, {rounded} FROM streams_coverage",
        "blind": f"{slot}, fault, {rounded} FROM streams_blindness",
        "refused": f"{slot}, reason, frames FROM streams_refusal",
        "quality": f"{slot}, models_version, frames, faces[1] FROM streams_quality",
    }
    where = "WHERE stream_id = %s ORDER BY 1, 2"
    found = {name: read(url, f"SELECT {query} {where}", stream_id) for name, query in queries.items()}
    return {name: [row for row in rows if row[-1]] for name, rows in found.items()}


sums = st.builds(
    SlotSums,
    watched_s=st.integers(0, 900_000).map(lambda milliseconds: milliseconds / 1000),
    blind_s=st.dictionaries(st.sampled_from(["dark", "black"]), st.integers(1, 10).map(float)),
    refused=st.dictionaries(st.sampled_from(["compute_busy", "journal_full"]), st.integers(1, 9)),
    quality=st.lists(
        st.builds(quality, st.integers(1, 50), st.sampled_from("ab")), max_size=2, unique_by=lambda one: one.models
    ),
)
batches = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.lists(st.builds(ToldSlot, st.integers(FIRST, FIRST + 2), st.integers(1, 5), sums), max_size=4),
    ),
    max_size=12,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(batches)
def test_the_tables_have_the_highest_revision_of_each_device_whatever_came_before(
    tables: str, batches: list[tuple[int, list[ToldSlot]]]
) -> None:
    stream_id = create_stream(tables)
    record(tables, *(report(stream_id, *slots, device=device) for device, slots in batches))
    newest: dict[tuple[int, int], ToldSlot] = {}
    for device, slots in batches:
        best: dict[int, ToldSlot] = {}
        for one in slots:  # of the same revision in one batch, the last
            if one.number not in best or one.revision >= best[one.number].revision:
                best[one.number] = one
        for one in best.values():
            key = (device, one.number)
            if key not in newest or one.revision > newest[key].revision:
                newest[key] = one
    assert all_rows(tables, stream_id) == expected_rows(newest.values())


def expected_rows(slots: Any) -> dict[str, list[tuple[Any, ...]]]:
    coverage: dict[Any, float] = {}
    blind: dict[Any, float] = {}
    refused: dict[Any, int] = {}
    seen: dict[Any, list[int]] = {}
    for one in slots:
        coverage[one.number,] = coverage.get((one.number,), 0) + one.sums.watched_s
        for fault, blind_s in one.sums.blind_s.items():
            blind[one.number, fault] = blind.get((one.number, fault), 0) + blind_s
        for reason, frames in one.sums.refused.items():
            refused[one.number, reason] = refused.get((one.number, reason), 0) + frames
        for part in one.sums.quality:
            both = seen.setdefault((one.number, part.models), [0, 0])
            both[0] += part.frames
            both[1] += part.faces[0]
    found = {
        "coverage": [(*key, round(amount, 3)) for key, amount in sorted(coverage.items())],
        "blind": [(*key, round(amount, 3)) for key, amount in sorted(blind.items())],
        "refused": [(*key, amount) for key, amount in sorted(refused.items())],
        "quality": [(*key, *amounts) for key, amounts in sorted(seen.items())],
    }
    return {name: [row for row in rows if row[-1]] for name, rows in found.items()}


def test_the_same_batch_five_times_changes_nothing(tables: str) -> None:
    stream_id = create_stream(tables)
    one = report(stream_id, told(0, 1, 300.0, refused={"compute_busy": 2}), told(1, 1, 20.0, quality=[quality(7)]))
    record(tables, one)
    once = all_rows(tables, stream_id), used_s(tables, stream_id)
    record(tables, one, one, one, one)
    assert (all_rows(tables, stream_id), used_s(tables, stream_id)) == once
    assert once[1] == {MONTH: 320.0}


def used_s(url: str, stream_id: int) -> dict[date, float]:
    rows = read(url, "SELECT month, video_s FROM streams_usage WHERE stream_id = %s AND video_s > 0", stream_id)
    return {row[0]: row[1] for row in rows}


def test_batches_at_the_same_moment_are_added_one_after_the_other(tables: str) -> None:
    stream_id = create_stream(tables)
    revisions = [report(stream_id, told(0, revision, 100.0 * revision)) for revision in range(1, 10)]

    async def run() -> None:
        async with open_pool(Settings(database_url=tables)) as pool:
            await asyncio.gather(*(record_report(pool, one) for one in revisions for _ in range(3)))

    asyncio.run(run())
    assert all_rows(tables, stream_id)["coverage"] == [(FIRST, 900.0)]
    assert used_s(tables, stream_id) == {MONTH: 900.0}


def test_sums_that_shrink_leave_nothing_behind_but_the_month_keeps_what_was_computed(tables: str) -> None:
    stream_id = create_stream(tables)
    first = told(0, 1, 500.0, blind_s={"dark": 30.0}, refused={"failed": 4}, quality=[quality(9)])
    record(tables, report(stream_id, first), report(stream_id, told(0, 2)))
    assert not any(all_rows(tables, stream_id).values())
    assert used_s(tables, stream_id) == {MONTH: 530.0}
    record(tables, report(stream_id, told(0, 3, 540.0)))
    assert used_s(tables, stream_id) == {MONTH: 540.0}


def test_each_second_counts_towards_the_month_in_which_it_was_computed(tables: str) -> None:
    stream_id = create_stream(tables)
    february = int(datetime(2027, 2, 1, tzinfo=UTC).timestamp()) // SLOT_S - FIRST
    record(tables, report(stream_id, told(february - 1, 1, 60.0), told(february, 1, 40.0)))
    assert used_s(tables, stream_id) == {MONTH: 60.0, date(2027, 2, 1): 40.0}


def test_a_device_that_told_something_is_there_now(tables: str) -> None:
    stream_id, silent = create_stream(tables), create_stream(tables)
    record(tables, report(stream_id, told(0, 1, 60.0)), report(silent))
    query = "SELECT now() - max(last_frame_at) < interval '1 minute' FROM streams_usage WHERE stream_id = %s"
    assert read(tables, query, stream_id) == [(True,)]
    assert read(tables, query, silent) == [(None,)]
    record(tables, report(silent, visit_slots=frozenset([FIRST])))
    assert read(tables, query, silent) == [(True,)]


def test_when_a_slot_first_and_last_arrived_is_kept(tables: str) -> None:
    stream_id = create_stream(tables)
    query = "SELECT first_at, last_at, revision FROM streams_devicecoverage WHERE stream_id = %s"
    record(tables, report(stream_id, told(0, 1, 60.0)))
    [(first_at, last_at, _)] = read(tables, query, stream_id)
    assert first_at == last_at
    record(tables, report(stream_id, told(0, 2, 70.0)), report(stream_id, told(0, 1, 60.0)))
    [(same_at, later_at, revision)] = read(tables, query, stream_id)
    assert (same_at, revision) == (first_at, 2)
    assert later_at > first_at


def test_another_stream_with_the_same_device_is_not_touched(tables: str) -> None:
    one, other = create_stream(tables), create_stream(tables)
    record(tables, report(one, told(0, 9, 60.0)), report(other, told(0, 1, 70.0)))
    assert all_rows(tables, one)["coverage"] == [(FIRST, 60.0)]
    assert all_rows(tables, other)["coverage"] == [(FIRST, 70.0)]


def test_a_stream_that_is_gone_takes_nothing(tables: str) -> None:
    [done] = record(tables, report(2**40, told(0, 1, 60.0)))
    assert done.verdicts.refused == {}
    assert read(tables, "SELECT 1 FROM streams_devicecoverage WHERE stream_id = %s", 2**40) == []


def judged(slots: Sequence[ToldSlot], *, used: float = 0.0, quota_s: float | None = 1000.0, **stored: Any) -> list[int]:
    """The numbers of those that are taken."""
    values: dict[str, Any] = {"known": {}, "others": {}} | stored
    verdicts = judge_slots(slots, StoredSlots(used_s={MONTH: used}, **values), quota_s=quota_s)
    return [change.told.number - FIRST for change in verdicts.changes]


def test_a_month_is_filled_oldest_slots_first() -> None:
    slots = [told(number, 1, 400.0) for number in (4, 2, 0, 1, 3)]
    assert judged(slots) == [0, 1, 2]
    assert judged(slots, used=1000.0) == []
    assert judged(slots, quota_s=None) == [0, 1, 2, 3, 4]
    assert judged([told(0, 1)], used=5000.0) == [0], "that nothing was watched costs nothing"


def test_what_was_counted_before_does_not_count_again_towards_the_quota() -> None:
    known = {FIRST: KnownSlot(1, 400.0, SlotSums(watched_s=300.0))}
    assert judged([told(0, 2, 400.0)], used=1000.0, known=known) == [0]
    assert judged([told(0, 2, 400.5)], used=1000.0, known=known) == []


def test_a_slot_has_only_so_many_devices_and_versions() -> None:
    full = {FIRST: DEVICES_PER_SLOT}
    assert judged([told(0, 1, 1.0), told(1, 1, 1.0)], others=full) == [1]
    assert judged([told(0, 2, 1.0)], others=full, known={FIRST: KnownSlot(1)}) == [0]
    before = KnownSlot(1, 0.0, SlotSums(quality=[quality(1, version) for version in "abc"]))
    assert judged([told(0, 2, quality=[quality(1, "d")])], known={FIRST: before}) == [0]
    assert judged([told(0, 2, quality=[quality(1, "d"), quality(1, "e")])], known={FIRST: before}) == []


def test_visits_have_room_while_their_month_has_or_where_their_slot_is_taken() -> None:
    done = RecordedReport(judge_slots([], StoredSlots({}, {}, {}), quota_s=1.0), frozenset([FIRST]), {MONTH: 5.0}, 1.0)
    assert done.has_room(FIRST)
    assert not done.has_room(FIRST + 1)
    assert done.has_room(FIRST + 40 * 96)


def test_refusals_have_the_names_that_devices_know() -> None:
    assert set(DeviceRefusal) == {
        *("too_old", "in_future", "bad_intervals", "too_long", "too_many", "quota_exceeded", "closed", "bad_value")
    }


def test_when_a_device_had_handed_over_everything_is_kept(tables: str) -> None:
    stream_id, found = create_stream(tables), []
    query = f"SELECT first_at, whole_at FROM streams_devicecoverage WHERE stream_id = {stream_id}"
    for revision, whole in ((1, False), (2, True), (3, False), (4, True)):
        record(tables, report(stream_id, told(revision=revision, watched_s=revision), whole=whole))
        found += read(tables, query)
    first, *others = found
    assert first[1] is None
    assert len({whole_at for _, whole_at in others}) == 1
    assert others[0][1] > first[0]
