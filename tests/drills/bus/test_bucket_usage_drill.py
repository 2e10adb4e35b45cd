"""A bucket that fills up is noticed: before it drops anything, and when it does."""

import asyncio
from collections.abc import Iterator

import pytest

from onlooker.bus.bucket_usage import (
    BucketUsage,
    BucketWatch,
    WatchedBucket,
)
from onlooker.bus.connection import Bus
from recorder_process import Recording, running_recording
from testkit import migrated_database


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    with (
        migrated_database() as database_url,
        running_recording(database_url, tmp_path_factory.mktemp("recording")) as running,
    ):
        yield running


def test_what_the_bus_does_not_tell_is_said_once(recording: Recording, caplog: pytest.LogCaptureFixture) -> None:
    """A bus of the release before does not let a recorder ask; nothing else suffers."""

    async def measure(bus: Bus) -> list[dict[str, BucketUsage]]:
        watch = BucketWatch(bus, recording.settings)
        watch._buckets = [WatchedBucket("feeds-0", "KV_feeds-0", "results_disk_bytes", 60.0)]
        return [await watch.measure(), await watch.measure()]

    assert asyncio.run(recording.with_bus("recorder", measure)) == [{}, {}]
    assert [record.message for record in caplog.records].count("the use of a bucket can't be read") == 1
