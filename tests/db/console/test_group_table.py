"""Numbers together as files: each number is that of the page and of its JSON, and of a count by hand."""

import csv
import io
import random
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pyarrow
import pytest
from django.test import Client
from pyarrow import parquet

from dashboard_numbers import cover, with_numbers, write
from memberships import share_stream
from onlooker.audit.models import AuditEntry
from onlooker.console.accounts.models import Account
from onlooker.console.dashboard.fleet_list import parse_filter
from onlooker.console.dashboard.group_page import StreamGroup, find_days
from onlooker.database import Pool
from onlooker.metrics.definitions import METRICS
from onlooker.metrics.fleet import FleetNumbers, FleetPeriod, read_group
from onlooker.streams.administration import create_stream
from onlooker.streams.bulk_changes import change_tags
from onlooker.streams.models import OpeningHours, Site, Stream
from onlooker.streams.notes import create_note
from onlooker.streams.organisations import organisation_of
from onlooker_pipeline.visits.visit import Visit
from recorder_process import visit
from shop_numbers import count, make_shops, watch

pytest_plugins = ["pages"]
FEWEST = 10
HEADLINES = ("passing_by", "interested", "conversion", "stop_time", "attention_time", "satisfaction", "stopped")
ZONES = ("Europe/Paris", "America/Los_Angeles", "Australia/Lord_Howe")
pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[[Account | None], Client]
TABLES = ("days", "totals", "changes")


def read_csv(browser: Client, table: str, query: str = "", **headers: str) -> list[dict[str, str]]:
    answer = browser.get(f"/streams/numbers/{table}.csv?{query}", headers=headers)
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/csv; charset=utf-8; header=present"
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def read_parquet(browser: Client, path: str) -> pyarrow.Table:
    answer = browser.get(path)
    assert answer["Content-Type"] == "application/vnd.apache.parquet"
    return parquet.read_table(io.BytesIO(answer.content), page_checksum_verification=True)


def as_cell(value: object) -> str:
    """As text. A count in a column of numbers has no decimals there."""
    return "" if value is None else str(value).removesuffix(".0")


def settle(row: dict[str, str]) -> dict[str, str]:
    """Without what is another a moment later."""
    moving = ("open", "watched_share", "period_hours")
    return {name: cell.removesuffix(".0") for name, cell in row.items() if name not in moving}


@dataclass
class Day:
    """What people did on a local day, counted by hand."""

    passing_by: int = 0
    still_s: list[float] = field(default_factory=list)
    """Of interested people."""


def as_number(cell: str) -> float | None:
    return float(cell) if cell else None


def read_page(page: str) -> dict[str, str]:
    """By metric, the value; empty where the page has a dash."""
    found = re.findall(r'<div data-metric="(\w+)" data-value="([^"]*)">.*?<strong>(.*?)</strong>', page, re.DOTALL)
    return {metric: "" if shown.startswith("\N{EN DASH}") else value for metric, value, shown in found}


def read_single_day(owner: Account, day: date) -> FleetNumbers:
    """By another statement than the file's, of the streams in whose last 365 days it is by their own clock."""
    now, streams = datetime.now(UTC), Stream.objects.filter(organisation=organisation_of(owner))
    ids = [one.pk for one in streams if day > now.astimezone(ZoneInfo(one.time_zone)).date() - timedelta(days=365)]

    async def act(pool: Pool) -> FleetNumbers:
        return await read_group(pool, ids, FleetPeriod(1, now, last_day=day))

    return with_numbers(act)


@pytest.fixture(params=[(1, 1), (1, 2), (5, 3), (5, 4)], ids=str)
def world(owner: Account, request: pytest.FixtureRequest) -> dict[date, Day]:
    """People at random times of a year, many of them when clocks change; streams of three zones, one with opening
    hours, and of all or none people are told about in groups."""
    groups_of, seed = request.param
    chance, days = random.Random(seed), defaultdict[date, Day](Day)
    for zone in ZONES:
        stream = create_stream(zone, owner=owner, kind="enterprise", time_zone=zone, groups_of=groups_of).stream
        begins = datetime.now(UTC) - timedelta(days=400)
        Stream.objects.filter(pk=stream.pk).update(retention_days=3650, created_at=begins, coverage_since=begins)
        if zone == ZONES[1]:
            hours = {"hours": "mo 09:00-12:00, tu-su 08:00-20:00", "time_zone": zone}
            OpeningHours.objects.create(stream=stream, since_at=begins, **hours)
        write(*draw_people(stream, chance, days))
    return days


def draw_people(stream: Stream, chance: random.Random, days: dict[date, Day]) -> list[Visit]:
    zone, made = ZoneInfo(stream.time_zone), []
    today = datetime.now(zone).date()
    chosen = [today - timedelta(days=number) for number in (*chance.sample(range(1, 365), 8), 364, 365)]
    for day in {*chosen, *find_changes(today, zone)}:
        midnight = datetime.combine(day, time(), zone).astimezone(UTC)
        length = datetime.combine(day + timedelta(days=1), time(), zone).astimezone(UTC) - midnight
        watched = midnight + timedelta(minutes=15 * chance.randrange(40))
        if chance.random() < 0.8:
            cover(stream, watched, watched + timedelta(hours=chance.randrange(1, 12)))
        for _ in range(chance.choice([0, 3, 12, 30])):
            start = round((midnight + length * chance.random() * 0.999).timestamp() * 1000)
            still_ms = chance.choice([1000, 3000, 4500, 7250])
            parts = {"present": [(start, start + 9000)], "still": [(start, start + still_ms)]}
            made.append(visit(stream.pk, began_ms=start, revision=5, looking=[(start, start + 2000)], **parts))
            if day > today - timedelta(days=365):
                days[day].passing_by += 1
                days[day].still_s += [still_ms / 1000] if still_ms >= 3000 else []
    return made


def find_changes(today: date, zone: ZoneInfo) -> list[date]:
    """Days of the year on which the clock changes."""
    days = [today - timedelta(days=number) for number in range(1, 364)]
    noons = [datetime.combine(day, time(), zone).utcoffset() for day in days]
    return [day for day, before, after in zip(days[1:], noons[1:], noons, strict=False) if before != after]


@pytest.mark.parametrize(
    ("zones", "moment", "first", "last"),
    [
        ([], "2026-11-19T23:30Z", "2026-11-13", "2026-11-19"),
        (["America/Los_Angeles"], "2026-11-20T03:00Z", "2026-11-13", "2026-11-19"),
        (["Pacific/Auckland"], "2026-11-19T20:00Z", "2026-11-14", "2026-11-20"),
        (["America/Los_Angeles", "Pacific/Auckland"], "2026-11-20T03:00Z", "2026-11-13", "2026-11-20"),
    ],
)
def test_days_are_those_of_the_streams_clocks(
    owner: Account, zones: list[str], moment: str, first: str, last: str
) -> None:
    for zone in zones:
        create_stream(zone, owner=owner, kind="enterprise", time_zone=zone)
    group = StreamGroup("All streams", [], parse_filter({}), 7, Stream.objects.all())
    assert [str(day) for day in find_days(group, datetime.fromisoformat(moment))] == [first, last]


def test_parquet_has_the_rows_of_each_csv_with_types(sign_in: SignIn, owner: Account, shops: list[Stream]) -> None:
    browser, site = sign_in(owner), Site.objects.get()
    for table in TABLES:
        query = f"days=7&site={site.pk}"
        found = read_parquet(browser, f"/streams/numbers/{table}.parquet?{query}")
        rows = read_csv(browser, table, query)
        typed = [{name: as_cell(value) for name, value in row.items()} for row in found.to_pylist()]
        assert [settle(row) for row in typed] == [settle(row) for row in rows]
        said = {name.decode(): text.decode() for name, text in found.schema.metadata.items()}
        assert (said["onlooker.group"], said["onlooker.site"], said["onlooker.stream_count"]) == (
            "North gate",
            str(site.pk),
            "2",
        )
        assert "onlooker.definitions" in said
    types = {one.name: str(one.type) for one in read_parquet(browser, "/streams/numbers/days.parquet").schema}
    assert (types["day"], types["passing_by"], types["stop_time"]) == ("date32[day]", "int64", "double")


@pytest.fixture
def shops(owner: Account) -> list[Stream]:
    """Two at a site, one of them tagged, and one elsewhere; the same weeks watched, the last with twice as many."""
    streams = make_shops(owner)
    for number, stream in enumerate(streams, start=1):
        watch(stream, days=14)
        count(stream, 40 * number, days_ago=3)
        count(stream, 20 * number, days_ago=10)
    return streams


def test_files_are_named_after_the_group_and_its_days_and_their_download_is_noted(
    sign_in: SignIn, owner: Account, shops: list[Stream]
) -> None:
    browser, site, today = sign_in(owner), Site.objects.get(), datetime.now(UTC).date()
    days = f"{today - timedelta(days=6)}-to-{today}"
    names = {"days": "north-gate", "totals": "north-gate-totals", "changes": "north-gate-changes"}
    for table in TABLES:
        for form in ("csv", "parquet"):
            answer = browser.get(f"/streams/numbers/{table}.{form}?days=7&site={site.pk}")
            assert answer["Content-Disposition"] == f'attachment; filename="{names[table]}-{days}.{form}"'
    entries = AuditEntry.objects.filter(action="numbers.exported")
    assert set(entries.values_list("stream_id", flat=True)) == {shops[0].pk, shops[1].pk}
    assert all(f'"from": "{today - timedelta(days=6)}T00:00:00' in entry.detail for entry in entries)


def test_files_are_the_same_for_a_reader_in_french(sign_in: SignIn, owner: Account, shops: list[Stream]) -> None:
    browser = sign_in(owner)
    for table in ("days", "changes"):
        english, french = (read_csv(browser, table, "days=7", **{"accept-language": one}) for one in ("en", "fr"))
        assert list(map(settle, french)) == list(map(settle, english))
    totals = browser.get("/streams/numbers/totals.csv?days=7", headers={"accept-language": "fr"})
    assert 'filename="all-streams-totals-' in totals["Content-Disposition"]
    assert b",1.0,5.0,5.0," in totals.content


def test_notes_are_in_the_rows_of_their_days(sign_in: SignIn, owner: Account, shops: list[Stream]) -> None:
    organisation, site, today = organisation_of(owner), Site.objects.get(), datetime.now(UTC).date()
    create_note(organisation, "=Sale", today - timedelta(days=3), today - timedelta(days=2), about=site)
    create_note(organisation, "Holiday", today - timedelta(days=2))
    create_note(organisation, "of a stream", today, about=shops[0])
    browser, query = sign_in(owner), f"days=7&site={site.pk}"
    assert [row["note"] for row in read_csv(browser, "days", query)][3:] == ["'=Sale", "'=Sale; Holiday", "", ""]
    assert [row["note"] for row in read_csv(browser, "totals", query)] == ["'=Sale; Holiday"]


def test_a_viewer_gets_files_of_visible_streams_alone(
    sign_in: SignIn, owner: Account, viewer: Account, shops: list[Stream]
) -> None:
    shops[2].refresh_from_db()
    share_stream(shops[2], viewer)
    browser, hidden = sign_in(viewer), Site.objects.get(name="North gate").pk
    [totals] = read_csv(browser, "totals", "days=7")
    assert (totals["passing_by"], totals["stream_count"]) == ("120", "1")
    for table in TABLES:
        for form in ("csv", "parquet"):
            for query in (f"site={hidden}", f"tag={shops[1].tag_links.get().tag_id}", "site=999"):
                assert browser.get(f"/streams/numbers/{table}.{form}?{query}").status_code == 404


def test_somebody_without_streams_gets_empty_files(sign_in: SignIn, stranger: Account, shops: list[Stream]) -> None:
    browser = sign_in(stranger)
    assert {row["gap"] for row in read_csv(browser, "days", "days=7")} == {"not_watched"}
    [totals] = read_csv(browser, "totals")
    assert (totals["stream_count"], totals["passing_by"], totals["watched_share"]) == ("0", "", "")
    assert {row["no_comparison"] for row in read_csv(browser, "changes")} == {"not_watched"}


def test_the_page_leads_to_the_files_of_what_it_shows(sign_in: SignIn, owner: Account, shops: list[Stream]) -> None:
    page = sign_in(owner).get(f"/streams/numbers/?days=90&site={Site.objects.get().pk}").content.decode()
    query = f"site={Site.objects.get().pk}&amp;days=90"
    for table in TABLES:
        for form in ("csv", "parquet"):
            assert f'class="download" href="/streams/numbers/{table}.{form}?{query}"' in page


def test_every_number_is_that_of_the_page_of_its_json_and_of_a_count_by_hand(
    sign_in: SignIn, owner: Account, world: dict[date, Day]
) -> None:
    browser, query = sign_in(owner), "days=365"
    told = browser.get(f"/streams/numbers.json?{query}").json()
    rows = {row["day"]: row for row in read_csv(browser, "days", query)}
    assert list(rows) == sorted(rows)
    todays = [datetime.now(ZoneInfo(zone)).date() for zone in ZONES]
    assert (min(rows), max(rows)) == (str(min(todays) - timedelta(days=364)), str(max(todays)))
    assert {day for day, row in rows.items() if not row["gap"]} == {day["day"] for day in told["by_day"]}
    for said in told["by_day"]:
        row, counted = rows[said["day"]], world[date.fromisoformat(said["day"])]
        assert [int(row["passing_by"]), int(row["interested"]), int(row["streams"]), float(row["watched"])] == [
            said[name] for name in ("passing_by", "interested", "streams", "watched_s")
        ]
        assert (int(row["passing_by"]), int(row["interested"])) == (counted.passing_by, len(counted.still_s))
        shares = counted.passing_by >= FEWEST and len(counted.still_s) / counted.passing_by
        assert as_number(row["conversion"]) == (shares if counted.passing_by >= FEWEST else None)
        alone = read_single_day(owner, date.fromisoformat(said["day"]))
        enough = alone.figures["told"] >= FEWEST
        assert as_number(row["stop_time"]) == (alone.values["stop_time"]["value"] if enough else None)
        if not Stream.objects.filter(groups_of__gt=1).exists():
            mean = sum(counted.still_s) / len(counted.still_s) if len(counted.still_s) >= FEWEST else None
            assert as_number(row["stop_time"]) == (None if mean is None else pytest.approx(mean, abs=1e-6))
    assert {row["passing_by"] for row in rows.values() if row["gap"]} <= {""}
    [totals] = read_csv(browser, "totals", query)
    page = browser.get(f"/streams/numbers/?{query}").content.decode()
    shown = read_page(page)
    assert tuple(shown) == HEADLINES
    assert {name: as_number(totals[name]) for name in HEADLINES} == {
        name: as_number(value) for name, value in shown.items()
    }
    assert int(totals["passing_by"]) == sum(day.passing_by for day in world.values())
    for name in ("category", "gender", "age", "emotion"):
        assert {part: int(totals[f"{name}_{part}"]) for part in METRICS[name].shape([0] * 20)} == told["metrics"][name]
    coverage = [told["coverage"][name] for name in ("watched_s", "share", "open_s", "blind_s")]
    found = [as_number(totals[name]) for name in ("watched", "watched_share", "open", "blind")]
    assert found == pytest.approx(coverage, abs=60), "a minute later some more was open"
    changes = {row["metric"]: row for row in read_csv(browser, "changes", query)}
    assert {row["no_comparison"] for row in changes.values()} == {told["comparison"]["reason"]}


def test_files_of_a_site_a_tag_and_all_are_of_their_streams(
    sign_in: SignIn, owner: Account, shops: list[Stream]
) -> None:
    browser, site, tag = sign_in(owner), Site.objects.get(), shops[1].tag_links.get().tag
    for query, people in ((f"site={site.pk}", 120), (f"tag={tag.pk}", 80), ("", 240), ("site=0", 120)):
        [totals] = read_csv(browser, "totals", f"days=7&{query}")
        assert (totals["passing_by"], totals["stop_time"], totals["gap"]) == (str(people), "5.0", "")
        assert sum(int(row["passing_by"] or 0) for row in read_csv(browser, "days", f"days=7&{query}")) == people
        [change, *_] = read_csv(browser, "changes", f"days=7&{query}")
        assert [change[name] for name in ("metric", "now", "before", "change", "direction")] == [
            "passing_by", str(people), str(people // 2), "2.0", "up"
        ]  # fmt: skip
        told = browser.get(f"/streams/numbers.json?days=7&{query}").json()["comparison"]
        for row in read_csv(browser, "changes", f"days=7&{query}"):
            if not row["no_comparison"]:
                said = told["changes"][row["metric"]]
                assert [as_number(row["now"]), as_number(row["before"])] == [said["now"], said["before"]]
                assert row["direction"] == said["direction"]


def test_what_the_page_refuses_is_in_no_file(sign_in: SignIn, owner: Account) -> None:
    """Of people in groups that are in no group yet, and of fewer than ten."""
    grouped = create_stream("Grouped", owner=owner, kind="enterprise", groups_of=12).stream
    few = create_stream("Few", owner=owner, kind="enterprise").stream
    never = create_stream("Never", owner=owner, kind="enterprise").stream
    organisation = organisation_of(owner)
    Stream.objects.update(created_at=datetime.now(UTC) - timedelta(days=300))
    for stream, people in ((grouped, 11), (few, 9)):
        change_tags(stream, organisation, added=[stream.name], removed=[])
        watch(stream, days=14)
        count(stream, people, days_ago=2)
        count(stream, people, days_ago=9)
    change_tags(never, organisation, added=["Never"], removed=[])
    browser = sign_in(owner)
    for stream in (grouped, few, never):
        query = f"days=7&tag={stream.tag_links.get().tag_id}"
        shown = read_page(browser.get(f"/streams/numbers/?{query}").content.decode())
        [totals] = read_csv(browser, "totals", query)
        assert {name: as_number(totals[name]) for name in HEADLINES} == {
            name: as_number(value) for name, value in shown.items()
        }
        assert (totals["stop_time"], totals["satisfaction"]) == ("", "")
        assert {row["stop_time"] for row in read_csv(browser, "days", query)} == {""}
        changes = {row["metric"]: row for row in read_csv(browser, "changes", query)}
        assert (changes["stop_time"]["now"], changes["stop_time"]["before"]) == ("", "")
    assert (totals["passing_by"], totals["gender_?"], totals["gap"]) == ("", "", "not_watched")
