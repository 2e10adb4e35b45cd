"""When a mailed report is due: by the local clock, once a date, through changes of clocks."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as some

from onlooker.console.reports.schedule import next_due

PARIS = ZoneInfo("Europe/Paris")
SUNDAY = 6
ZONES = ("Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Santiago", "UTC")


def dues(weekday: int | None, hour: int, zone: ZoneInfo, after: datetime, count: int) -> list[datetime]:
    found: list[datetime] = []
    for _ in range(count):
        found.append(next_due(weekday, hour, zone, after=found[-1] if found else after))
    return found


def local(moments: list[datetime], zone: ZoneInfo) -> list[str]:
    return [f"{moment.astimezone(zone):%m-%d %H:%M}" for moment in moments]


def test_the_hour_stays_the_same_when_clocks_change() -> None:
    found = dues(0, 7, PARIS, datetime(2026, 10, 12, 12, tzinfo=UTC), 3)
    assert local(found, PARIS) == ["10-19 07:00", "10-26 07:00", "11-02 07:00"]
    assert [moment.hour for moment in found] == [5, 6, 6]


def test_an_hour_that_clocks_show_twice_counts_once_the_first_time() -> None:
    """On 25 October 2026 Paris goes from 03:00 back to 02:00."""
    found = dues(SUNDAY, 2, PARIS, datetime(2026, 10, 19, tzinfo=UTC), 2)
    assert found == [datetime(2026, 10, 25, 0, tzinfo=UTC), datetime(2026, 11, 1, 1, tzinfo=UTC)]
    between = next_due(SUNDAY, 2, PARIS, after=datetime(2026, 10, 25, 0, 30, tzinfo=UTC))
    assert between == found[1], "not once more when clocks show it again"


def test_an_hour_that_clocks_skip_is_the_one_after_it() -> None:
    """On 29 March 2026 Paris goes from 02:00 to 03:00."""
    found = dues(SUNDAY, 2, PARIS, datetime(2026, 3, 23, tzinfo=UTC), 2)
    assert local(found, PARIS) == ["03-29 03:00", "04-05 02:00"]


def test_the_first_of_each_month_through_a_year() -> None:
    found = dues(None, 0, PARIS, datetime(2026, 1, 31, 23, tzinfo=UTC), 12)
    expected = [*(date(2026, month, 1) for month in range(3, 13)), date(2027, 1, 1), date(2027, 2, 1)]
    assert [moment.astimezone(PARIS).date() for moment in found] == expected


@given(
    some.one_of(some.none(), some.integers(0, 6)),
    some.integers(0, 23),
    some.sampled_from(ZONES).map(ZoneInfo),
    some.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)),
)
def test_it_is_the_first_moment_of_a_right_day_at_which_clocks_show_the_hour(
    weekday: int | None, hour: int, zone: ZoneInfo, after: datetime
) -> None:
    """Beside a search minute by minute through that day."""
    start = after.replace(tzinfo=UTC)
    found = next_due(weekday, hour, zone, after=start)
    shown = found.astimezone(zone)
    assert found > start
    assert shown.day == 1 if weekday is None else shown.weekday() == weekday
    midnight = datetime(shown.year, shown.month, shown.day, tzinfo=zone).astimezone(UTC)
    minutes = [midnight + timedelta(minutes=number) for number in range(25 * 60 + 1)]
    right = [
        one for one in minutes if one.astimezone(zone).hour >= hour and one.astimezone(zone).date() == shown.date()
    ]
    assert right[0] <= found <= right[0] + timedelta(hours=1)
    skipped = {(start + timedelta(days=number)).astimezone(zone).date() for number in range(1, (found - start).days)}
    assert not any(day.day == 1 if weekday is None else day.weekday() == weekday for day in skipped)


@pytest.mark.parametrize("hour", range(24))
def test_each_sunday_of_two_years_has_exactly_one(hour: int) -> None:
    found = dues(SUNDAY, hour, PARIS, datetime(2026, 1, 1, tzinfo=UTC), 104)
    days = [moment.astimezone(PARIS).date() for moment in found]
    assert days == [date(2026, 1, 4) + timedelta(weeks=number) for number in range(104)]
