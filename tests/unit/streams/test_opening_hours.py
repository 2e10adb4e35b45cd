"""Opening hours: how they are read and written, and what is open by them, also where clocks change."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onlooker.streams.business_hours import (
    LONGEST_TEXT,
    WEEKDAYS,
    check_hours,
    closed_spans,
    is_open,
    next_opening,
    open_since,
    open_spans,
    parse_hours,
)
from testkit.coverage_oracle import SECOND_US, CameraLog, ShopHours, is_shop_open

PARIS = ZoneInfo("Europe/Paris")
SHOP = "mo-fr 09:00-18:30, sa 10:00-16:00"
ZONES = ("UTC", "Europe/Paris", "Asia/Kolkata", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia")


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("", ""),
        ("  ", ""),
        (SHOP, SHOP),
        ("MO-FR 9:00-18:30,SA 10:00-16:00", SHOP),
        ("mo 08:00-12:00, 14:00-18:00", "mo 08:00-12:00, 14:00-18:00"),
        ("mo 14:00-18:00, 08:00-12:00", "mo 08:00-12:00, 14:00-18:00"),
        ("mo 08:00-12:00, mo 12:00-18:00", "mo 08:00-18:00"),
        ("fr-mo 10:00-12:00", "mo 10:00-12:00, fr-su 10:00-12:00"),
        ("sa 22:00-02:00", "sa 22:00-02:00"),
        ("su 22:00-02:00", "su 22:00-02:00"),
        ("mo-su 22:00-02:30", "mo-su 22:00-02:30"),
        ("tu 00:00-24:00", "tu 00:00-24:00"),
    ],
)
def test_hours_are_kept_in_one_form(typed: str, kept: str) -> None:
    assert check_hours(typed) == kept
    assert check_hours(kept) == kept


@pytest.mark.parametrize(
    "typed",
    [
        "always",
        "09:00-18:00",
        "mo",
        "mo 9-18",
        "xx 09:00-18:00",
        "mo 09:07-18:00",
        "mo 09:00-24:15",
        "mo 24:00-02:00",
        "mo 09:60-10:00",
        "mo 09:00-09:00",
        "mo-su 00:00-24:00",
        "mo 01:00-02:00, 03:00-04:00, 05:00-06:00, 07:00-08:00, 09:00-10:00",
        "mo 09:00-18:00, " * 40,
    ],
)
def test_what_are_no_hours_is_refused_with_a_sentence(typed: str) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        check_hours(typed)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=PARIS)


@pytest.mark.parametrize(
    ("hours", "moment", "open_now"),
    [
        (SHOP, "2026-11-16T08:59:59", False),
        (SHOP, "2026-11-16T09:00", True),
        (SHOP, "2026-11-16T18:29:59", True),
        (SHOP, "2026-11-16T18:30", False),
        (SHOP, "2026-11-22T12:00", False),
        ("su 22:00-02:00", "2026-11-23T01:59", True),
        ("su 22:00-02:00", "2026-11-23T02:00", False),
        ("sa 22:00-03:15", "2026-10-25T02:30", True),
        ("su 02:30-03:30", "2026-03-29T03:00", True),
    ],
)
def test_a_moment_is_open_or_not(hours: str, moment: str, open_now: bool) -> None:
    found = parse_hours(hours)
    assert found
    assert is_open(found, PARIS, at(moment).astimezone(UTC)) is open_now


def test_it_says_since_when_and_when_next() -> None:
    hours = parse_hours(SHOP)
    assert hours
    saturday = at("2026-11-21T17:00").astimezone(UTC)
    assert next_opening(hours, PARIS, saturday) == at("2026-11-23T09:00")
    assert open_since(hours, PARIS, saturday) is None
    assert open_since(hours, PARIS, at("2026-11-20T12:00").astimezone(UTC)) == at("2026-11-20T09:00")


def test_open_and_closed_time_are_all_there_is() -> None:
    hours = parse_hours("mo-fr 09:00-18:30, sa 22:00-02:00")
    assert hours
    from_at, to_at = at("2026-10-20T11:11").astimezone(UTC), at("2026-11-20T07:00").astimezone(UTC)
    both = [*open_spans(hours, PARIS, from_at, to_at), *closed_spans(hours, PARIS, from_at, to_at)]
    edges = sorted((span.from_at, span.to_at) for span in both)
    assert edges[0][0] == from_at
    assert edges[-1][1] == to_at
    assert all(one[1] == other[0] for one, other in pairwise(edges))


QUARTERS = st.integers(0, 95).map(lambda number: number * 15)


@st.composite
def shops(draw: st.DrawFn) -> ShopHours:
    """Some spans by weekday, as text and as minutes."""
    days: list[tuple[tuple[int, int], ...]] = [()] * 7
    texts = []
    for day in draw(st.sets(st.integers(0, 6), min_size=1)):
        begins, ends = draw(QUARTERS), draw(QUARTERS.filter(bool))
        if begins == ends:
            ends = 1440
        reaches = ends if ends > begins else ends + 1440
        days[day] = ((begins, reaches),)
        texts.append(f"{WEEKDAYS[day]} {begins // 60:02}:{begins % 60:02}-{ends // 60:02}:{ends % 60:02}")
    return ShopHours(", ".join(texts), tuple(days), draw(st.sampled_from(ZONES)))


MOMENTS = st.one_of(
    st.integers(0, 366 * 96).map(lambda slot: datetime(2026, 1, 1, tzinfo=UTC) + slot * timedelta(minutes=15)),
    st.sampled_from([(2026, 3, 29), (2026, 10, 25), (2026, 4, 5), (2026, 10, 4), (2026, 3, 8), (2026, 11, 1)]).flatmap(
        lambda day: st.integers(-48, 144).map(lambda slot: datetime(*day, tzinfo=UTC) + slot * timedelta(minutes=15))
    ),
)


@settings(max_examples=300, deadline=None)
@given(shops(), MOMENTS)
def test_any_hours_are_open_as_the_oracle_says(shop: ShopHours, moment: datetime) -> None:
    try:
        hours = parse_hours(shop.text)
    except ValueError:
        return  # all hours of the week
    assert hours
    log = CameraLog(hours={0: shop})
    assert is_open(hours, ZoneInfo(shop.zone), moment) == is_shop_open(log, int(moment.timestamp()) * SECOND_US)
    assert parse_hours(str(hours)) == hours


SHORT_TO_TYPE = (
    "mo 0:15-0:30,0:45-1:00,1:15-1:30,1:45-24:00,tu 0:00-1:45,2:00-2:15,2:30-2:45,3:00-3:15,3:30-24:00,"
    "we 0:00-3:30,3:45-4:00,4:15-4:30,4:45-5:00,5:15-24:00,th 0:00-5:15,5:30-5:45,6:00-6:15,6:30-6:45,7:00-24:00,"
    "fr 0:00-7:00,7:15-7:30,7:45-8:00,8:15-8:30,8:45-24:00,sa 0:00-8:45,9:00-9:15,9:30-9:45,10:00-10:15,10:30-24:00,"
    "su 0:00-10:30,10:45-11:00,11:15-11:30,11:45-12:00,12:15-12:30"
)


def test_hours_that_are_too_long_once_they_are_written_out_are_refused() -> None:
    assert len(SHORT_TO_TYPE) < LONGEST_TEXT < len(str(parse_hours(SHORT_TO_TYPE)))
    with pytest.raises(ValueError, match="at most"):
        check_hours(SHORT_TO_TYPE)
