"""The period of a dashboard: what it begins and ends with by the local clock, and what it is compared with."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onlooker.console.dashboard.period import (
    CALENDAR_NAMES,
    LONGEST,
    NAMES,
    Period,
    PeriodError,
    make_picker,
    parse_period,
)
from onlooker.metrics.query import Time

PARIS = ZoneInfo("Europe/Paris")
NOW = datetime(2026, 11, 15, 16, 9, 55, 123456, tzinfo=UTC)  # a Sunday, 17:09:55 in Paris
SECOND = timedelta(seconds=1)
ZONES = (
    "UTC",
    "Europe/Paris",
    "America/New_York",
    "America/Havana",  # goes back to midnight
    "America/Sao_Paulo",  # went on at midnight
    "America/St_Johns",  # went back over midnight
    "Asia/Beirut",  # goes on at midnight
    "Asia/Kathmandu",
    "Australia/Lord_Howe",  # half an hour of summer time
    "Pacific/Apia",  # skipped a day
)
CHANGES = (
    "2010-11-07T02:31",
    "2011-12-30T10:00",
    "2018-11-04T03:00",
    "2024-02-29T00:00",
    "2025-10-26T01:00",
    "2025-11-02T05:00",
    "2026-03-28T22:00",
    "2026-04-04T15:00",
    "2026-11-01T00:00",
)
DAYS = {"today": 1, "3d": 3, "7d": 7, "30d": 30}


def period(query: str, *, zone: ZoneInfo = PARIS, now: datetime = NOW) -> Period:
    return parse_period(dict(pair.split("=", 1) for pair in query.split("&") if pair), zone=zone, now=now)


def local(found: Period) -> list[str]:
    """Its two ranges, as the clock on the wall reads."""
    moments = (found.from_at, found.to_at, found.before_from_at, found.before_to_at)
    return [moment.astimezone(found.zone).strftime("%m-%d %H:%M:%S") for moment in moments]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("period=today", ["11-15 00:00:00", "11-15 17:09:55", "11-08 00:00:00", "11-08 17:09:55"]),
        ("period=24h", ["11-14 17:09:55", "11-15 17:09:55", "11-07 17:09:55", "11-08 17:09:55"]),
        ("period=3d", ["11-13 00:00:00", "11-15 17:09:55", "11-06 00:00:00", "11-08 17:09:55"]),
        ("", ["11-09 00:00:00", "11-15 17:09:55", "11-02 00:00:00", "11-08 17:09:55"]),
        ("period=30d", ["10-17 00:00:00", "11-15 17:09:55", "09-12 00:00:00", "10-11 17:09:55"]),
        ("from=2026-11-03&to=2026-11-03", ["11-03 00:00:00", "11-04 00:00:00", "10-27 00:00:00", "10-28 00:00:00"]),
        ("from=2026-11-01&to=2026-11-10", ["11-01 00:00:00", "11-11 00:00:00", "10-18 00:00:00", "10-28 00:00:00"]),
        ("from=2026-11-01&to=2026-11-30", ["11-01 00:00:00", "11-15 17:09:55", "10-11 00:00:00", "10-25 17:09:55"]),
        ("from=2026-11-14", ["11-14 00:00:00", "11-15 17:09:55", "11-07 00:00:00", "11-08 17:09:55"]),
        (
            "from=2026-11-03T09:00&to=2026-11-03T12:30",
            ["11-03 09:00:00", "11-03 12:30:00", "10-27 09:00:00", "10-27 12:30:00"],
        ),
        (
            "from=2026-11-02T20:00&to=2026-11-04T06:00",
            ["11-02 20:00:00", "11-04 06:00:00", "10-26 20:00:00", "10-28 06:00:00"],
        ),
    ],
)
def test_a_period_is_compared_with_the_same_weekdays_and_times_before(query: str, expected: list[str]) -> None:
    assert local(period(query)) == expected


def test_a_moment_may_have_an_offset_where_a_clock_shows_it_twice() -> None:
    found = period("from=2026-10-25T02:30:00+01:00&to=2026-10-25T01:45:00Z")
    assert (found.from_at, found.to_at) == (
        datetime(2026, 10, 25, 1, 30, tzinfo=UTC),
        datetime(2026, 10, 25, 1, 45, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2024-02-29", 24), ("2026-07-01", 24)]
)
def test_a_day_is_as_long_as_the_clock_makes_it(day: str, hours: int) -> None:
    found = period(f"from={day}&to={day}")
    assert found.to_at - found.from_at == timedelta(hours=hours)
    assert found.before_to_at <= found.from_at - timedelta(days=5)


@pytest.mark.parametrize(
    ("zone", "day", "begins"),
    [
        ("America/Sao_Paulo", "2018-11-04", "2018-11-04T01:00:00-02:00"),
        ("Asia/Beirut", "2026-03-29", "2026-03-29T01:00:00+03:00"),
        ("America/Havana", "2025-11-02", "2025-11-02T00:00:00-04:00"),
        ("America/St_Johns", "2010-11-07", "2010-11-07T00:00:00-02:30"),
    ],
)
def test_a_day_begins_where_the_clock_shows_its_date_first(zone: str, day: str, begins: str) -> None:
    found = period(f"from={day}&to={day}", zone=ZoneInfo(zone))
    assert found.from_at.astimezone(ZoneInfo(zone)).isoformat() == begins
    assert found.days == 1


@pytest.mark.parametrize("name", NAMES)
def test_the_first_second_of_a_day_is_a_period(name: str) -> None:
    midnight = datetime(2026, 11, 14, 23, 0, tzinfo=UTC)
    found = period(f"period={name}", now=midnight)
    assert found.from_at < found.to_at == midnight
    assert found.before_from_at < found.before_to_at <= found.from_at


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("period=8d", "Unknown period"),
        ("period=", "Unknown period"),
        ("from=&to=", "Write dates as"),
        ("to=2026-11-01", "Write dates as"),
        ("from=2026-11-1&to=2026-11-02", "Write dates as"),
        ("from=2026-11-01T09&to=2026-11-02", "Write dates as"),
        ("from=\u0662026-11-01", "Write dates as"),
        ("from=2026-02-29", "2026-02-29 is not a valid date or time"),
        ("from=2026-11-01T24:01", "2026-11-01T24:01 is not a valid date or time"),
        ("from=0000-01-01", "is not a valid date or time"),
        ("from=9999-12-31&to=9999-12-31", "is not a valid date or time"),
        ("from=1970-01-01", "before 1971 are not supported"),
        ("from=2026-11-02&to=2026-11-01", "before the end"),
        ("from=2026-11-16", "not in the future"),
        ("from=2026-11-01&to=9998-12-31", f"at most {LONGEST.days} days"),
        ("from=2020-01-01", f"at most {LONGEST.days} days"),
    ],
)
def test_what_is_no_period_is_said_with_what_is_right(query: str, says: str) -> None:
    with pytest.raises(PeriodError, match=says):
        period(query)


def test_five_years_are_the_longest_period() -> None:
    begins = (NOW.astimezone(PARIS) - LONGEST + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M")
    assert period(f"from={begins}").time is Time.BY_MONTH


@pytest.mark.parametrize(
    ("query", "time"),
    [
        ("from=2026-11-03T09:00&to=2026-11-03T15:00", Time.BY_QUARTER_HOUR),
        ("from=2026-11-03T09:00&to=2026-11-03T15:01", Time.BY_HOUR),
        ("period=3d", Time.BY_HOUR),
        ("from=2026-10-23&to=2026-10-25", Time.BY_HOUR),  # 73 hours
        ("period=7d", Time.BY_DAY),
        ("from=2026-06-01&to=2026-08-31", Time.BY_DAY),
        ("period=last-year", Time.BY_WEEK),
        ("from=2023-01-01&to=2025-12-31", Time.BY_MONTH),
    ],
)
def test_the_length_of_a_period_chooses_how_it_is_drawn(query: str, time: Time) -> None:
    assert period(query).time is time


def test_buckets_that_make_sense_can_be_chosen() -> None:
    def names(query: str) -> list[str]:
        return [grain.name for grain in period(query).grains]

    assert names("period=today") == ["quarter-hour", "hour"]
    assert names("from=2026-10-25&to=2026-10-25") == ["quarter-hour", "hour"]  # 25 hours
    assert names("period=3d") == ["quarter-hour", "hour", "day"]
    assert names("period=7d") == ["hour", "day"]
    assert names("period=30d") == ["day", "week"]
    assert names("period=last-year") == ["day", "week", "month"]
    assert period("period=7d&by=hour").time is Time.BY_HOUR
    assert period("period=30d&by=quarter-hour").time is Time.BY_DAY, "the usual one: a period grows with the clock"
    with pytest.raises(PeriodError, match="Choose one of quarter-hour, hour, day, week, month"):
        period("period=7d&by=minute")


def test_the_chosen_buckets_stay_with_the_neighbours_of_a_period() -> None:
    picker = make_picker(period("period=7d&by=hour"), zone=PARIS, now=NOW)
    assert picker.earlier == "from=2026-11-02&to=2026-11-08&by=hour"


@pytest.mark.parametrize(
    ("name", "begins", "ends"),
    [
        ("yesterday", "2026-11-14 00:00:00", "2026-11-15 00:00:00"),
        ("week", "2026-11-09 00:00:00", "2026-11-15 17:09:55"),
        ("last-week", "2026-11-02 00:00:00", "2026-11-09 00:00:00"),
        ("month", "2026-11-01 00:00:00", "2026-11-15 17:09:55"),
        ("last-month", "2026-10-01 00:00:00", "2026-11-01 00:00:00"),
        ("year", "2026-01-01 00:00:00", "2026-11-15 17:09:55"),
        ("last-year", "2025-01-01 00:00:00", "2026-01-01 00:00:00"),
    ],
)
def test_named_weeks_months_and_years_are_those_of_the_calendar(name: str, begins: str, ends: str) -> None:
    found = period(f"period={name}")
    assert [f"{at.astimezone(PARIS):%F %T}" for at in (found.from_at, found.to_at)] == [begins, ends]
    assert found.is_moving is (ends == "2026-11-15 17:09:55")
    assert (found.before_to_at - found.from_at).total_seconds() <= 0
    picker = make_picker(found, zone=PARIS, now=NOW)
    assert [choice.name for choice in (*picker.choices, *picker.calendar) if choice.is_chosen] == [name]


@pytest.mark.parametrize(
    ("query", "is_moving"),
    [
        ("period=24h", True),
        ("from=2026-11-14", True),
        ("from=2026-11-14&to=2026-11-15", True),
        ("from=2026-11-14&to=2026-11-14", False),
    ],
)
def test_a_period_that_is_not_over_goes_on(query: str, is_moving: bool) -> None:
    assert period(query).is_moving is is_moving


moments = st.builds(
    lambda change, aside_s: datetime.fromisoformat(change).replace(tzinfo=UTC) + timedelta(seconds=aside_s),
    st.sampled_from(CHANGES),
    st.one_of(st.sampled_from((-86_400, -3600, -1, 0, 1, 1800, 86_399)), st.integers(-4 * 86_400, 4 * 86_400)),
)


def first_second_of(day: date, zone: ZoneInfo, now: datetime) -> datetime:
    """Found by looking at the clock: every half hour, and every minute of the two hours before the date is there.

    A clock that is set back over midnight shows a date twice: the first time counts.
    """
    seen = now - timedelta(days=40)
    while seen.astimezone(zone).date() < day:
        seen += timedelta(minutes=30)
    seen -= timedelta(hours=2)
    while seen.astimezone(zone).date() < day:
        seen += SECOND * (60 - seen.second % 60)
    return seen


@example(now=datetime(2010, 11, 7, 2, 31, tzinfo=UTC), zone=ZoneInfo("America/St_Johns"), name="30d")
@example(now=datetime(2010, 11, 7, 3, 31, tzinfo=UTC), zone=ZoneInfo("America/St_Johns"), name="today")
@given(now=moments, zone=st.sampled_from(ZONES).map(ZoneInfo), name=st.sampled_from(sorted(DAYS)))
def test_named_periods_begin_with_a_day_and_their_comparisons_lie_before_them(
    now: datetime, zone: ZoneInfo, name: str
) -> None:
    found = parse_period({"period": name}, zone=zone, now=now)
    first = now.astimezone(zone).date() - timedelta(days=DAYS[name] - 1)
    expected = first_second_of(first, zone, now.replace(second=0))
    assert found.to_at == now
    assert found.from_at == min(expected, now - SECOND)
    assert found.before_from_at < found.before_to_at <= found.from_at
    assert 1 <= found.days <= DAYS[name]
    assert abs((found.before_to_at - found.before_from_at) - (found.to_at - found.from_at)) <= timedelta(hours=25)


@given(
    now=moments,
    zone=st.sampled_from(ZONES).map(ZoneInfo),
    begins_h=st.integers(1, 24 * 80),
    lasts_h=st.integers(0, 24 * 80),
    as_dates=st.booleans(),
)
def test_any_range_is_compared_with_one_of_its_own_length_within_a_week_before(
    now: datetime, zone: ZoneInfo, begins_h: int, lasts_h: int, as_dates: bool
) -> None:
    form = "%Y-%m-%d" if as_dates else "%Y-%m-%dT%H:%M"
    begins = (now - timedelta(hours=begins_h)).astimezone(zone).replace(tzinfo=None)
    query = {"from": begins.strftime(form), "to": (begins + timedelta(hours=lasts_h)).strftime(form)}
    try:
        found = parse_period(query, zone=zone, now=now)
    except PeriodError:
        assert not as_dates or zone.key == "Pacific/Apia"
        return
    assert found.from_at < found.to_at <= now
    assert found.before_from_at < found.before_to_at <= found.from_at
    assert found.from_at - found.before_to_at <= timedelta(days=8)
    assert abs((found.before_to_at - found.before_from_at) - (found.to_at - found.from_at)) <= timedelta(hours=25)


@pytest.mark.parametrize(
    ("query", "earlier", "later"),
    [
        ("period=month", "from=2026-10-01&to=2026-10-31", ""),
        ("period=last-month", "from=2026-09-01&to=2026-09-30", "from=2026-11-01&to=2026-11-30"),
        ("from=2026-02-01&to=2026-02-28", "from=2026-01-01&to=2026-01-31", "from=2026-03-01&to=2026-03-31"),
        ("from=2026-04-01&to=2026-06-30", "from=2026-01-01&to=2026-03-31", "from=2026-07-01&to=2026-09-30"),
        ("period=last-year", "from=2024-01-01&to=2024-12-31", "from=2026-01-01&to=2026-12-31"),
        ("period=last-week", "from=2026-10-26&to=2026-11-01", "from=2026-11-09&to=2026-11-15"),
        ("from=2026-10-01&to=2026-10-30", "from=2026-09-01&to=2026-09-30", "from=2026-10-31&to=2026-11-29"),
    ],
)
def test_whole_months_step_by_months(query: str, earlier: str, later: str) -> None:
    picker = make_picker(period(query), zone=PARIS, now=NOW)
    assert (picker.earlier, picker.later) == (earlier, later)


def test_dates_of_a_named_month_are_chosen_by_its_name_too() -> None:
    picker = make_picker(period("from=2026-10-01&to=2026-10-31"), zone=PARIS, now=NOW)
    assert [choice.name for choice in picker.calendar if choice.is_chosen] == ["last-month"]


def test_the_neighbours_of_a_period_are_as_long_as_it_is() -> None:
    picker = make_picker(period("period=7d"), zone=PARIS, now=NOW)
    assert (picker.earlier, picker.later) == ("from=2026-11-02&to=2026-11-08", "")
    picker = make_picker(period("from=2026-11-02&to=2026-11-08"), zone=PARIS, now=NOW)
    assert (picker.earlier, picker.later) == ("from=2026-10-26&to=2026-11-01", "from=2026-11-09&to=2026-11-15")
    picker = make_picker(period("from=2026-11-02T09:00&to=2026-11-02T10:00"), zone=PARIS, now=NOW)
    assert picker.later == "from=2026-11-03T09:00&to=2026-11-03T10:00"
    assert make_picker(period("from=1971-01-02&to=1971-01-02"), zone=PARIS, now=NOW).earlier == ""
    assert make_picker(period("period=24h"), zone=PARIS, now=NOW + timedelta(seconds=1)).later == ""


def test_the_form_has_the_range_that_is_shown() -> None:
    picker = make_picker(period("period=today"), zone=PARIS, now=NOW)
    assert (picker.from_local, picker.to_local) == ("2026-11-15T00:00", "2026-11-15T17:09")
    assert [choice.name for choice in picker.choices if choice.is_chosen] == ["today"]
    assert not any(choice.is_chosen for choice in make_picker(None, zone=PARIS, now=NOW).choices)


@given(now=moments, zone=st.sampled_from(ZONES).map(ZoneInfo), name=st.sampled_from(sorted(CALENDAR_NAMES)))
def test_calendar_periods_lie_before_now_and_have_a_length(now: datetime, zone: ZoneInfo, name: str) -> None:
    found = parse_period({"period": name}, zone=zone, now=now)
    assert found.from_at < found.to_at <= now
    assert found.is_moving is (not name.startswith(("last", "yesterday")))
    assert found.before_from_at < found.before_to_at <= found.from_at
