"""What a chart is asked to show besides its usual bars: parsed from the address, and aligned on local clocks."""

from datetime import UTC, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from onlooker.console.bucket_numbers import cut_buckets
from onlooker.console.dashboard.period import Period, PeriodError, parse_period
from onlooker.console.dashboard.report import all_buckets, make_query
from onlooker.console.time_chart.choice import (
    CHARTED,
    ChartChoice,
    GhostKind,
    as_suffix,
    keep_choice,
    parse_choice,
)
from onlooker.console.time_chart.control import make_control
from onlooker.console.time_chart.ghost import Ghost, align_buckets, find_ghost, ghost_buckets
from onlooker.console.time_chart.series import find_ahead, shape_series
from onlooker.metrics.comparison import intersect_runs
from onlooker.metrics.coverage import Absence, BucketCoverage, Closure
from onlooker.metrics.like_time import SlotRun
from onlooker.metrics.query import Time

PARIS = ZoneInfo("Europe/Paris")
NOW = datetime(2026, 11, 18, 16, 9, 55, tzinfo=UTC)  # a Wednesday
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
OTHER = "0f8fad5b-d9cb-469f-a165-70867728950e"


def parameters_of(query: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in query.split("&") if pair)


def period_of(query: str) -> Period:
    return parse_period(parameters_of(query), zone=PARIS, now=NOW)


def choice_of(query: str) -> ChartChoice:
    return parse_choice(parameters_of(query), period_of(query))


def ghost_of(query: str) -> tuple[str, str]:
    """Its local ends."""
    ghost = find_ghost(choice_of(query), period_of(query), now=NOW)
    assert ghost
    begins, ends = (f"{at.astimezone(PARIS):%Y-%m-%d %H:%M}" for at in (ghost.from_at, ghost.to_at))
    return begins, ends


@pytest.mark.parametrize(
    ("query", "choice"),
    [
        ("", ChartChoice()),
        ("metric=stop_time", ChartChoice("stop_time")),
        ("metric=conversion&beside=interested", ChartChoice("conversion", "interested")),
        ("metric=conversion&beside=conversion", ChartChoice("conversion")),
        ("beside=passing_by", ChartChoice()),
        (f"metric=stopped&beside={OTHER}", ChartChoice("stopped", beside_stream=UUID(OTHER))),
        ("ghost=before", ChartChoice(ghost=GhostKind.BEFORE)),
        ("ghost=day", ChartChoice()),  # seven days have no day before
        ("period=yesterday&ghost=day", ChartChoice(ghost=GhostKind.DAY)),
        ("period=today", ChartChoice(ghost=GhostKind.DAY)),
        ("period=today&ghost=none", ChartChoice()),
        ("ghost=date", ChartChoice(ghost=GhostKind.DATE)),
        ("ghost=date&ghost_date=2026-03-02", ChartChoice(ghost=GhostKind.DATE, ghost_day=datetime(2026, 3, 2).date())),
        ("ghost=year&ghost_date=2026-03-02", ChartChoice(ghost=GhostKind.YEAR)),
        ("hours=open", ChartChoice(in_hours=True)),
        ("hours=all", ChartChoice()),
    ],
)
def test_what_is_chosen_stands_in_the_address(query: str, choice: ChartChoice) -> None:
    assert choice_of(query) == choice


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("metric=age", "Choose one of passing_by, interested, conversion"),
        ("metric=<script>", "Unknown number"),
        ("beside=nothing", "Choose a stream, or one of passing_by"),
        ("ghost=yesterday", "Choose one of none, day, before, year, date"),
        ("ghost=date&ghost_date=soon", "as 2026-11-01"),
        ("hours=closed", "Choose open or all"),
    ],
)
def test_what_cannot_be_chosen_is_refused_with_what_can(query: str, words: str) -> None:
    with pytest.raises(PeriodError, match=words):
        choice_of(query)


def test_links_to_other_periods_take_the_choice_along() -> None:
    kept = keep_choice(parameters_of("period=7d&by=hour&metric=stop_time&beside=&ghost=none&hours=open"))
    assert as_suffix(kept) == "&metric=stop_time&ghost=none&hours=open"
    assert as_suffix(keep_choice({"period": "7d"})) == ""


@pytest.mark.parametrize(
    ("query", "ends"),
    [
        ("period=today", ("2026-11-17 00:00", "2026-11-18 00:00")),  # all of yesterday, though today is not over
        ("period=today&ghost=before", ("2026-11-11 00:00", "2026-11-12 00:00")),
        ("period=7d&ghost=before", ("2026-11-05 00:00", "2026-11-12 00:00")),
        ("period=30d&ghost=before", ("2026-09-15 00:00", "2026-10-15 00:00")),
        ("period=7d&ghost=year", ("2025-11-13 00:00", "2025-11-20 00:00")),
        ("period=last-week&ghost=date&ghost_date=2026-03-05", ("2026-03-02 00:00", "2026-03-09 00:00")),
        ("period=yesterday&ghost=date&ghost_date=2026-03-05", ("2026-03-05 00:00", "2026-03-06 00:00")),
        ("period=24h&ghost=day", ("2026-11-16 17:09", "2026-11-17 17:09")),
        ("period=last-year&ghost=year", ("2024-01-03 00:00", "2025-01-02 00:00")),  # 365 days
        ("from=2026-11-18T09:00&to=2026-11-18T20:00&ghost=before", ("2026-11-11 09:00", "2026-11-11 20:00")),
    ],
)
def test_a_ghost_has_the_same_weekdays_and_times(query: str, ends: tuple[str, str]) -> None:
    assert ghost_of(query) == ends


def test_a_ghost_lies_before_its_period() -> None:
    for date in ("2026-11-18", "2027-01-01", "0001-01-01", "1971-01-01"):
        with pytest.raises(PeriodError, match="before the period"):
            find_ghost(choice_of(f"ghost=date&ghost_date={date}"), period_of("period=7d"), now=NOW)
    assert find_ghost(choice_of(""), period_of(""), now=NOW) is None


def aligned(query: str) -> list[tuple[str, str | None]]:
    """Keys of the period's buckets, and of the ghost's that belong to them."""
    period = period_of(query)
    ghost = find_ghost(choice_of(query), period, now=NOW)
    assert ghost
    asked = make_query(1, period, period.time)
    buckets = all_buckets(asked)
    own = ghost_buckets(asked, ghost, buckets.keys, buckets.edges)
    places = align_buckets(buckets.keys, own.keys, ghost, period.time)
    return [(key, None if place is None else own.keys[place]) for key, place in zip(buckets.keys, places, strict=True)]


def test_hours_of_a_ghost_belong_to_the_same_times_of_day_when_clocks_change() -> None:
    """25 October 2026 shows 02:00 twice, 28 March 2027 never; the days before them have each hour once."""
    longer = aligned("from=2026-10-25&to=2026-10-25&ghost=day")
    assert [(key[11:16], other and other[11:16]) for key, other in longer[1:5]] == [
        ("01:00", "01:00"),
        ("02:00", "02:00"),
        ("02:00", None),
        ("03:00", "03:00"),
    ]
    shorter = aligned("from=2026-03-29&to=2026-03-29&ghost=day")
    assert [(key[11:16], other and other[11:16]) for key, other in shorter[1:4]] == [
        ("01:00", "01:00"),
        ("03:00", "03:00"),
        ("04:00", "04:00"),
    ]
    after = aligned("from=2026-03-30&to=2026-03-30&ghost=day")
    assert after[2] == ("2026-03-30T02:00:00+02:00", None)


def test_days_weeks_and_months_of_a_ghost_are_whole_weeks_earlier() -> None:
    days = aligned("from=2026-10-19&to=2026-11-15&ghost=before")
    assert {datetime.fromisoformat(one[:10]) - datetime.fromisoformat((other or "")[:10]) for one, other in days} == {
        28 * DAY
    }
    weeks = aligned("from=2026-08-31&to=2026-11-15&by=week&ghost=year")
    assert {datetime.fromisoformat(one[:10]) - datetime.fromisoformat((other or "")[:10]) for one, other in weeks} == {
        364 * DAY
    }


def test_months_of_a_ghost_are_the_periods_moved() -> None:
    period = period_of("period=last-year&by=month")
    ghost = Ghost(period.from_at - 364 * DAY, period.to_at - 364 * DAY, 364 * DAY)
    asked = make_query(1, period, Time.BY_MONTH)
    buckets = all_buckets(asked)
    own = ghost_buckets(asked, ghost, buckets.keys, buckets.edges)
    assert [f"{edge.astimezone(PARIS):%m-%d %H}" for edge in own.edges[:3]] == ["01-03 00", "02-03 00", "03-02 00"]
    assert align_buckets(buckets.keys, own.keys, ghost, Time.BY_MONTH) == list(range(12))


def test_today_goes_on_to_its_end_and_no_other_period_does() -> None:
    period = period_of("period=today")
    ahead = find_ahead(make_query(1, period, period.time), period)
    assert [key[11:16] for key in ahead.keys] == ["18:00", "19:00", "20:00", "21:00", "22:00", "23:00"]
    week = period_of("period=week")
    assert find_ahead(make_query(1, week, week.time), week).keys == ()


def test_today_is_drawn_by_hour_from_its_first_second_on() -> None:
    for hour in (0, 3, 12, 23):
        now = datetime(2026, 11, 18, hour, 0, 1, tzinfo=PARIS).astimezone(UTC)
        period = parse_period({"period": "today"}, zone=PARIS, now=now)
        assert period.time is Time.BY_HOUR
        asked = make_query(1, period, period.time)
        assert len(all_buckets(asked).keys) + len(find_ahead(asked, period).keys) == 24


def closed(*spans: tuple[float, float]) -> list[Closure]:
    begin = datetime.fromtimestamp(0, UTC)
    return [Closure(Absence.CLOSED, begin + first * HOUR, begin + last * HOUR) for first, last in spans]


def test_buckets_are_cut_where_a_stream_opens_and_closes() -> None:
    cut = cut_buckets((0, 7200, 14400), closed((0, 0.5), (1, 3)))
    assert cut.edges_s == (0, 1800, 3600, 7200, 10800, 14400)
    assert cut.places == (0, 0, 0, 1, 1)
    assert cut.is_open == (False, True, False, False, True)
    assert cut.add_up([1, 2, 4, 8, 16], nothing=0) == [2, 16]
    assert cut_buckets((0, 3600), closed((-2, 5))).is_open == (False,)
    assert cut_buckets((0, 3600, 7200), ()).edges_s == (0, 3600, 7200)


def test_runs_intersect() -> None:
    runs, others = [SlotRun(0, 10), SlotRun(20, 30)], [SlotRun(5, 22), SlotRun(24, 26), SlotRun(29, 40)]
    found = [SlotRun(5, 10), SlotRun(20, 22), SlotRun(24, 26), SlotRun(29, 30)]
    assert intersect_runs(runs, others) == found
    assert intersect_runs(others, runs) == found
    assert intersect_runs(runs, []) == []


def test_means_of_few_people_are_not_told_and_gaps_are_no_zeros() -> None:
    watched = BucketCoverage(3600, 3600, {}, None)
    missed = BucketCoverage(3600, 0, {Absence.OFFLINE: 3600}, None)
    figures = {
        "passing_by": [[20], [9], [0], [0]],
        "interested": [[10], [9], [0], [0]],
        "stop_time": [[55_000_000, 10], [50_000_000, 9], [0, 0], [0, 0]],
    }
    covered = (watched, watched, watched, missed)
    times = shape_series("stop_time", figures, covered)
    assert times.values == (5.5, None, None, None)
    assert times.is_few == (False, True, True, False)
    assert shape_series("conversion", figures, covered).values == (0.5, None, None, None)
    people = shape_series("passing_by", figures, covered)
    assert (people.values, people.is_few) == ((20, 9, 0, None), (False,) * 4)
    nobody = {name: [[0] * len(row) for row in rows] for name, rows in figures.items()}
    assert shape_series("interested", nobody, covered, reads_faces=False).values == (None,) * 4


def test_the_control_offers_what_can_be_chosen() -> None:
    query = "period=today&metric=stop_time&beside=conversion"
    control = make_control(
        choice_of(query),
        period_of(query),
        streams=[(UUID(OTHER), "Back door")],
        has_hours=False,
        shown_date="2026-11-17",
        hidden=[("period", "today")],
    )
    assert [option.value for option in control.metrics] == ["", *CHARTED]
    assert [option.label for option in control.metrics if option.is_chosen] == ["Stop time"]
    assert "stop_time" not in [option.value for option in control.beside]
    assert [option.value for option in control.beside if option.is_chosen] == ["conversion"]
    assert [(option.value, option.is_chosen) for option in control.ghosts] == [
        ("none", False),
        ("day", True),
        ("before", False),
        ("year", False),
        ("date", False),
    ]
    week = make_control(
        choice_of("ghost=date"), period_of(""), streams=[], has_hours=True, shown_date="2025-11-13", hidden=[]
    )
    assert [option.value for option in week.ghosts] == ["", "before", "year", "date"]
    assert (week.asks_date, week.ghost_date) == (True, "2025-11-13")
