"""The lines of a dashboard's chart: any number, one beside it, a ghost, opening hours; all are the data endpoint's."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client

from dashboard_numbers import Shown, ask, cover, seen, show, write
from memberships import share_stream
from onlooker.console.accounts.models import Account
from onlooker.console.dashboard.figures import NO_VALUE, as_json
from onlooker.console.time_chart.choice import CHARTED
from onlooker.metrics.changes import FEWEST_PEOPLE
from onlooker.metrics.definitions import METRICS
from onlooker.streams.administration import create_stream
from onlooker.streams.models import OpeningHours, Stream, Usage

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[[Account | None], Client]
PARIS = ZoneInfo("Europe/Paris")
MONDAY = datetime(2026, 11, 1, 23, tzinfo=UTC)  # midnight in Paris
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
WEEK = "from=2026-11-02&to=2026-11-08"
MONDAY_ALONE = "from=2026-11-02&to=2026-11-02"
OPEN = "mo-fr 09:00-17:30"


def make_stream(owner: Account, name: str = "Front door") -> Stream:
    made = create_stream(name, owner=owner, kind="enterprise", time_zone="Europe/Paris").stream
    Stream.objects.filter(pk=made.pk).update(created_at=MONDAY - 400 * DAY, retention_days=3650, reads_expression=True)
    Usage.objects.create(stream=made, month="2026-11-01", video_s=1, last_frame_at=MONDAY + 8 * DAY)
    made.refresh_from_db()
    return made


@pytest.fixture
def stream(owner: Account) -> Stream:
    """On Monday many people came at noon and few at night, on Tuesday few; Wednesday was not watched."""
    made = make_stream(owner)
    cover(made, MONDAY - 7 * DAY, MONDAY + 2 * DAY)
    noon = [
        seen(made, MONDAY + 12 * HOUR + n * timedelta(seconds=30), looks=n % 3 > 0, age=20.0 + n) for n in range(60)
    ]
    night = [seen(made, MONDAY + n * HOUR, looks=True) for n in (1, 2, 3, 8, 9, 26, 36, 40)]
    before = [seen(made, MONDAY + (n - 168) * HOUR, looks=n % 3 == 0) for n in range(40)]
    write(*noon, *night, *before)
    return made


def line(shown: Shown, role: str = "main") -> dict[str, Any]:
    [found] = [one for one in shown.data["chart"]["lines"] if one["role"] == role]
    return dict(found)


def told(metric: str, values: dict[str, Any]) -> float | None:
    """What a page tells of a bucket, from what the data endpoint says of it."""
    passing_by, interested = values["passing_by"]["value"], values["interested"]["value"]
    if metric == "conversion":
        return interested / passing_by if passing_by >= FEWEST_PEOPLE else None
    if METRICS[metric].unit != "people" and interested < FEWEST_PEOPLE:
        return None
    number: float | None = values[metric]["value"]
    return number


@pytest.mark.parametrize("metric", CHARTED)
@pytest.mark.parametrize("query", [WEEK, MONDAY_ALONE, f"{MONDAY_ALONE}&by=quarter-hour"])
def test_every_number_of_a_line_is_the_data_endpoints(
    sign_in: SignIn, owner: Account, stream: Stream, metric: str, query: str
) -> None:
    shown = show(sign_in(owner), stream, f"{query}&metric={metric}")
    buckets = ask(
        stream, shown.report["data-from"] or "", shown.report["data-to"] or "", shown.report["data-time"] or ""
    )
    drawn, points = line(shown), shown.data["points"]
    expected = [
        None if point["gap"] else told(metric, values) for point, values in zip(points, buckets.values(), strict=True)
    ]
    assert drawn["values"] == expected
    assert any(value for value in expected)
    rows = shown.tables["time"][1:]
    for place, (value, row) in enumerate(zip(expected, rows, strict=True)):
        if value is None:
            assert row[1] == ("too few" if place in drawn["few"] else NO_VALUE)
            assert (place in drawn["few"]) == (not points[place]["gap"])
        else:
            assert abs(float(row[1].replace(",", "")) - value * (100 if drawn["unit"] == "%" else 1)) <= 0.0500001
    assert len(shown.tables["time"][0]) == 3


def test_a_headline_number_is_a_link_to_its_chart_and_back(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    plain = show(browser, stream, f"{WEEK}&by=day")
    assert f'href="?{WEEK.replace("&", "&amp;")}&amp;by=day&amp;metric=stop_time"' in plain.page
    assert "People by day" in plain.page
    assert plain.data["chart"]["lines"] == []
    shown = show(browser, stream, f"{WEEK}&metric=stop_time")
    assert "Stop time by day" in shown.page
    assert "chart-stop_time" in shown.chosen
    assert f'id="chart-stop_time" class="charted" href="?{WEEK.replace("&", "&amp;")}"' in shown.page
    assert 'href="?period=3d&amp;metric=stop_time"' in shown.page  # other periods keep it
    assert '<input type="hidden" name="metric" value="stop_time">' in shown.page
    assert "&amp;metric=stop_time" in shown.page.split('id="earlier"')[1].split(">")[0]
    assert shown.numbers == plain.numbers


def test_another_stream_of_the_organisation_is_shown_beside(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    other = make_stream(owner, "Back door")
    Stream.objects.filter(pk=other.pk).update(time_zone="America/New_York")
    cover(other, MONDAY, MONDAY + DAY)
    write(*(seen(other, MONDAY + n * HOUR, looks=True) for n in (0, 5, 23)))
    browser = sign_in(owner)
    shown = show(browser, stream, f"{MONDAY_ALONE}&beside={other.client_id}")
    beside = line(shown, "beside")
    other.time_zone = "Europe/Paris"  # its buckets are those of this stream's clock
    asked = ask(other, "2026-11-02T00:00:00+01:00", "2026-11-03T00:00:00+01:00", "by_hour")
    assert beside["values"] == [values["passing_by"]["value"] for values in asked.values()]
    assert beside["name"] == "Passing by, Back door (by the clock of Europe/Paris)"
    assert f'<option value="{other.client_id}" selected>Back door</option>' in shown.page
    week = line(show(browser, stream, f"{WEEK}&beside={other.client_id}"), "beside")
    assert week["values"] == [3, *[None] * 6]  # what was not watched is no zero of its own


def test_a_stream_that_one_may_not_see_is_not_shown_beside(
    sign_in: SignIn, owner: Account, viewer: Account, stranger: Account, stream: Stream
) -> None:
    other, foreign = make_stream(owner, "Back door"), make_stream(stranger, "Elsewhere")
    share_stream(stream, viewer)
    for account, unseen in ((viewer, other), (owner, foreign), (owner, stream)):
        shown = show(sign_in(account), stream, f"{WEEK}&beside={unseen.client_id}", status=400)
        assert "Choose another stream of the same organisation" in shown.page
    assert "Back door" not in show(sign_in(viewer), stream, WEEK).page
    assert "Elsewhere" not in show(sign_in(owner), stream, WEEK).page


def test_a_ghost_has_the_numbers_of_its_own_range(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    shown = show(sign_in(owner), stream, f"{MONDAY_ALONE}&ghost=before")
    asked = ask(stream, "2026-10-26T00:00:00+01:00", "2026-10-27T00:00:00+01:00", "by_hour")
    ghost = line(shown, "ghost")
    assert ghost["values"] == [values["passing_by"]["value"] for values in asked.values()]
    assert sum(ghost["values"]) == 24
    assert ghost["name"] == "Passing by, Mon 26 Oct"
    assert shown.tables["time"][0] == [
        "Hour",
        "Passing by, Mon 2 Nov",
        "Interested, Mon 2 Nov",
        "Passing by, Mon 26 Oct",
        "Watched",
    ]
    means = line(show(sign_in(owner), stream, f"{WEEK}&metric=conversion&ghost=before"), "ghost")
    values = list(ask(stream, "2026-10-26T00:00:00+01:00", "2026-11-02T00:00:00+01:00", "by_day").values())
    assert means["values"] == [told("conversion", one) for one in values]
    early = show(sign_in(owner), stream, f"{MONDAY_ALONE}&ghost=year")
    assert line(early, "ghost")["values"] == [None] * 24  # no zeros
    assert "There is no ghost line: nothing was watched at that time." in early.page


def test_today_has_yesterday_behind_it_and_ends_where_the_day_ends(
    sign_in: SignIn, owner: Account, stream: Stream
) -> None:
    Stream.objects.filter(pk=stream.pk).update(time_zone="UTC")
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    cover(stream, midnight - DAY, midnight)
    write(*(seen(stream, midnight - DAY + n * HOUR) for n in range(24)))
    browser = sign_in(owner)
    shown = show(browser, stream, "period=today")
    points, ahead = shown.data["points"], shown.data["chart"]["ahead"]
    begun = datetime.now(UTC).hour + 1
    assert len(points) in (begun, begun % 24 + 1)
    assert len(points) + len(ahead) == 24
    assert line(shown, "ghost")["values"] == [1] * 24
    assert [row[1:4] for row in shown.tables["time"][1 + len(points) :]] == [[NO_VALUE, NO_VALUE, "1"]] * len(ahead)
    assert shown.data["chart"]["bars"][0].endswith(" to now")
    without = show(browser, stream, "period=today&ghost=none")
    assert without.data["chart"]["lines"] == []
    assert len(without.data["chart"]["ahead"]) == len(ahead)


def open_at(stream: Stream, hours: str = OPEN) -> None:
    OpeningHours.objects.create(stream=stream, since_at=MONDAY - 300 * DAY, hours=hours, time_zone="Europe/Paris")


def is_open(key: str) -> bool:
    """By OPEN."""
    at = datetime.fromisoformat(key).astimezone(PARIS)
    return at.weekday() < 5 and 9 <= at.hour + at.minute / 60 < 17.5


def quarters_in_hours(stream: Stream, from_date: str, to_date: str) -> dict[str, dict[str, Any]]:
    """The data endpoint's quarters of an hour: no opening hours cut one."""
    asked = ask(stream, from_date, to_date, "by_quarter_hour")
    return {key: values for key, values in asked.items() if is_open(key)}


def total(quarters: dict[str, dict[str, Any]], metric: str) -> int:
    return sum(values[metric]["value"] for values in quarters.values())


def test_opening_hours_have_the_visits_that_begin_in_them(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    open_at(stream)
    browser = sign_in(owner)
    shown = show(browser, stream, f"{WEEK}&hours=open")
    quarters = quarters_in_hours(stream, shown.report["data-from"] or "", shown.report["data-to"] or "")
    for metric in ("passing_by", "interested", "stopped"):
        assert shown.numbers[metric] == str(total(quarters, metric))
    assert 0 < total(quarters, "passing_by") < int(show(browser, stream, WEEK).numbers["passing_by"] or 0)
    for name in ("gender", "age", "category", "emotion"):
        for part, count in shown.data[name].items():
            assert count == sum(values[name][part] for values in quarters.values())
    people = total(quarters, "interested")
    seconds = sum((one["stop_time"]["value"] or 0) * one["interested"]["value"] for one in quarters.values())
    assert float(shown.numbers["stop_time"] or 0) == pytest.approx(seconds / people)
    assert shown.numbers["conversion"] == as_json(people / total(quarters, "passing_by"))
    days = [point["passing_by"] for point in shown.data["points"]]
    assert sum(filter(None, days)) == total(quarters, "passing_by")
    assert [point["gap"] for point in shown.data["points"]] == [None, None, *["offline"] * 3, "closed", "closed"]
    assert "Opening hours only: a visit counts if it began while the stream was open" in shown.page
    assert "of the opening hours. The rest: offline" in shown.page
    assert 'name="hours" value="open" checked' in shown.page


@pytest.mark.parametrize("by", ["hour", "quarter-hour"])
def test_buckets_that_are_partly_open_have_their_open_part(
    sign_in: SignIn, owner: Account, stream: Stream, by: str
) -> None:
    open_at(stream)
    write(*(seen(stream, MONDAY + 17 * HOUR + n * timedelta(minutes=9)) for n in range(6)))
    shown = show(sign_in(owner), stream, f"{MONDAY_ALONE}&hours=open&by={by}")
    quarters = quarters_in_hours(stream, "2026-11-02T00:00:00+01:00", "2026-11-03T00:00:00+01:00")
    width = 13 if by == "hour" else 16
    for point in shown.data["points"]:
        own = {key: values for key, values in quarters.items() if key[:width] == point["key"][:width]}
        assert point["passing_by"] == (total(own, "passing_by") if own else None)
        assert point["gap"] == (None if own else "closed")
    week = shown.data["week"][0]
    assert week[8] is None
    assert week[17] == 8  # four in the half hour that was open


def test_lines_beside_and_behind_are_of_their_own_opening_hours(
    sign_in: SignIn, owner: Account, stream: Stream
) -> None:
    open_at(stream)
    other = make_stream(owner, "Back door")
    cover(other, MONDAY, MONDAY + DAY)
    write(*(seen(other, MONDAY + n * HOUR) for n in range(24)))
    open_at(other, "mo 06:00-08:00")
    shown = show(sign_in(owner), stream, f"{MONDAY_ALONE}&hours=open&beside={other.client_id}&ghost=before")
    assert [place for place, value in enumerate(line(shown, "beside")["values"]) if value] == [6, 7]
    ghost = line(shown, "ghost")["values"]
    assert [place for place, value in enumerate(ghost) if value is not None] == list(range(9, 18))


def test_a_stream_without_opening_hours_is_always_open(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    plain, shown = show(browser, stream, WEEK), show(browser, stream, f"{WEEK}&hours=open")
    assert (shown.numbers, shown.data["points"]) == (plain.numbers, plain.data["points"])
    assert "This stream has no opening hours" in shown.page
    assert "Opening hours only" not in plain.page


def test_a_change_compares_opening_hours_with_opening_hours(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    open_at(stream, "mo-tu 12:00-16:00")
    shown = show(sign_in(owner), stream, f"{WEEK}&hours=open")
    assert "Compared over 8 of 20 h" not in shown.page
    assert "Compared over 8 of 8 h" in shown.page
    assert "60, before: 6" not in shown.page
    quarters = ask(stream, "2026-10-26T00:00:00+01:00", "2026-11-02T00:00:00+01:00", "by_quarter_hour")
    before = sum(
        one["passing_by"]["value"]
        for key, one in quarters.items()
        if key[:10] <= "2026-10-27" and "12" <= key[11:13] < "16"
    )
    assert f"before: {before}<" in shown.page


def test_a_refresh_leaves_the_control_alone(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    """A list that somebody has just opened would be closed, and a date that is half typed would be lost."""
    browser, fragment = sign_in(owner), {"hx-request": "true"}
    kept = '<form id="chart-control" class="chart-control" hx-preserve="true"'
    assert kept in show(browser, stream, WEEK, **fragment | {"hx-trigger": "report"}).page
    assert kept not in show(browser, stream, WEEK, **fragment).page


def test_a_choice_that_is_none_is_said_on_the_page(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    shown = show(sign_in(owner), stream, f"{WEEK}&metric=nothing", status=400)
    assert "Unknown number. Choose one of passing_by, interested" in shown.page


def test_a_second_number_of_another_unit_has_an_axis_of_its_own(
    sign_in: SignIn, owner: Account, stream: Stream
) -> None:
    browser = sign_in(owner)
    other = show(browser, stream, f"{WEEK}&metric=stop_time&beside=interested")
    assert other.data["chart"]["axes"] == {"left": "Stop time (s)", "right": "Interested"}
    assert (line(other)["axis"], line(other, "beside")["axis"]) == ("left", "right")
    assert other.tables["time"][0] == ["Day", "Stop time (s)", "Interested", "Watched"]
    alike = show(browser, stream, f"{WEEK}&metric=stop_time&beside=attention_time")
    assert alike.data["chart"]["axes"] == {"left": "Seconds", "right": ""}
    assert line(alike, "beside")["values"] == line(show(browser, stream, f"{WEEK}&metric=attention_time"))["values"]
    people = show(browser, stream, f"{WEEK}&beside=conversion")
    assert people.data["chart"]["axes"] == {"left": "People", "right": "Conversion (%)"}
    assert people.tables["time"][0] == ["Day", "Passing by", "Interested", "Conversion (%)", "Watched"]
