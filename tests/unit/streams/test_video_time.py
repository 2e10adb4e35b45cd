"""The months in which video is counted."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.streams.video_time import month_end, month_of


@given(st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)))
def test_a_month_is_the_calendar_month_in_utc(moment: datetime) -> None:
    assert month_of(moment.timestamp()) == moment.date().replace(day=1)
    end = month_end(moment.timestamp())
    assert end > moment
    assert (end.day, end.hour, end.minute, end.second) == (1, 0, 0, 0)
    assert (end - moment).days <= 31


@pytest.mark.parametrize(
    ("moment", "month", "end"),
    [
        ("2026-11-30T23:59:59.999+00:00", "2026-11-01", "2026-12-01T00:00:00+00:00"),
        ("2026-12-31T23:59:59+00:00", "2026-12-01", "2027-01-01T00:00:00+00:00"),
        ("2027-01-01T00:00:00+00:00", "2027-01-01", "2027-02-01T00:00:00+00:00"),
    ],
)
def test_edges_of_months(moment: str, month: str, end: str) -> None:
    unix_time = datetime.fromisoformat(moment).timestamp()
    assert month_of(unix_time).isoformat() == month
    assert month_end(unix_time).isoformat() == end
