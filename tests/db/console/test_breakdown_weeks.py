"""Who, and how long, of a stream that tells about people in groups: whole weeks, as the data endpoint tells them."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from random import Random
from typing import Any
from urllib.parse import parse_qs, urlencode
from zoneinfo import ZoneInfo

import pytest
from django.test import Client

from breakdown_pages import ShownSection, segment, show_section
from dashboard_numbers import cover, seen, show, with_numbers, write
from memberships import share_stream
from onlooker.console.accounts.models import Account
from onlooker.console.breakdowns.part_names import name_group
from onlooker.console.breakdowns.selection import CHOICES
from onlooker.console.breakdowns.week_numbers import list_whole_weeks
from onlooker.console.breakdowns.week_section import write_weeks
from onlooker.console.dashboard.figures import FIGURE_KINDS, NO_VALUE
from onlooker.database import Pool
from onlooker.metrics.block_release import release_blocks
from onlooker.metrics.breakdown import parse_breakdown
from onlooker.metrics.changes import FEWEST_PEOPLE
from onlooker.metrics.execution import run_query
from onlooker.metrics.query import Query, Time
from onlooker.metrics.week_release import release_weeks
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Stream, Usage
from onlooker_pipeline.visits.visit import Visit

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[[Account | None], Client]
PARIS = ZoneInfo("Europe/Paris")
DAY, WEEK = timedelta(days=1), timedelta(days=7)
MONDAY = datetime(2026, 10, 5, tzinfo=PARIS).astimezone(UTC)
"""Of the first of three weeks; clocks go back at the end of the third."""
FIRST, SECOND, THIRD = ("2026-10-05", "2026-10-11"), ("2026-10-12", "2026-10-18"), ("2026-10-19", "2026-10-25")
AROUND = {"from": "2026-10-03", "to": "2026-10-28"}
HTMX = {"hx-request": "true"}


@pytest.fixture
def stream(owner: Account) -> Stream:
    made = create_stream("Front door", owner=owner, kind="enterprise", time_zone="Europe/Paris").stream
    Stream.objects.filter(pk=made.pk).update(created_at=MONDAY - 400 * DAY, retention_days=3650, groups_of=4)
    Usage.objects.create(stream=made, month="2026-10-01", video_s=1, last_frame_at=MONDAY + 8 * DAY)
    made.refresh_from_db()
    return made


def draw_people(stream: Stream, random: Random, monday: datetime, count: int) -> Iterator[Visit]:
    """Of one week, mostly of 25 to 54; some of nobody knows what age or gender."""
    for _ in range(count):
        at = monday + random.randrange(6) * DAY + timedelta(hours=random.uniform(9, 17))
        start = int(at.timestamp() * 1000)
        stays_ms, looks_ms = (random.choice((3000, 7000, 12_000, 40_000)) for _ in range(2))
        yield seen(
            stream,
            at,
            still=[(start, start + stays_ms)],
            looking=[(start, start + looks_ms)],
            present=[(start, start + 60_000)],
            gender=random.choice(("female", "male", "male", None)),
            gender_confidence=0.9,
            age=random.choice((None, random.gauss(40, 9))),
            age_confidence=0.9,
        )


def release(until: datetime) -> None:
    async def act(pool: Pool) -> None:
        await release_blocks(pool, until)
        await release_weeks(pool, until)

    with_numbers(act)


@pytest.fixture
def busy(stream: Stream) -> Stream:
    """Three weeks; of the second nobody is known."""
    random = Random(20261120)
    cover(stream, MONDAY, MONDAY + 3 * WEEK)
    write(*draw_people(stream, random, MONDAY, 90), *draw_people(stream, random, MONDAY + 2 * WEEK, 400))
    release(MONDAY + 4 * WEEK)
    return stream


def ask(stream: Stream, first: str, last: str, **asked: str) -> dict[tuple[str, ...], dict[str, Any]]:
    """What the data endpoint answers."""
    from_at = datetime.fromisoformat(first).replace(tzinfo=PARIS)
    to_at = (datetime.fromisoformat(last) + DAY).replace(tzinfo=PARIS)
    breakdown = parse_breakdown({name: text for name, text in asked.items() if text}, shown=repr)
    metrics = ("interested", "stop_time", "attention_time")
    query = Query(
        stream.pk, metrics, from_at.astimezone(UTC), to_at.astimezone(UTC), PARIS, Time.GLOBAL, breakdown=breakdown
    )

    async def act(pool: Pool) -> dict[str, dict[str, Any]]:
        return (await run_query(pool, query)).entities

    (bucket,) = with_numbers(act).values()
    return {tuple(cell["by"].values()): cell for cell in bucket["cells"]}


def show_weeks(browser: Client, stream: Stream, **address: str) -> ShownSection:
    return show_section(browser, stream, urlencode(AROUND | address, safe=":,"))


def dates(first: str, last: str) -> dict[str, str]:
    return {"from": first, "to": last}


@pytest.mark.parametrize("weeks", [FIRST, THIRD, (FIRST[0], THIRD[1])])
@pytest.mark.parametrize("kept", ["", "gender:male", "age:65+,age:55-64,age:?"])
def test_ages_and_genders_are_the_data_endpoints(
    sign_in: SignIn, owner: Account, busy: Stream, weeks: tuple[str, str], kept: str
) -> None:
    browser = sign_in(owner)
    cells = ask(busy, *weeks, by="age,gender", filter=kept)
    found = {parts: cell["interested"]["value"] for parts, cell in cells.items()}
    shown = show_weeks(browser, busy, **dates(*weeks), filter=kept)
    data = shown.charts["pyramid"]
    drawn = {
        (age, gender): count
        for (age, _), row in zip(data["ages"], data["counts"], strict=True)
        for (gender, _), count in zip(data["genders"], row, strict=True)
    }
    assert drawn == found
    assert f"{sum(found.values())} interested people" in shown.page
    rows = {row[0]: row[1:] for row in shown.tables["pyramid"]}
    places = [gender for gender, _ in data["genders"]]
    for (age, gender), count in found.items():
        assert rows[name_group("age", age.split("|"))][places.index(gender)] == str(count)
    assert rows["All ages"][len(places)] == str(sum(found.values()))


def test_some_parts_are_told_together(sign_in: SignIn, owner: Account, busy: Stream) -> None:
    """Else the other tests would say little."""
    told = {parts for weeks in (FIRST, THIRD) for parts in ask(busy, *weeks, by="age,gender")}
    assert any("|" in age for age, _ in told)
    shown = show_weeks(sign_in(owner), busy, **dates(*FIRST), across="gender")
    assert any(" and " in row[0] for row in shown.tables["pyramid"])
    found = {row["key"]: (row["name"], row["mark"]) for row in shown.charts["means"]["rows"]}
    assert found == {"?|female": ("Women and unknown", "female"), "male": ("Men", "male")}
    assert name_group("gender", ("?", "female", "male")) == "Women, men and unknown"
    assert name_group("age", ("25-34", "35-44")) == "25\N{EN DASH}34 and 35\N{EN DASH}44"


@pytest.mark.parametrize("weeks", [FIRST, (FIRST[0], THIRD[1])])
def test_means_are_the_data_endpoints(sign_in: SignIn, owner: Account, busy: Stream, weeks: tuple[str, str]) -> None:
    browser = sign_in(owner)
    for mean, across in product(CHOICES["mean"], ("age", "gender", "age,gender")):
        shown = show_weeks(browser, busy, **dates(*weeks), mean=mean, across=across)
        rows = {tuple(row["key"].split(".")): row for row in shown.charts["means"]["rows"]}
        found = ask(busy, *weeks, by=across)
        assert set(rows) == set(found)
        assert any(row["value"] for row in rows.values())
        table = {row[0]: row[1:] for row in shown.tables["means"][1:]}
        for parts, row in rows.items():
            people = found[parts]["interested"]["value"]
            value = found[parts][mean]["value"] if people >= FEWEST_PEOPLE else None
            assert (row["value"], row["people"], row["interval"]) == (value, people, None)
            assert table[row["name"]] == [NO_VALUE if value is None else FIGURE_KINDS[mean].show(value), str(people)]


def test_it_says_which_weeks_it_is_of(sign_in: SignIn, owner: Account, busy: Stream) -> None:
    shown = show_weeks(sign_in(owner), busy)
    assert "<small>Mon 5 Oct to Sun 11 Oct and Mon 19 Oct to Sun 25 Oct</small>" in shown.page
    assert "Not shown: Mon 12 Oct to Sun 18 Oct. Too few people came" in shown.page
    assert "groups of at least 4, so this section covers the whole weeks of the period" in shown.page
    assert "How long people stay and the hours of the week are not shown" in shown.page
    assert set(shown.charts) == {"pyramid", "means"}
    assert "Read again" not in shown.page
    assert 'value="hour_of_day"' not in shown.page
    assert "Opening hours" not in shown.page


def test_weeks_that_are_not_complete_yet_are_said(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    random, browser = Random(1), sign_in(owner)
    page = show_weeks(browser, stream).page
    assert "No week of this stream can be shown yet." in page
    write(*draw_people(stream, random, MONDAY, 60))
    release(MONDAY + WEEK + DAY)
    page = show_weeks(browser, stream).page
    assert "<small>Mon 5 Oct to Sun 11 Oct</small>" in page
    assert "Not shown yet, because visits may still arrive: Mon 12 Oct to Sun 25 Oct." in page
    only = show_weeks(browser, stream, **dates(*SECOND)).page
    assert "Not shown yet, because visits may still arrive: Mon 12 Oct to Sun 18 Oct." in only
    assert "Show Mon 5 Oct to Sun 11 Oct" in only


def test_a_period_without_weeks_leads_to_the_last_ones(sign_in: SignIn, owner: Account, busy: Stream) -> None:
    browser = sign_in(owner)
    for query in ("period=7d&mean=attention_time", "from=2026-10-06&to=2026-10-14&mean=attention_time"):
        shown = show_section(browser, busy, query)
        assert "Age and gender are shown only for whole weeks, Monday to Sunday" in shown.page
        assert "Show Mon 5 Oct to Sun 11 Oct and Mon 19 Oct to Sun 25 Oct" in shown.page
        remedy = segment(shown, "who-remedy")
        assert remedy == "from=2026-10-05T00:00:00%2B02:00&to=2026-10-26T00:00:00%2B01:00&mean=attention_time"
    assert "This period contains no such week." in shown.page
    assert show_section(browser, busy, remedy).charts["pyramid"] == show_weeks(browser, busy).charts["pyramid"]


def test_segments_filter_by_all_parts_that_are_told_together(sign_in: SignIn, owner: Account, busy: Stream) -> None:
    browser = sign_in(owner)
    whole = show_weeks(browser, busy, **dates(*FIRST), across="age,gender")
    data = whole.charts["pyramid"]
    ages = [key for key, _ in data["ages"]]
    together = next(age for age in ages if "|" in age)
    link = segment(whole, f"pyramid-{together}")
    assert parse_qs(link)["filter"] == [",".join(f"age:{part}" for part in together.split("|"))]
    chosen = show_section(browser, busy, link, **HTMX)
    assert chosen.charts["pyramid"]["counts"] == [data["counts"][ages.index(together)]]
    assert "filter" not in segment(chosen, f"pyramid-{together}")
    assert "filter" not in segment(chosen, "who-filter-age")
    shown = show(browser, busy, link)
    assert "The filter is not applied: these numbers are of everybody." in shown.page
    assert "A filter works only under Who, and how long, and only for whole weeks." in shown.page
    assert shown.numbers == show(browser, busy, urlencode(dates(*FIRST))).numbers
    pair = next(row for row in whole.charts["means"]["rows"] if row["people"])
    wanted = show_section(browser, busy, segment(whole, f"means-{pair['key']}"))
    assert [row["people"] for row in wanted.charts["means"]["rows"]] == [pair["people"]]


def test_a_filter_that_divides_parts_leads_to_all_of_them(sign_in: SignIn, owner: Account, busy: Stream) -> None:
    browser = sign_in(owner)
    ages = [key for key, _ in show_weeks(browser, busy, **dates(*FIRST)).charts["pyramid"]["ages"]]
    together = next(age for age in ages if "|" in age).split("|")
    refused = show_weeks(browser, busy, **dates(*FIRST), filter=f"age:{together[0]}")
    assert f"In these weeks, {name_group('age', together)} are shown only together." in refused.page
    remedy = segment(refused, "who-remedy")
    assert parse_qs(remedy)["filter"] == [",".join(f"age:{part}" for part in together)]
    assert [key for key, _ in show_section(browser, busy, remedy).charts["pyramid"]["ages"]] == ["|".join(together)]


def test_other_filters_are_refused_and_can_be_left_out(sign_in: SignIn, owner: Account, busy: Stream) -> None:
    browser = sign_in(owner)
    refused = show_weeks(browser, busy, filter="weekday:mon,gender:male", across="hour_of_day")
    assert "can be filtered only by gender and age" in refused.page
    remedy = segment(refused, "who-remedy")
    assert parse_qs(remedy)["filter"] == ["gender:male"]
    assert {row["key"] for row in show_section(browser, busy, remedy).charts["means"]["rows"]} <= {
        parts[0] for parts in ask(busy, FIRST[0], THIRD[1], by="age")
    }


def test_nobody_of_a_part_that_is_told_is_said(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    write(*draw_people(stream, Random(2), MONDAY, 90))
    release(MONDAY + 4 * WEEK)
    found = ask(stream, *FIRST, by="age")
    nobody = next(parts[0] for parts, cell in found.items() if not cell["interested"]["value"])
    page = show_weeks(sign_in(owner), stream, **dates(*FIRST), filter=f"age:{nobody}").page
    assert page.count("No interested person matches.") == 2


def test_a_stream_on_the_grid_tells_no_weeks(sign_in: SignIn, owner: Account, busy: Stream) -> None:
    Stream.objects.filter(pk=busy.pk).update(grid=True)
    assert "This stream is on the grid" in show_weeks(sign_in(owner), busy).page


def test_only_members_see_it(sign_in: SignIn, owner: Account, viewer: Account, stranger: Account, busy: Stream) -> None:
    path = f"/streams/{busy.client_id}/dashboard/breakdowns/?{urlencode(AROUND)}"
    share_stream(busy, viewer)
    assert "pyramid" in sign_in(viewer).get(path).content.decode()
    assert sign_in(stranger).get(path).status_code == 404
    assert sign_in(None).get(path).status_code == 302


def test_weeks_that_follow_one_another_are_named_together() -> None:
    weeks = list_whole_weeks(MONDAY - DAY, MONDAY + 10 * WEEK, PARIS)
    now = MONDAY + 12 * WEEK
    assert len(weeks) == 9
    assert write_weeks(weeks, PARIS, now) == "Mon 5 Oct to Sun 6 Dec"
    assert write_weeks(weeks[:1] + weeks[3:4], PARIS, now) == "Mon 5 Oct to Sun 11 Oct and Mon 26 Oct to Sun 1 Nov"
    assert write_weeks(weeks[::2], PARIS, now) == "5 weeks, Mon 5 Oct to Sun 6 Dec"
    assert list_whole_weeks(MONDAY + DAY, MONDAY + 2 * WEEK - DAY, PARIS) == []
