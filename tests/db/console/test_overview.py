"""The overview: a stream's last days, its numbers against those before, its place, and what was not watched."""

import asyncio
import re
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec
import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from psycopg.conninfo import make_conninfo

from memberships import share_stream
from onlooker.console.accounts.models import Account
from onlooker.console.dashboard import overview
from onlooker.console.dashboard.fleet_list import parse_filter
from onlooker.console.dashboard.overview import make_headings
from onlooker.console.dashboard.period import parse_period
from onlooker.console.dashboard.recent_days import (
    LEAST_HEIGHT,
    SPARKLINE_HEIGHT,
    OverviewDay,
    RecentDays,
    draw_sparkline,
    rank_streams,
    read_days_of_many,
    read_recent_days,
)
from onlooker.database import Pool, open_pool
from onlooker.metrics.changes import compare_counts
from onlooker.metrics.comparison import Comparison, LikeTime, NoComparison
from onlooker.metrics.definitions import Figures
from onlooker.metrics.like_time import SlotPairs, TimeRange
from onlooker.metrics.rollup import fill_slots
from onlooker.metrics.stream_ranks import SlotTally, WeekProfile
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Coverage, DeviceCoverage, Stream
from onlooker.visits.partitions import Partitions
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.visits.visit import Visit

pytest_plugins = ["pages"]

SignIn = Callable[[Account | None], Client]
NOW = datetime(2026, 11, 11, 12, tzinfo=UTC)
DAY_S = 86_400


def glance_of(*people: int | None, before: int | None = None) -> RecentDays:
    """None: the camera was off. Before, it was off, or watched for as many days."""
    period = parse_period({"period": "7d"}, zone=ZoneInfo("UTC"), now=NOW)
    begins = [period.from_at + timedelta(days=number) for number in range(len(people))]
    days = [
        OverviewDay(at, count or 0, "" if count is not None else "offline")
        for at, count in zip(begins, people, strict=True)
    ]
    total = sum(day.passing_by for day in days)
    numbers = {"passing_by": total, "interested": total // 4, "conversion": total // 4 / total if total else None}
    watched_s = DAY_S * sum(count is not None for count in people)
    pairs = (SlotPairs(0, 0, watched_s),) if watched_s else ()
    reason = NoComparison.NOT_WATCHED_BEFORE if before is None else None
    like = LikeTime(
        TimeRange(period.before_from_at, period.before_to_at),
        DAY_S * len(people),
        tuple(pair.now for pair in pairs),
        pairs,
        reason,
    )
    clusters: dict[str, list[Figures]] = {"passing_by": [(total,)], "interested": [(total // 4,)]}
    changes = {
        name: {"value": compare_counts(figures[0][0], (before or 0) // (1 if name == "passing_by" else 4), exposure=1)}
        for name, figures in clusters.items()
    }
    comparison = Comparison(like, {} if reason else changes, clusters, (0.0, float(DAY_S)), exact=True)
    tallies = {number: SlotTally(1, count, count // 4) for number, count in enumerate(people) if count is not None}
    return RecentDays(period, tuple(days), numbers, comparison, WeekProfile(tallies, 3 * watched_s >= like.length_s))


def test_a_day_without_a_camera_is_no_low_bar() -> None:
    spark = draw_sparkline(glance_of(10, 0, None, 20).days)
    bars = re.findall(r'class="(\w+)" x="(\d+)" y="([\d.]+)" width="10" height="([\d.]+)"', spark.bars)
    assert [(kind, float(height)) for kind, _, _, height in bars] == [
        ("day", SPARKLINE_HEIGHT / 2),
        ("day", LEAST_HEIGHT),
        ("gap", SPARKLINE_HEIGHT),
        ("day", SPARKLINE_HEIGHT),
    ]
    assert all(float(y) + float(height) == SPARKLINE_HEIGHT for _, _, y, height in bars)
    assert "<title>Sat 7 Nov: offline</title>" in spark.bars
    assert spark.words == "Passing by. Thu 5 Nov: 10; Fri 6 Nov: 0; Sat 7 Nov: offline; Sun 8 Nov: 20."


def test_numbers_are_compared_with_those_before_where_there_were_some() -> None:
    grown, alike, new = glance_of(300, 300, before=400), glance_of(30, 30, before=56), glance_of(30, 30)
    assert (grown.figures[0].change.direction, grown.figures[0].change.words) == ("up", "50 % more")
    assert [figure.change.words for figure in alike.figures] == ["about the same"] * 3
    assert [figure.change.direction for figure in new.figures] == ["none"] * 3
    assert {figure.change.words for figure in new.figures} == {"no comparison: the earlier period was not watched"}
    assert [figure.value for figure in new.figures] == ["60", "15", "0.25"]


def test_no_conversion_is_told_of_fewer_than_ten_people() -> None:
    assert [figure.value for figure in glance_of(5, 4, before=9).figures] == ["9", "2", ""]


def test_equal_streams_share_a_place_and_the_unwatched_have_none() -> None:
    glances = {1: glance_of(5), 2: glance_of(9), 3: glance_of(5), 4: glance_of(None), 5: glance_of(0)}
    assert rank_streams(glances.items(), "passing_by") == {2: 1, 1: 2, 3: 2, 5: 4}


def test_a_stream_that_was_off_for_a_day_is_ranked_by_the_others() -> None:
    """It has fewer people in all, and more on each day on which it watched."""
    glances = {1: glance_of(20, 20, 20), 2: glance_of(26, 26, None), 3: glance_of(90, None, None, None)}
    assert rank_streams(glances.items(), "passing_by") == {2: 1, 1: 2}
    assert [days.coverage for days in glances.values()] == ["100 %", "67 %", "25 %"]


@pytest.mark.parametrize(
    ("text", "sorted_by", "turned"),
    [
        ("name", ("name", "ascending"), "-name"),
        ("-name", ("name", "descending"), "name"),
        ("interested", ("interested", "descending"), "-interested"),
        ("-conversion", ("conversion", "ascending"), "conversion"),
    ],
)
def test_a_heading_says_the_order_and_turns_it_round(text: str, sorted_by: tuple[str, str], turned: str) -> None:
    asked = parse_filter({"sort": text, "q": "door", "after": "7"})
    [heading] = [heading for heading in make_headings(asked) if heading.aria_sort]
    assert (heading.column, heading.aria_sort) == sorted_by
    assert heading.address == f"q=door&sort={turned}"


@pytest.mark.parametrize("text", ["", "organisation__memberships__account__password", "problem"])
def test_problems_come_first_unless_a_column_is_chosen(text: str) -> None:
    asked = parse_filter({"sort": text})
    assert asked.order.column == "problem"
    assert not any(heading.aria_sort for heading in make_headings(asked))


def run_with_pool(do: Callable[[Pool], object]) -> object:
    """With a pool on the tests' database."""

    async def run() -> object:
        url = make_conninfo(settings.ONLOOKER.database_url, dbname=connection.settings_dict["NAME"])
        async with open_pool(msgspec.structs.replace(settings.ONLOOKER, database_url=url)) as pool:
            return await do(pool)  # type: ignore[misc]

    return asyncio.run(run())


def write_people(stream: Stream, count: int, *, ago: timedelta, stop_s: int = 0) -> None:
    at_ms = int((datetime.now(UTC) - ago).timestamp() * 1000)
    stop = [(at_ms, at_ms + stop_s * 1000)] if stop_s else []
    visits = [
        Visit(bytes([count, *range(14), number]), stream.id, "test", 1, True, [(at_ms, at_ms + 60_000)], stop, stop)
        for number in range(count)
    ]

    async def write(pool: Pool) -> None:
        assert not await VisitWriter(pool, Partitions(pool)).write(visits)
        await fill_slots(pool, due_s=0)

    run_with_pool(write)


def watch(stream: Stream, *, days: int) -> None:
    """The camera was on for so many days before now."""
    slot = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    slots = [slot - timedelta(minutes=15 * number) for number in range(days * 96)]
    Coverage.objects.bulk_create([Coverage(stream=stream, slot_at=at, video_s=900) for at in slots])


def rows_of(page: str) -> dict[str, dict[str, str]]:
    """The numbers of each stream, by its name."""
    found = {}
    for row in re.findall(r"<tr data-stream=.*?</tr>", page, re.DOTALL):
        [name] = re.findall(r'id="stream-\d+"[^>]*>([^<]+)</a>', row)
        found[name] = dict(re.findall(r'data-metric="(\w+)" data-value="([^"]*)"', row))
    return found


@pytest.mark.django_db(transaction=True)
def test_streams_are_shown_with_their_numbers_and_in_the_order_asked_for(sign_in: SignIn, owner: Account) -> None:
    quiet, busy, off = (
        create_stream(name, owner=owner, kind="enterprise").stream for name in ("A quiet one", "Busy", "Camera off")
    )
    Stream.objects.update(created_at=datetime.now(UTC) - timedelta(days=30))
    write_people(quiet, 2, ago=timedelta(days=2))
    write_people(busy, 4, ago=timedelta(days=2))
    write_people(busy, 3, ago=timedelta(days=3), stop_s=5)
    write_people(busy, 5, ago=timedelta(days=9))
    watch(busy, days=20)
    page = sign_in(owner).get("/streams/?sort=passing_by").content.decode()
    rows = rows_of(page)
    assert list(rows) == ["Busy", "A quiet one", "Camera off"]
    assert rows["Busy"] == {"passing_by": "7", "interested": "3", "conversion": ""}
    assert "about the same" in page
    assert "40 % more; 95 % interval: " in page
    assert "compared over " in page
    assert rows["Camera off"] == {"passing_by": "0", "interested": "0", "conversion": ""}
    assert page.count("offline") >= 6
    assert 'aria-sort="descending"' in page
    assert 'hx-get="/streams/?sort=passing_by"' in page
    assert '<strong data-total="passing_by">9</strong>' in page
    assert f'<a id="stream-{off.pk}" href="/streams/{off.client_id}/">' in page, "no frame yet: its set-up"


@pytest.mark.django_db(transaction=True)
def test_days_without_people_are_gaps_only_where_nobody_watched(owner: Account) -> None:
    stream = create_stream("Front door", owner=owner, kind="enterprise").stream
    watch(stream, days=3)

    async def read(pool: Pool) -> RecentDays:
        return await read_recent_days(pool, stream, now=datetime.now(UTC))

    glance = run_with_pool(read)
    assert isinstance(glance, RecentDays)
    assert [bool(day.gap) for day in glance.days[:3]] == [True] * 3
    assert [bool(day.gap) for day in glance.days[-3:]] == [False] * 3
    assert glance.is_watched


@pytest.mark.django_db(transaction=True)
def test_who_sees_very_many_streams_has_their_numbers_by_days_without_places(
    sign_in: SignIn, owner: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "RANKED_AT_MOST", 2)
    streams = [create_stream(name, owner=owner, kind="enterprise").stream for name in ("C", "B", "A")]
    Stream.objects.update(created_at=datetime.now(UTC) - timedelta(days=30))
    write_people(streams[0], 12, ago=timedelta(days=2), stop_s=5)
    write_people(streams[1], 4, ago=timedelta(days=2))
    page = sign_in(owner).get("/streams/?sort=-passing_by").content.decode()
    assert rows_of(page) == {
        "B": {"passing_by": "4", "interested": "0", "conversion": ""},
        "C": {"passing_by": "12", "interested": "12", "conversion": "1.0"},
        "A": {"passing_by": "0", "interested": "0", "conversion": ""},
    }
    assert list(rows_of(page)) == ["B", "C", "A"]
    assert 'data-label="Rank"' not in page
    assert "days that were watched alike" in page


@pytest.mark.django_db(transaction=True)
def test_days_read_together_are_those_read_by_themselves(owner: Account) -> None:
    stream = create_stream("Front door", owner=owner, kind="enterprise").stream
    Stream.objects.update(created_at=datetime.now(UTC) - timedelta(days=30))
    write_people(stream, 7, ago=timedelta(days=2))
    watch(stream, days=5)

    async def read(pool: Pool) -> tuple[RecentDays, RecentDays]:
        now = datetime.now(UTC)
        return await read_recent_days(pool, stream, now=now), (await read_days_of_many(pool, [stream], now=now))[
            stream.id
        ]

    found = run_with_pool(read)
    assert isinstance(found, tuple)
    alone, together = found
    assert together.numbers == alone.numbers
    assert [(day.begins_at, day.passing_by, bool(day.gap)) for day in together.days] == [
        (day.begins_at, day.passing_by, bool(day.gap)) for day in alone.days
    ]
    assert (together.period.from_at.date(), together.is_watched) == (alone.period.from_at.date(), True)


def test_a_viewer_is_led_to_the_dashboard_and_not_to_settings(sign_in: SignIn, owner: Account, viewer: Account) -> None:
    stream = create_stream("Front door", owner=owner, kind="enterprise").stream
    share_stream(stream, viewer)
    page = sign_in(viewer).get("/streams/").content.decode()
    assert f'href="/streams/{stream.client_id}/dashboard/"' in page
    assert "Set up" not in page
    assert "settings" not in page


@pytest.mark.django_db(transaction=True)
def test_a_stream_that_its_device_computes_is_marked(sign_in: SignIn, owner: Account) -> None:
    at_server, at_device = (
        create_stream(name, owner=owner, kind="enterprise").stream for name in ("At the server", "At the device")
    )
    Stream.objects.update(created_at=datetime.now(UTC) - timedelta(days=30))
    for stream in (at_server, at_device):
        watch(stream, days=1)
    sums = {"revision": 1, "watched_s": 900, "counted_s": 900, "sums": {}}
    DeviceCoverage.objects.bulk_create(
        DeviceCoverage(stream=at_device, device=uuid.UUID(int=1), slot_at=at, first_at=at, last_at=at, **sums)
        for at in Coverage.objects.filter(stream=at_device).values_list("slot_at", flat=True)
    )
    page = sign_in(owner).get("/streams/").content.decode()
    assert page.count("Computed on the device") == 1
