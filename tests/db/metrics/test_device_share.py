"""What devices computed by themselves: what was watched twice counts once, and how late it arrived is told."""

import uuid
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import psycopg
import pytest

from onlooker.console.dashboard.report import describe_device
from onlooker.database import Pool
from onlooker.metrics.buckets import page_buckets
from onlooker.metrics.coverage import read_coverage, read_watched
from onlooker.metrics.device_share import DeviceShare, read_device_share
from onlooker.metrics.query import Query, Time
from onlooker.streams.device_coverage import DeviceReport, SlotSums, ToldSlot, record_report
from recorder_process import create_stream, with_pool

pytest_plugins = ["migrated"]
NOON = datetime(2026, 5, 31, 12, tzinfo=UTC)
LATER = NOON + timedelta(days=10)
FIRST = int(NOON.timestamp()) // 900


def hour(stream_id: int) -> Query:
    return Query(stream_id, ("passing_by",), NOON, NOON + timedelta(hours=1), ZoneInfo("UTC"), Time.GLOBAL)


def tell(url: str, stream_id: int, *watched_s: float, device: int = 1) -> None:
    slots = [ToldSlot(FIRST + place, 1, SlotSums(watched_s=seconds)) for place, seconds in enumerate(watched_s)]
    report = DeviceReport(stream_id, uuid.UUID(int=device), slots, frozenset(), None)

    async def act(pool: Pool) -> None:
        await record_report(pool, report)

    with_pool(url, act)


def compute_on_server(url: str, stream_id: int, video_s: float, *, slots: int) -> None:
    rows = [(stream_id, NOON + place * timedelta(minutes=15), video_s) for place in range(slots)]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.cursor().executemany(
            """INSERT INTO streams_coverage AS known (stream_id, slot_at, video_s) VALUES (%s, %s, %s)
               ON CONFLICT (stream_id, slot_at) DO UPDATE SET video_s = known.video_s + excluded.video_s""",
            rows,
        )


def covered_s(url: str, stream_id: int) -> tuple[float, float]:
    """By both ways in which coverage is read."""
    found: list[float] = []

    async def act(pool: Pool) -> None:
        query = hour(stream_id)
        buckets = page_buckets(query, first=0, count=1)
        [coverage] = await read_coverage(pool, query, buckets, now=LATER)
        [watched] = await read_watched(pool, query, buckets, now=LATER)
        found.extend((coverage.covered_s, watched.covered_s))

    with_pool(url, act)
    return found[0], found[1]


def share_of(url: str, stream_id: int) -> DeviceShare:
    found: list[DeviceShare] = []

    async def act(pool: Pool) -> None:
        found.append(await read_device_share(pool, hour(stream_id)))

    with_pool(url, act)
    return found[0]


@pytest.mark.parametrize("device_first", [True, False])
def test_an_hour_that_server_and_devices_watched_is_an_hour(url: str, device_first: bool) -> None:
    stream_id = create_stream(url)
    if not device_first:
        compute_on_server(url, stream_id, 900, slots=2)
    for device in (1, 2):
        tell(url, stream_id, 900, 900, 450, device=device)
    if device_first:
        compute_on_server(url, stream_id, 900, slots=2)
    assert covered_s(url, stream_id) == (2700.0, 2700.0)


def test_what_arrives_again_counts_once(url: str) -> None:
    stream_id = create_stream(url)
    for _ in range(5):
        tell(url, stream_id, 300)
    assert covered_s(url, stream_id) == (300.0, 300.0)


def test_the_share_of_devices_and_how_late_it_came(url: str) -> None:
    stream_id, other = create_stream(url), create_stream(url)
    assert share_of(url, stream_id) == DeviceShare()
    tell(url, stream_id, 600, 300)
    tell(url, other, 900)
    moved = "UPDATE streams_devicecoverage SET first_at = slot_at + interval '3 days 15 minutes' WHERE stream_id = %s"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(moved, [stream_id])
    assert share_of(url, stream_id) == DeviceShare(900.0, 3 * 86_400.0)


@pytest.mark.parametrize(
    ("share", "covered", "words"),
    [
        (DeviceShare(), 900.0, ""),
        (DeviceShare(900.0, 60.0), 900.0, "Computed on the device"),
        (DeviceShare(1800.0, 60.0), 900.0, "Computed on the device"),
        (DeviceShare(450.0, 60.0), 900.0, "50 % computed on the device"),
        (DeviceShare(900.0, 3700.0), 900.0, "Computed on the device; part of it arrived up to 1 hour later"),
        (DeviceShare(900.0, 3.1 * 86_400), 900.0, "Computed on the device; part of it arrived up to 3 days later"),
        (DeviceShare(900.0, 60.0), 0.0, ""),
    ],
)
def test_it_is_said_in_words(share: DeviceShare, covered: float, words: str) -> None:
    assert describe_device(share, covered) == words
