"""Buckets of local time, against a clock that somebody looks at all the time."""

import time
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onlooker.metrics.buckets import Buckets, changes_of_year, count_buckets, page_buckets
from onlooker.metrics.query import Query, Time

ZONES = (
    *("Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca", "Pacific/Apia"),
    *("America/St_Johns", "Asia/Beirut", "America/Sao_Paulo", "Africa/Monrovia", "Pacific/Chatham", "Antarctica/Troll"),
    *("UTC", "Etc/GMT+5", "Asia/Gaza", "America/Boa_Vista", "Pacific/Kwajalein"),
)
DAY_S = 86_400
HOUR = timedelta(hours=1)
FIRST_S = int(datetime(1970, 1, 1, tzinfo=UTC).timestamp())
LAST_S = int(datetime(2099, 12, 31, tzinfo=UTC).timestamp())
QUARTER = timedelta(minutes=15)
BY_CLOCK = st.sampled_from([time for time in Time if time is not Time.GLOBAL])


def ask(zone: str, from_at: datetime | str, to_at: datetime | str, *, by: Time) -> Query:
    """Dates without an offset are local."""
    place = ZoneInfo(zone)
    moments = [datetime.fromisoformat(at) if isinstance(at, str) else at for at in (from_at, to_at)]
    local = [at.astimezone(place) if at.tzinfo else at.replace(tzinfo=place) for at in moments]
    return Query(1, ("interested",), local[0], local[1], place, by)


def all_of(query: Query) -> Buckets:
    return page_buckets(query, first=0, count=count_buckets(query))


def moment(at_s: int) -> datetime:
    return datetime.fromtimestamp(at_s, UTC)


@cache
def days_of_change(zone: str) -> list[int]:
    """The beginnings of the days at whose end the clock has another offset."""
    days = range(FIRST_S, LAST_S, DAY_S)
    offsets = [datetime.fromtimestamp(day, ZoneInfo(zone)).utcoffset() for day in days]
    return [day for day, (before, after) in zip(days, pairwise(offsets), strict=False) if before != after]


@st.composite
def long_ranges(draw: st.DrawFn) -> Query:
    from_s, to_s = sorted(draw(st.lists(st.integers(FIRST_S, LAST_S), min_size=2, max_size=2, unique=True)))
    return ask(draw(st.sampled_from(ZONES)), moment(from_s), moment(to_s), by=draw(BY_CLOCK))


@settings(deadline=None)
@given(long_ranges(), st.data())
def test_a_range_has_the_buckets_of_its_two_parts(query: Query, data: st.DataObject) -> None:
    """So what holds for some days, watched all the time, holds for centuries."""
    total = count_buckets(query)
    cut = data.draw(st.integers(0, total))
    edge = page_buckets(query, first=cut, count=0).edges[0]
    if query.from_at < edge < query.to_at:
        parts = [
            ask(query.zone.key, query.from_at, edge, by=query.time),
            ask(query.zone.key, edge, query.to_at, by=query.time),
        ]
        assert [count_buckets(part) for part in parts] == [cut, total - cut]
    else:
        assert cut in (0, total)


@settings(deadline=None)
@given(long_ranges(), st.integers(0, 10_000_000), st.integers(1, 50))
def test_a_page_goes_on_where_the_one_before_ends(query: Query, first: int, count: int) -> None:
    first %= count_buckets(query)
    page = page_buckets(query, first=first, count=count)
    following = page_buckets(query, first=first + count, count=count)
    assert len(page.keys) == min(count, count_buckets(query) - first) == len(page.edges) - 1
    assert page.edges[-1] == following.edges[0]
    assert list(page.edges) == sorted(set(page.edges))
    assert len(set(page.keys)) == len(page.keys)


@pytest.mark.parametrize("zone", ZONES)
def test_every_change_since_1970_is_found(zone: str) -> None:
    found = [change.at_s for year in range(1970, 2100) for change in changes_of_year(zone, year)]
    assert [(at_s - 1) // DAY_S * DAY_S for at_s in found] == days_of_change(zone)
    assert bool(found) == (zone not in ("UTC", "Etc/GMT+5"))


def test_the_key_of_an_hour_carries_the_offset_of_its_moment() -> None:
    autumn = all_of(ask("Europe/Paris", "2026-10-25T01:30", "2026-10-25T03:00:00.000001", by=Time.BY_HOUR))
    assert autumn.keys == (
        "2026-10-25T01:00:00+02:00",
        "2026-10-25T02:00:00+02:00",
        "2026-10-25T02:00:00+01:00",
        "2026-10-25T03:00:00+01:00",
    )
    spring = all_of(ask("Europe/Paris", "2026-03-29T01:00", "2026-03-29T04:00", by=Time.BY_HOUR))
    assert spring.keys == ("2026-03-29T01:00:00+01:00", "2026-03-29T03:00:00+02:00")


def test_a_change_inside_an_hour_begins_a_bucket() -> None:
    """Lord Howe sets its clocks by half an hour."""
    back = all_of(ask("Australia/Lord_Howe", "2026-04-05T01:00", "2026-04-05T03:00", by=Time.BY_HOUR))
    assert back.keys == (
        "2026-04-05T01:00:00+11:00",
        "2026-04-05T01:30:00+10:30",
        "2026-04-05T02:00:00+10:30",
    )
    forth = all_of(ask("Australia/Lord_Howe", "2026-10-04T01:00", "2026-10-04T03:00", by=Time.BY_HOUR))
    assert forth.keys == ("2026-10-04T01:00:00+10:30", "2026-10-04T02:30:00+11:00")


def test_a_day_has_as_many_hours_as_its_clock_shows() -> None:
    for day, hours in (("2026-03-29", 23), ("2026-10-25", 25), ("2026-06-01", 24)):
        found = all_of(ask("Europe/Paris", f"{day}T00:00", f"{day}T23:59", by=Time.BY_DAY))
        assert [later - earlier for earlier, later in pairwise(found.edges)] == [hours * HOUR]


def test_a_day_whose_midnight_is_skipped_begins_when_its_date_does() -> None:
    found = all_of(ask("America/Sao_Paulo", "2018-11-03T12:00", "2018-11-05T00:00", by=Time.BY_DAY))
    assert found.keys == ("2018-11-03T00:00:00-03:00", "2018-11-04T01:00:00-02:00")


def test_a_date_that_never_was_has_no_bucket() -> None:
    found = all_of(ask("Pacific/Apia", "2011-12-29T12:00", "2012-01-01T00:00", by=Time.BY_DAY))
    assert found.keys == ("2011-12-29T00:00:00-10:00", "2011-12-31T00:00:00+14:00")


def test_a_day_begins_when_its_date_is_shown_first() -> None:
    """In 2006 the clocks of Newfoundland went back over midnight, one minute after it."""
    found = all_of(ask("America/St_Johns", "2006-10-28T12:00", "2006-10-29T12:00", by=Time.BY_DAY))
    assert found.keys == ("2006-10-28T00:00:00-02:30", "2006-10-29T00:00:00-02:30")
    assert found.edges[-1] - found.edges[-2] == 25 * HOUR


def test_weeks_begin_on_monday_and_months_with_their_first() -> None:
    weeks = all_of(ask("Europe/Paris", "2025-12-31T12:00", "2026-01-05T00:00:01", by=Time.BY_WEEK))
    assert weeks.keys == ("2025-12-29T00:00:00+01:00", "2026-01-05T00:00:00+01:00")
    months = all_of(ask("Europe/Paris", "2024-02-29T23:00", "2024-04-01T00:00", by=Time.BY_MONTH))
    assert months.keys == ("2024-02-01T00:00:00+01:00", "2024-03-01T00:00:00+01:00")
    assert [later - earlier for earlier, later in pairwise(months.edges)] == [29 * 24 * HOUR, 31 * 24 * HOUR - HOUR]


def test_a_date_that_never_was_makes_its_week_and_month_shorter() -> None:
    """Kiribati skipped the last day of 1994, Kwajalein a Saturday."""
    skipped = all_of(ask("Pacific/Kiritimati", "1994-12-30T12:00", "1995-01-01T12:00", by=Time.BY_MONTH))
    assert skipped.keys == ("1994-12-01T00:00:00-10:00", "1995-01-01T00:00:00+14:00")
    weeks = all_of(ask("Pacific/Kwajalein", "1993-08-16T12:00", "1993-08-23T12:00", by=Time.BY_WEEK))
    assert [later - earlier for earlier, later in pairwise(weeks.edges)] == [6 * 24 * HOUR, 7 * 24 * HOUR]


def test_quarter_hours_have_fifteen_minutes_whatever_the_clock_does() -> None:
    for zone, day in (
        ("Europe/Paris", "2026-10-25"),
        ("Europe/Paris", "2026-03-29"),
        ("Australia/Lord_Howe", "2026-04-05"),
    ):
        found = all_of(ask(zone, f"{day}T00:00", f"{day}T23:59", by=Time.BY_QUARTER_HOUR))
        assert {later - earlier for earlier, later in pairwise(found.edges)} == {QUARTER}
        assert len(set(found.keys)) == len(found.keys) == (found.edges[-1] - found.edges[0]) // QUARTER
    back = all_of(
        ask("Australia/Lord_Howe", "2026-04-05T01:45+11:00", "2026-04-05T02:00+10:30", by=Time.BY_QUARTER_HOUR)
    )
    assert back.keys == ("2026-04-05T01:45:00+11:00", "2026-04-05T01:30:00+10:30", "2026-04-05T01:45:00+10:30")


def test_a_clock_that_changes_inside_a_quarter_hour_does_not_cut_it() -> None:
    """Newfoundland's went back one minute after midnight."""
    found = all_of(ask("America/St_Johns", "2010-11-07T02:30+00:00", "2010-11-07T03:00+00:00", by=Time.BY_QUARTER_HOUR))
    assert found.keys == ("2010-11-07T00:00:00-02:30", "2010-11-06T23:15:00-03:30")


def test_an_offset_may_have_seconds() -> None:
    found = all_of(ask("Africa/Monrovia", "1972-01-06T23:00", "1972-01-07T00:50+00:00", by=Time.BY_HOUR))
    assert found.keys == ("1972-01-06T23:00:00-00:44:30", "1972-01-07T00:44:30+00:00")
    quarters = all_of(
        ask("Africa/Monrovia", "1972-01-07T00:30+00:00", "1972-01-07T01:00+00:00", by=Time.BY_QUARTER_HOUR)
    )
    assert quarters.keys == ("1972-01-06T23:45:30-00:44:30", "1972-01-07T00:45:00+00:00")


def test_global_is_one_bucket_from_the_first_moment_to_the_last() -> None:
    query = ask("Europe/Paris", "2026-10-25T01:30", "2026-10-25T03:00", by=Time.GLOBAL)
    moments = (datetime(2026, 10, 24, 23, 30, 0, 123457, tzinfo=UTC), datetime(2026, 10, 25, 2, tzinfo=UTC))
    assert count_buckets(query) == 1
    found = page_buckets(replace(query, from_at=moments[0]), first=0, count=1)
    assert found == Buckets(("global",), tuple(moment.timestamp() for moment in moments))
    assert found.edges == moments


@given(st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)))
def test_an_edge_is_the_moment_whose_seconds_it_has(moment: datetime) -> None:
    """To the microsecond: a float has as many digits until long after 2100."""
    assert Buckets((), (moment.timestamp(),)).edges == (moment,)


def test_a_moment_is_one_bucket_and_its_edge_belongs_to_the_later() -> None:
    noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    tiny = timedelta(microseconds=1)
    spans = {(noon - tiny, noon): 11, (noon, noon + tiny): 12, (noon + tiny, noon + 2 * tiny): 12}
    for (from_at, to_at), hour in spans.items():
        found = all_of(ask("UTC", from_at, to_at, by=Time.BY_HOUR))
        assert found.keys == (f"2026-05-01T{hour}:00:00+00:00",)
    assert count_buckets(ask("UTC", noon - tiny, noon + tiny, by=Time.BY_HOUR)) == 2


def test_a_range_that_ends_in_the_second_of_two_equal_hours_is_in_order() -> None:
    """To Python, two times of one zone are in the order of their figures, whatever the offset."""
    query = ask("Europe/Paris", "2026-10-25T02:50:00+02:00", "2026-10-25T02:10:00+01:00", by=Time.BY_HOUR)
    assert all_of(query).keys == ("2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00")


def test_centuries_are_counted_at_once() -> None:
    query = ask("Europe/Paris", "1970-01-01T00:00", "2099-12-31T23:59", by=Time.BY_HOUR)
    changes_of_year.cache_clear()
    taken = [_time(query) for _ in range(10)]
    assert taken[0] < 0.5
    assert min(taken) < 0.01
    assert count_buckets(query) == 24 * (date(2100, 1, 1) - date(1970, 1, 1)).days


def _time(query: Query) -> float:
    began = time.process_time()
    count_buckets(query)
    page_buckets(query, first=1_000_000, count=50)
    return time.process_time() - began
