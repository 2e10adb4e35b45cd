"""Who, and how long: every number of the section and of filtered headlines is the data endpoint's."""

import html
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from urllib.parse import parse_qs
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings
from django.test import Client

from breakdown_pages import WEEK, ShownSection, segment, show_section
from dashboard_numbers import cover, seen, show, with_numbers, write
from memberships import share_stream
from onlooker.console.accounts.models import Account
from onlooker.console.breakdowns import headlines
from onlooker.console.breakdowns.cell_numbers import CellSource
from onlooker.console.breakdowns.part_names import name_part
from onlooker.console.breakdowns.people_cells import PeopleCells, read_cells
from onlooker.console.breakdowns.selection import CHOICES, parse_selection
from onlooker.console.breakdowns.stays import STAY_KINDS
from onlooker.console.dashboard.figures import FIGURE_KINDS, HEADLINES, NO_VALUE, as_json
from onlooker.console.dashboard.period import PeriodError
from onlooker.console.dashboard.report import draw_week
from onlooker.database import Pool, open_direct_pool
from onlooker.metrics import cells
from onlooker.metrics.breakdown import CellQuery, parse_breakdown
from onlooker.metrics.changes import FEWEST_PEOPLE
from onlooker.metrics.definitions import METRICS
from onlooker.metrics.dimensions import DIMENSIONS, STAY_BANDS
from onlooker.metrics.execution import run_query
from onlooker.metrics.intervals import mean_interval, sample_mean
from onlooker.metrics.query import Query, Time
from onlooker.streams.administration import create_stream, set_stream
from onlooker.streams.models import OpeningHours, Stream, Usage
from onlooker_pipeline.visits.visit import Visit

pytest_plugins = ["pages"]
FILTERED = ("", "gender:female", "weekday:mon,weekday:tue")
pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[[Account | None], Client]
Cell = dict[str, Any]
MONDAY = datetime(2026, 11, 1, 23, tzinfo=UTC)  # midnight in Paris
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
HTMX = {"hx-request": "true"}
FILTERS = (
    "",
    "gender:female",
    "age:25-34,gender:female",
    "weekday:sat,weekday:sun",
    "hour_of_day:09,age:65%2B,age:35-44",
    "stop_band:5-10",
    "emotion:happiness,gender:%3F",
)


@pytest.fixture
def stream(owner: Account) -> Stream:
    made = create_stream("Front door", owner=owner, kind="enterprise", time_zone="Europe/Paris").stream
    Stream.objects.filter(pk=made.pk).update(created_at=MONDAY - 400 * DAY, retention_days=3650, reads_expression=True)
    Usage.objects.create(stream=made, month="2026-11-01", video_s=1, last_frame_at=MONDAY + 8 * DAY)
    made.refresh_from_db()
    return made


def draw_visits(stream: Stream, random: Random, count: int) -> Iterator[Visit]:
    """People of a week, most of them around noon; some of nobody knows what age or gender."""
    for _ in range(count):
        hour = min(23.9, max(0.0, random.gauss(11, 3)))
        at = MONDAY + random.randrange(7) * DAY + hour * HOUR
        start = int(at.timestamp() * 1000)
        stays_ms, looks_ms = (random.choice((500, 2500, 3000, 7000, 12_000, 40_000)) for _ in range(2))
        traits: dict[str, Any] = {
            "still": [(start, start + stays_ms)],
            "looking": [(start, start + looks_ms)],
            "present": [(start, start + max(stays_ms, looks_ms) + random.randrange(200_000))],
            "gender": random.choice(("female", "male", None)),
            "gender_confidence": random.choice((0.9, 0.9, 0.2)),
            "age": random.choice((None, random.uniform(3, 90))),
            "age_confidence": 0.9,
            "expression": random.choice((None, (0.1, 0.7, 0.1, 0.05, 0.05), (0.7, 0.1, 0.1, 0.05, 0.05))),
        }
        yield seen(stream, at, **traits)


@pytest.fixture
def busy(stream: Stream) -> Stream:
    """A week of 900 people; Sunday was not watched, Saturday by half."""
    cover(stream, MONDAY, MONDAY + 5 * DAY)
    cover(stream, MONDAY + 5 * DAY + 8 * HOUR + HOUR / 2, MONDAY + 5 * DAY + 20 * HOUR)
    write(*draw_visits(stream, Random(20261115), 900))
    return stream


def ask(
    stream: Stream,
    by: Sequence[str] = (),
    *,
    time: str = "global",
    kept: str = "",
    metrics: Sequence[str] = tuple(METRICS),
) -> dict[str, dict[str, Any]]:
    """What the data endpoint answers for this week."""
    named = {"filter": kept.replace("%2B", "+").replace("%3F", "?")} if kept else {}
    filters = parse_breakdown(named, shown=repr).filters
    breakdown = CellQuery(tuple(by), filters)
    query = Query(
        stream.pk, tuple(metrics), MONDAY, MONDAY + 7 * DAY, ZoneInfo(stream.time_zone), Time(time), breakdown=breakdown
    )

    async def act(pool: Pool) -> dict[str, dict[str, Any]]:
        entities: dict[str, dict[str, Any]] = {}
        page, pages = 0, 1
        while page < pages:
            page += 1
            answer = await run_query(pool, query, page)
            entities |= answer.entities
            pages = answer.nb_of_pages
        return entities

    return with_numbers(act)


def ask_cells(stream: Stream, *by: str, kept: str = "") -> dict[tuple[str, ...], Cell]:
    (bucket,) = ask(stream, by, kept=kept).values()
    return {tuple(cell["by"].values()): cell for cell in bucket["cells"]}


def told(metric: str, values: Cell) -> float | None:
    """What a page tells of a cell."""
    passing_by, interested = values["passing_by"]["value"], values["interested"]["value"]
    if metric == "conversion":
        return interested / passing_by if passing_by >= FEWEST_PEOPLE else None
    people = sum(count for part, count in values["emotion"].items() if part != "?")
    if METRICS[metric].unit != "people" and (people if metric == "satisfaction" else interested) < FEWEST_PEOPLE:
        return None
    number: float | None = values[metric]["value"]
    return number


def compare_means(shown: ShownSection, busy: Stream, mean: str, across: str, kept: str) -> None:
    dimensions = across.split(",")
    found = ask_cells(busy, *dimensions, kept=kept)
    hours = ask(busy, dimensions, time="by_hour", kept=kept, metrics=(mean, "interested"))
    rows = {tuple(row["key"].split(".")): row for row in shown.charts["means"]["rows"]}
    assert set(rows) == set(found)
    assert kept or any(row["value"] for row in rows.values())
    for parts, row in rows.items():
        assert row["value"] == told(mean, found[parts])
        assert row["people"] == found[parts]["interested"]["value"]
        if row["value"] is None:
            assert (row["shown"], row["interval"]) == (NO_VALUE, None)
            continue
        clusters = [cell for hour in hours.values() for cell in hour["cells"] if tuple(cell["by"].values()) == parts]
        sample = sample_mean(
            ((one[mean]["value"] or 0) * one["interested"]["value"], one["interested"]["value"]) for one in clusters
        )
        assert sample
        interval = mean_interval(sample)
        assert row["interval"] == pytest.approx([interval.low, interval.high], rel=1e-6)
    table = {row[0]: row[1:] for row in shown.tables["means"][1:]}
    for row in rows.values():
        assert table[row["name"]] == [row["shown"], row["shownInterval"], str(row["people"])]


def compare_stays(shown: ShownSection, busy: Stream, stay: str, kept: str) -> None:
    kind = STAY_KINDS[stay]
    found = {parts[0]: cell[kind.metric]["value"] for parts, cell in ask_cells(busy, stay, kept=kept).items()}
    bars = {band: count for band, _, count, _ in shown.charts["stays"]["bands"]}
    assert bars == {band: count for band, count in found.items() if STAY_BANDS.index(band) >= kind.first}
    assert sum(bars.values()) == sum(found.values()) > 0  # nobody is in a band that is left out
    assert [row[1] for row in shown.tables["stays"][1:]] == [str(count) for count in bars.values()]


def compare_week(shown: ShownSection, busy: Stream, heat: str, kept: str) -> None:
    data = shown.charts["heat"]
    values = [value for day in data["values"] for value in day]
    found = ask_cells(busy, "weekday", "hour_of_day", kept=kept)
    if not data["isRate"]:
        places = [(day, hour) for day in DIMENSIONS["weekday"].parts for hour in DIMENSIONS["hour_of_day"].parts]
        assert values == [told(heat, found[place]) if place in found else None for place in places]
        return
    hours = ask(busy, time="by_hour", kept=kept, metrics=(heat, "watched"))
    counts = [values[heat]["value"] for values in hours.values()]
    watched = [values["watched"]["value"] for values in hours.values()]
    expected = [value for day in draw_week(list(range(168)), counts, watched) for value in day]
    assert values == pytest.approx(expected)
    asked = {24 * list(DIMENSIONS["weekday"].parts).index(day) + int(hour) for day, hour in found}
    assert set(data["outside"]) == set(range(168)) - asked


def is_open(key: str) -> bool:
    at = datetime.fromisoformat(key)
    return at.weekday() < 5 and 9 <= at.hour + at.minute / 60 < 12.5


@pytest.fixture
def visited(stream: Stream) -> Stream:
    """A week of a few people."""
    cover(stream, MONDAY, MONDAY + 5 * DAY)
    write(*draw_visits(stream, Random(20261115), 40))
    return stream


@pytest.mark.parametrize("kept", FILTERS)
def test_ages_and_genders_are_the_data_endpoints(sign_in: SignIn, owner: Account, busy: Stream, kept: str) -> None:
    shown = show_section(sign_in(owner), busy, f"{WEEK}&filter={kept}")
    found = {parts: cell["interested"]["value"] for parts, cell in ask_cells(busy, "age", "gender", kept=kept).items()}
    total = sum(found.values())
    assert total or "No interested person matches." in shown.page
    data = shown.charts["pyramid"]
    drawn = {
        (age, gender): count
        for (age, _), row in zip(data["ages"], data["counts"], strict=True)
        for (gender, _), count in zip(data["genders"], row, strict=True)
    }
    assert drawn == found
    if total:
        rows = {row[0]: row[1:] for row in shown.tables["pyramid"]}
        for (age, gender), count in found.items():
            place = [key for key, _ in data["genders"]].index(gender)
            assert rows[name_part("age", age)][place] == str(count)
        assert rows["All ages"][len(data["genders"])] == str(total)


@pytest.mark.parametrize("kept", FILTERS[1:])
def test_headline_numbers_obey_the_filter(sign_in: SignIn, owner: Account, busy: Stream, kept: str) -> None:
    shown = show(sign_in(owner), busy, f"{WEEK}&filter={kept}")
    (values,) = ask(busy, kept=kept).values()
    for metric in HEADLINES:
        number = told(metric, values)
        assert shown.numbers[metric] == ("" if number is None else as_json(number))
    assert shown.page.count("not compared: filtered") + shown.page.count("fewer than 10 people") == len(HEADLINES)
    assert "are of the visits that match" in shown.page
    assert shown.data["points"] == show(sign_in(owner), busy, WEEK).data["points"]


def test_a_filter_that_takes_too_long_leaves_the_numbers_of_everybody(
    sign_in: SignIn, owner: Account, busy: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The statement of the filter may take a thousandth of a second."""

    async def read_shortly(pool: Pool, source: CellSource) -> PeopleCells:
        async with open_direct_pool(settings.ONLOOKER, url=pool.conninfo, statement_limit_s=0.001) as short:
            return await read_cells(short, source)

    browser = sign_in(owner)
    everybody = show(browser, busy, WEEK).numbers
    monkeypatch.setattr(headlines, "read_cells", read_shortly)
    shown = show(browser, busy, f"{WEEK}&filter=gender:female")
    assert shown.numbers == everybody
    assert "The filter is not applied: these numbers are of everybody. The database is busy" in shown.page


def test_a_mean_of_those_who_match_has_the_interval_of_its_hours(sign_in: SignIn, owner: Account, busy: Stream) -> None:
    page = show(sign_in(owner), busy, f"{WEEK}&filter=gender:female").page
    row = next(
        row
        for row in show_section(sign_in(owner), busy, f"{WEEK}&across=gender").charts["means"]["rows"]
        if row["key"] == "female"
    )
    low, high = (FIGURE_KINDS["stop_time"].show(end) for end in row["interval"])
    assert f"<td>{low} to {high} s</td>" in page


def test_a_segment_leads_to_its_people_and_back(sign_in: SignIn, owner: Account, busy: Stream) -> None:
    browser = sign_in(owner)
    link = segment(show_section(browser, busy, f"{WEEK}&mean=attention_time", **HTMX), "pyramid-25-34.female")
    assert parse_qs(link)["filter"] == ["gender:female,age:25-34"]
    assert "mean=attention_time" in link
    chosen = show_section(browser, busy, link, **HTMX)
    assert sum(chosen.charts["pyramid"]["counts"][0]) == int(show(browser, busy, link).numbers["interested"] or 0)
    assert 'aria-current="true"' in chosen.page
    assert "filter" not in segment(chosen, "pyramid-25-34.female")
    assert parse_qs(segment(chosen, "who-filter-gender"))["filter"] == ["age:25-34"]
    assert "Age: <strong>25\N{EN DASH}34</strong>" in chosen.page
    assert "filter" not in segment(chosen, "who-filter-all")
    hour = segment(chosen, "heat-mon.09")
    assert parse_qs(hour)["filter"] == ["gender:female,age:25-34,weekday:mon,hour_of_day:09"]
    unknown = segment(show_section(browser, busy), "pyramid-65+.?")
    assert parse_qs(unknown)["filter"] == ["gender:?,age:65+"]
    assert show_section(browser, busy, unknown).charts["pyramid"]["ages"] == [["65+", "65+"]]


def test_the_dashboard_fetches_the_section_when_somebody_comes_near(
    sign_in: SignIn, owner: Account, busy: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is read with the page, nor with a refresh."""

    def refuse(*_: object) -> None:
        raise AssertionError("visits are read without a filter")

    monkeypatch.setattr(headlines, "read_cells", refuse)
    browser, query = sign_in(owner), f"{WEEK}&across=gender"
    address = f'hx-get="/streams/{busy.client_id}/dashboard/breakdowns/?{query.replace("&", "&amp;")}"'
    page = show(browser, busy, query).page
    assert address in page
    assert "who-data" not in page
    assert address in show(browser, busy, query, **HTMX).page  # of another period
    assert "who-loader" not in show(browser, busy, query, **HTMX | {"hx-trigger": "report"}).page
    assert "&amp;across=gender" in page.split('id="period-30d"')[1].split(">")[0]
    assert '<input type="hidden" name="across" value="gender">' in page.split('id="chart-control"')[1]


def test_the_section_is_a_page_of_its_own_without_scripts(sign_in: SignIn, owner: Account, busy: Stream) -> None:
    browser = sign_in(owner)
    assert "<html" in show_section(browser, busy).page
    part = show_section(browser, busy, **HTMX).page
    assert "<html" not in part
    assert 'id="who" class="who" aria-labelledby="who-heading" hx-target="this"' in part


def test_it_says_by_the_streams_clock_when_it_was_read(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    Stream.objects.filter(pk=stream.pk).update(time_zone="Asia/Kathmandu")
    began = datetime.now(UTC)
    page = sign_in(owner).get(f"/streams/{stream.client_id}/dashboard/breakdowns/?period=7d").content.decode()
    moments = {f"{at.astimezone(ZoneInfo('Asia/Kathmandu')):%H:%M}" for at in (began, datetime.now(UTC))}
    assert re.findall(r"As of ([^ <]+)\.", page)[0] in moments


def test_a_choice_that_is_none_is_said(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    for query, words in (
        ("filter=age:7", "There is no age"),
        ("filter=hat", "gender:female,age:25-34"),
        ("heat=rain", "In the address, heat is one of interested, passing_by"),
        ("period=ever", "Unknown period."),
    ):
        assert words in html.unescape(show_section(browser, stream, query, status=400).page)
        assert words in html.unescape(show_section(browser, stream, query, **HTMX).page)
        trouble = show(browser, stream, query, status=400).page
        assert words in html.unescape(trouble)
        assert '<section id="who" hidden>' in " ".join(trouble.split())
    with pytest.raises(PeriodError):
        parse_selection({"filter": "age:25-34,"})


def assert_refused(browser: Client, stream: Stream, words: str) -> None:
    """In place of the section; headline numbers stay those of everybody, and say so."""
    assert words in html.unescape(show_section(browser, stream, **HTMX).page)
    shown = show(browser, stream, f"{WEEK}&filter=gender:female")
    assert words in html.unescape(shown.page)
    assert "The filter is not applied: these numbers are of everybody." in shown.page
    assert shown.numbers == show(browser, stream, WEEK).numbers


def test_on_the_grid_nothing_is_broken_down(sign_in: SignIn, owner: Account, busy: Stream) -> None:
    set_stream(str(busy.client_id), {"grid": True}, quota_s=1.0)
    assert_refused(sign_in(owner), busy, "This stream is on the grid")


def delete_visits_before(stream: Stream, since: datetime) -> None:
    async def delete(pool: Pool) -> None:
        statement = "INSERT INTO visits_kept (stream_id, since) VALUES (%s, %s)"
        async with pool.connection() as connection:
            await connection.execute(statement, [stream.pk, since])

    with_numbers(delete)


def test_the_way_out_leads_past_a_moment_in_the_repeated_hour(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    """In the night of 25 October, clocks in Paris show 2:30 twice: the second time at 1:30 UTC."""
    again = datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    delete_visits_before(stream, again)
    write(*(seen(stream, again + HOUR) for _ in range(3)))
    browser = sign_in(owner)
    refused = show_section(browser, stream, "from=2026-10-24")
    assert "Visits that began before 25 October 2026, 02:30 were deleted" in refused.page
    assert show_section(browser, stream, segment(refused, "who-remedy")).charts


def test_too_many_people_are_not_broken_down(
    sign_in: SignIn, owner: Account, busy: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "MOST_VISITS", 800)
    assert_refused(sign_in(owner), busy, "people passed by in this period: too many to be broken down")


def test_a_period_without_anybody_says_why(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    page = show_section(browser, stream).page
    assert page.count("Nobody was interested.") == 3
    assert "No hour was watched." in page
    filtered = show_section(browser, stream, f"{WEEK}&filter=gender:female").page
    assert filtered.count("No interested person matches.") == 3
    Stream.objects.filter(pk=stream.pk).update(reads_faces=False)
    assert "This stream only counts: no face is looked for." in show_section(browser, stream).page


def test_what_is_switched_off_is_said(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    Stream.objects.filter(pk=stream.pk).update(reads_age=False, reads_gender=False)
    nobody_knows = {"age": None, "gender": None, "gender_confidence": 0.0}
    write(*(seen(stream, MONDAY + 9 * HOUR + n * HOUR, looks=True, **nobody_knows) for n in range(12)))
    assert "Age and gender are switched off for this stream." in show_section(sign_in(owner), stream).page


def test_only_members_see_it(sign_in: SignIn, owner: Account, viewer: Account, stranger: Account, busy: Stream) -> None:
    path = f"/streams/{busy.client_id}/dashboard/breakdowns/?{WEEK}"
    share_stream(busy, viewer)
    assert sign_in(viewer).get(path).status_code == 200
    assert sign_in(stranger).get(path).status_code == 404
    assert sign_in(None).get(path).status_code == 302


def test_means_stays_and_the_week_are_those_of_the_data_endpoint(sign_in: SignIn, owner: Account, busy: Stream) -> None:
    """Each choice once, with one filter or another."""
    browser = sign_in(owner)
    for number in range(max(map(len, CHOICES.values()))):
        kept = FILTERED[number % len(FILTERED)]
        mean, across, stay, heat = (CHOICES[name][number % len(CHOICES[name])] for name in CHOICES)
        query = f"{WEEK}&mean={mean}&across={across}&stay={stay}&heat={heat}&filter={kept}"
        shown = show_section(browser, busy, query)
        compare_means(shown, busy, mean, across, kept)
        compare_stays(shown, busy, stay, kept)
        compare_week(shown, busy, heat, kept)
    kept = "weekday:sat,hour_of_day:08,hour_of_day:12"
    compare_week(show_section(browser, busy, f"{WEEK}&filter={kept}"), busy, CHOICES["heat"][0], kept)


def test_opening_hours_have_the_visits_that_begin_in_them(sign_in: SignIn, owner: Account, busy: Stream) -> None:
    OpeningHours.objects.create(
        stream=busy, since_at=MONDAY - 30 * DAY, hours="mo-fr 09:00-12:30", time_zone="Europe/Paris"
    )
    browser, query = sign_in(owner), f"{WEEK}&hours=open&filter=gender:female"
    quarters = ask(busy, ("age",), time="by_quarter_hour", kept="gender:female")
    inside = [values for key, values in quarters.items() if is_open(key)]
    total = sum(values["interested"]["value"] for values in inside)
    shown = show_section(browser, busy, query)
    counts = [row[0] for row in shown.charts["pyramid"]["counts"]]
    assert counts == [sum(values["cells"][place]["interested"]["value"] for values in inside) for place in range(8)]
    assert sum(counts) == total
    assert show(browser, busy, query).numbers["interested"] == str(total)
    assert "Opening hours only." in shown.page


def test_of_people_in_groups_single_visits_are_not_broken_down(
    sign_in: SignIn, owner: Account, visited: Stream
) -> None:
    set_stream(str(visited.client_id), {"groups_of": 5}, quota_s=1.0)
    browser = sign_in(owner)
    assert_refused(browser, visited, "This stream tells about people in groups of at least 5")
    set_stream(str(visited.client_id), {"groups_of": 1}, quota_s=1.0)
    assert_refused(browser, visited, "For a part of this period the stream told about people in groups.")
    assert "Show the time since then" in show_section(browser, visited).page


def test_of_deleted_visits_nothing_is_broken_down(sign_in: SignIn, owner: Account, visited: Stream) -> None:
    delete_visits_before(visited, MONDAY + 2 * DAY)
    browser = sign_in(owner)
    assert_refused(browser, visited, "Visits that began before 4 November 2026, 00:00 were deleted")
    remedy = segment(show_section(browser, visited, f"{WEEK}&heat=stopped"), "who-remedy")
    assert remedy == "from=2026-11-04T00:00:00%2B01:00&heat=stopped"
    assert show_section(browser, visited, remedy).charts
