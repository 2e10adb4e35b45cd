"""Parts of a dashboard that are fetched alone: each has what the whole page has of it, and nothing else."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import cycle, product
from typing import Any

import pytest
from django.test import Client

from breakdown_pages import ShownSection, show_section
from dashboard_numbers import Shown, cover, seen, show, write
from onlooker.console.accounts.models import Account
from onlooker.console.breakdowns.selection import CHOICES
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Note, OpeningHours, Stream, Usage

pytest_plugins = ["pages"]
CHARTED = ("metric=stop_time", "metric=conversion&ghost=before", "beside=satisfaction&ghost=year", "")
CHART_OF = {"mean": "means", "across": "means", "stay": "stays", "heat": "heat"}
pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[[Account | None], Client]
MONDAY = datetime(2026, 11, 1, 23, tzinfo=UTC)  # midnight in Paris
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
WEEK = "from=2026-11-02&to=2026-11-08"
PERIODS = (
    WEEK,
    f"{WEEK}&by=hour",
    "from=2026-11-02&to=2026-11-02&by=quarter-hour",
    "from=2026-11-02T09:20&to=2026-11-04T15:40",
    "from=2026-09-01&to=2026-11-08&by=week",
    f"{WEEK}&hours=open",
)
FILTERS = ("", "gender:female", "weekday:mon,hour_of_day:12", "stop_band:5-10,gender:%3F", "age:15-24,age:65%2B")


def alone(target: str) -> dict[str, str]:
    return {"hx-request": "true", "hx-target": target}


@pytest.fixture
def busy(owner: Account) -> Stream:
    """Watched for a week, with opening hours, a note, and people of all kinds around noon of three days."""
    made = create_stream("Front door", owner=owner, kind="enterprise", time_zone="Europe/Paris").stream
    Stream.objects.filter(pk=made.pk).update(created_at=MONDAY - 400 * DAY, retention_days=3650, reads_expression=True)
    Usage.objects.create(stream=made, month="2026-11-01", video_s=1, last_frame_at=MONDAY + 8 * DAY)
    made.refresh_from_db()
    OpeningHours.objects.create(
        stream=made, since_at=MONDAY - 30 * DAY, hours="mo-fr 09:00-12:30", time_zone="Europe/Paris"
    )
    day = datetime(2026, 11, 3).date()
    Note.objects.create(organisation=made.organisation, stream=made, first_day=day, last_day=day, text="New window")
    cover(made, MONDAY - 7 * DAY, MONDAY + 2 * DAY)
    cover(made, MONDAY + 3 * DAY, MONDAY + 6 * DAY)
    write(*_people(made))
    return made


def _people(stream: Stream) -> Iterator[Any]:
    for number, at in product(range(45), (MONDAY + 12 * HOUR, MONDAY + 36 * HOUR, MONDAY - 7 * DAY + 12 * HOUR)):
        known = {"age": 18.0 + number, "age_confidence": 0.9, "gender_confidence": 0.9} if number % 4 else {}
        gender = {"gender": ("female", "male")[number % 2]} if known else {}
        yield seen(stream, at + number * timedelta(seconds=70), looks=number % 3 > 0, **known, **gender)


def own_data(shown: Shown) -> Any:
    found = re.search(r'<script (?:id="time-data" )?type="application/json">(.*?)</script>', shown.page, re.DOTALL)
    assert found, shown.page
    return json.loads(found[1])


def links_to_numbers(shown: Shown) -> dict[str, str]:
    return dict(re.findall(r'<a id="(chart-\w+)" class="charted" href="([^"]*)"', shown.page))


def trouble_of(shown: ShownSection, chart: str) -> list[str]:
    figure = shown.page.partition(f'id="who-chart-{chart}"')[2].partition("</figure>")[0]
    return re.findall(r'<p class="nothing">([^<]*)', figure)


def test_a_stream_that_only_counts_has_no_interest_in_the_chart_alone(
    sign_in: SignIn, owner: Account, busy: Stream
) -> None:
    Stream.objects.filter(pk=busy.pk).update(reads_faces=False)
    browser = sign_in(owner)
    earlier = "from=2026-10-01&to=2026-10-07"
    for query, is_known in ((WEEK, True), (earlier, False)):
        part = own_data(show(browser, busy, query, **alone("time-chart")))
        assert part["points"] == show(browser, busy, query).data["points"]
        assert any(point["interested"] is not None for point in part["points"]) == is_known


@pytest.mark.parametrize("kept", FILTERS)
@pytest.mark.parametrize("period", [WEEK, PERIODS[3], PERIODS[-1], "from=2026-10-01&to=2026-10-07"])
def test_the_headlines_alone_are_those_of_the_page(
    sign_in: SignIn, owner: Account, busy: Stream, period: str, kept: str
) -> None:
    browser, query = sign_in(owner), f"{period}&filter={kept}&metric=stop_time"
    page, part = show(browser, busy, query), show(browser, busy, query, **alone("headlines"))
    assert part.page.strip().startswith('<div id="headlines"')
    assert part.numbers == page.numbers
    for name, end in (("figures", "</dl>"), ("filtered", "</div>"), ("table-figures", "</details>")):
        assert element(part, name, end) == element(page, name, end)
    assert element(part, "like-time", "</span>") == element(page, "like-time", "</span>")
    assert "report-data" not in part.page


def element(shown: Shown, name: str, end: str) -> str:
    """What is between its first tag and its end; empty where it is not there."""
    found = re.search(rf'<\w+ (?:id|class)="{name}"[^>]*>(.*?){end}', shown.page, re.DOTALL)
    return " ".join(found[1].split()) if found else ""


def test_a_chart_of_a_period_that_goes_on_says_when_it_was_read(sign_in: SignIn, owner: Account, busy: Stream) -> None:
    browser = sign_in(owner)
    assert "As of " in show_section(browser, busy, "period=7d", **alone("who-chart-stays")).page
    assert "As of " not in show_section(browser, busy, WEEK, **alone("who-chart-stays")).page


@pytest.mark.parametrize("target", ["time-chart", "headlines"])
def test_what_is_wrong_is_said_in_place_of_the_report(
    sign_in: SignIn, owner: Account, busy: Stream, target: str
) -> None:
    path = f"/streams/{busy.client_id}/dashboard/?period=ever"
    answer = sign_in(owner).get(path, headers=alone(target))
    assert answer["HX-Retarget"] == "#report"
    assert "Unknown period." in answer.content.decode()
    assert "HX-Retarget" not in sign_in(owner).get(path, headers=alone("report"))


def test_a_refused_chart_says_so_in_place_of_the_section(sign_in: SignIn, owner: Account, busy: Stream) -> None:
    Stream.objects.filter(pk=busy.pk).update(grid=True)
    path = f"/streams/{busy.client_id}/dashboard/breakdowns/?{WEEK}"
    answer = sign_in(owner).get(path, headers=alone("who-chart-means"))
    assert answer["HX-Retarget"] == "#who"
    assert "on the grid" in answer.content.decode()
    assert "HX-Retarget" not in sign_in(owner).get(path, headers=alone("who"))


def test_a_chart_that_weeks_of_groups_do_not_have_leads_to_their_section(
    sign_in: SignIn, owner: Account, busy: Stream
) -> None:
    """The page was opened before people were put into groups."""
    Stream.objects.filter(pk=busy.pk).update(groups_of=5)
    path = f"/streams/{busy.client_id}/dashboard/breakdowns/?{WEEK}"
    for chart in ("stays", "heat"):
        answer = sign_in(owner).get(path, headers=alone(f"who-chart-{chart}"))
        assert answer["HX-Retarget"] == "#who"
        assert "in groups of at least 5" in answer.content.decode()


def test_the_time_chart_alone_is_that_of_the_page(sign_in: SignIn, owner: Account, busy: Stream) -> None:
    browser = sign_in(owner)
    for period, charted in zip(PERIODS, cycle(CHARTED), strict=False):
        query = f"{period}&{charted}"
        page, part = show(browser, busy, query), show(browser, busy, query, **alone("time-chart"))
        assert part.page.strip().startswith('<figure id="time-chart"')
        assert own_data(part) == {name: page.data[name] for name in ("time", "zone", "points", "chart")}
        assert part.tables["time"] == page.tables["time"]
        assert links_to_numbers(part) == links_to_numbers(page)
        assert part.page.count('hx-swap-oob="true"') == len(links_to_numbers(page)) > 5
        assert any("New window" in row[-1] for row in part.tables["time"]) == ("&to=2026-11-02" not in period)


def test_a_chart_of_the_section_alone_is_that_of_the_section(sign_in: SignIn, owner: Account, busy: Stream) -> None:
    """The first and the last of each choice, with one filter or another."""
    browser, others = sign_in(owner), cycle(product(FILTERS, ("", "&hours=open")))
    for name, chart in CHART_OF.items():
        for value in (CHOICES[name][0], CHOICES[name][-1]):
            kept, hours = next(others)
            query = f"{WEEK}&filter={kept}&{name}={value}{hours}"
            whole = show_section(browser, busy, query)
            part = show_section(browser, busy, query, **alone(f"who-chart-{chart}"))
            assert part.page.strip().startswith(f'<figure id="who-chart-{chart}"')
            if "<script" in part.page:
                assert own_data(part) == whole.charts[chart]
            assert part.tables[chart] == whole.tables[chart]
            assert trouble_of(part, chart) == trouble_of(whole, chart)
