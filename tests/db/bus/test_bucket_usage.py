"""A bucket that fills up is noticed: before it drops anything, and when it does."""

import asyncio
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from onlooker.bus import counters
from onlooker.bus.bucket_setup import prepare_buckets
from onlooker.bus.bucket_usage import (
    BucketUsage,
    BucketWatch,
    WatchedBucket,
    usage_of,
    watched_buckets,
)
from onlooker.bus.buckets import Bucket
from onlooker.bus.connection import Bus
from onlooker.bus.subjects import RESULTS
from onlooker.settings import Settings
from recorder_process import Recording, running_recording
from testkit import migrated_database

RESULT = b"x" * 10_000
DISK_BYTES = 40 * len(RESULT)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    with (
        migrated_database() as database_url,
        running_recording(database_url, tmp_path_factory.mktemp("recording")) as running,
    ):
        yield running


def shrink_results(recording: Recording) -> None:
    async def act(bus: Bus) -> None:
        settings = Settings(results_disk_bytes=DISK_BYTES)
        await prepare_buckets(bus.client.jetstream(timeout=10), settings)

    asyncio.run(recording.with_bus("setup", act))


def put_results(recording: Recording, count: int, *, first: int) -> None:
    async def act(bus: Bus) -> None:
        for number in range(first, first + count):
            await Bucket(bus, RESULTS, shards=1).put(f"1.{number}", RESULT)

    asyncio.run(recording.with_bus("gateway", act))


def test_a_bucket_warns_once_when_it_fills_and_says_when_it_drops(
    recording: Recording, caplog: pytest.LogCaptureFixture
) -> None:
    shrink_results(recording)

    async def measure(bus: Bus) -> list[dict[str, BucketUsage]]:
        watch = BucketWatch(bus, recording.settings)
        return [await watch.measure(), await watch.measure()]

    def warnings() -> list[tuple[str, str]]:
        return [
            (record.message, record.fields["raise_setting"])  # type: ignore[attr-defined]
            for record in caplog.records
            if record.levelno == logging.WARNING and record.fields["bucket"] == "results-0"  # type: ignore[attr-defined]
        ]

    for count, first, low, high, is_short, said in (
        (20, 0, 0.4, 0.7, False, []),
        (14, 20, 0.8, 0.95, False, ["a bucket fills up"]),
        (40, 34, 0.95, 1.0, True, ["a bucket fills up", "records vanish early"]),
    ):
        caplog.clear()
        put_results(recording, count, first=first)
        measured = asyncio.run(recording.with_bus("recorder", measure))[-1]
        assert low <= measured["results-0"].filled <= high
        assert (measured["results-0"].short_s > 0) is is_short
        assert warnings() == [(sentence, "ONLOOKER_RESULTS_DISK_BYTES") for sentence in said]
        assert set(measured) == {"session-states-0", "results-0", "visits"}
        assert counters.bucket_filled("results-0")._value.get() == measured["results-0"].filled
        assert counters.bucket_short("results-0")._value.get() == measured["results-0"].short_s


def answer(*, filled: float, oldest_s: float, messages: int = 10) -> bytes:
    now = datetime.now(UTC)
    state = {"messages": messages, "bytes": int(1000 * filled), "first_ts": now - timedelta(seconds=oldest_s)}
    return msgspec.json.encode({"config": {"max_bytes": 1000}, "state": state, "ts": now})


KEPT = WatchedBucket("results-0", "KV_results-0", "results_disk_bytes", 900.0)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (answer(filled=0.5, oldest_s=10), BucketUsage(0.5, 0.0)),
        (answer(filled=0.99, oldest_s=300), BucketUsage(0.99, 600.0)),
        (answer(filled=0.99, oldest_s=950), BucketUsage(0.99, 0.0)),
        (answer(filled=0.0, oldest_s=1e9, messages=0), BucketUsage(0.0, 0.0)),
    ],
)
def test_records_are_missed_only_where_a_bucket_is_full(said: bytes, expected: BucketUsage) -> None:
    assert usage_of(KEPT, said) == expected
    refusing = WatchedBucket("visits", "VISITS", "visits_disk_bytes")
    assert usage_of(refusing, said) == BucketUsage(expected.filled, 0.0)


def test_every_shard_is_watched() -> None:
    names = [bucket.name for bucket in watched_buckets(Settings(bucket_shards=2))]
    assert names == ["session-states-0", "session-states-1", "results-0", "results-1", "visits"]


@pytest.mark.parametrize(
    ("cluster", "has_leader"), [(None, True), ({"leader": "bus-1"}, True), ({"leader": ""}, False), ({}, False)]
)
def test_a_bucket_of_a_cluster_without_a_leader_is_noticed(cluster: dict[str, str] | None, has_leader: bool) -> None:
    said = msgspec.json.decode(answer(filled=0.5, oldest_s=10)) | ({} if cluster is None else {"cluster": cluster})
    assert usage_of(KEPT, msgspec.json.encode(said)).has_leader is has_leader


def test_a_bucket_that_nobody_answers_for_has_no_leader_and_one_that_answers_has(recording: Recording) -> None:
    async def measure(bus: Bus) -> None:
        watch = BucketWatch(bus, recording.settings)
        await watch.measure()
        watch._buckets = [WatchedBucket("feeds-0", "KV_feeds-0", "results_disk_bytes", 60.0)]
        await watch.measure()

    asyncio.run(recording.with_bus("recorder", measure))
    assert [counters.bucket_leader(name)._value.get() for name in ("results-0", "visits", "feeds-0")] == [1, 1, 0]
