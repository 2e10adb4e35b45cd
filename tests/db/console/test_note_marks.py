"""A note is shown in exactly those buckets whose local days it touches: in charts, tables and files, by every clock."""

import csv
import io
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from memberships import organisation_with, site_of
from onlooker.console.accounts.models import Account
from onlooker.console.dashboard.period import Period
from onlooker.console.dashboard.report import all_buckets, make_query
from onlooker.console.notes.marks import TEXTS_AT_MOST, as_json_note, describe_days, draw_strip, note_cells
from onlooker.metrics.query import Time
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Note, Stream
from onlooker.streams.notes import BETWEEN, create_note

pytest_plugins = ["pages"]

SignIn = Callable[[Account | None], Client]
MINUTE = timedelta(minutes=1)
CLOCKS = {
    "Europe/Paris": ("2026-03-29", "2026-10-25"),
    "America/Havana": ("2026-03-08", "2026-11-01"),  # goes back to midnight
    "Asia/Beirut": ("2026-03-29", "2026-10-25"),  # has no midnight, then two
    "Australia/Lord_Howe": ("2026-04-05", "2026-10-04"),  # by half an hour
    "America/Sao_Paulo": ("2018-02-18", "2018-11-04"),  # goes back from midnight to the day before
    "Pacific/Apia": ("2011-12-29", "2011-12-31"),  # has no 30 December
    "Asia/Kathmandu": ("2026-07-01", "2026-12-31"),
}


def make_period(zone: str, from_at: datetime, to_at: datetime) -> Period:
    before = from_at - (to_at - from_at)
    begins, ends = (at.replace(tzinfo=None) for at in (from_at, to_at))
    return Period("", from_at, to_at, before, from_at, ZoneInfo(zone), begins, ends, is_moving=False)


@st.composite
def periods(draw: st.DrawFn) -> Period:
    """Up to twelve days around a change of clocks, at any minute."""
    zone = draw(st.sampled_from(sorted(CLOCKS)))
    middle = datetime.fromisoformat(draw(st.sampled_from(CLOCKS[zone]))).replace(tzinfo=UTC)
    from_at = middle + draw(st.integers(-6 * 1440, 1440)) * MINUTE
    return make_period(zone, from_at, from_at + draw(st.integers(1, 6 * 1440)) * MINUTE)


def days_of(from_at: datetime, to_at: datetime, zone: ZoneInfo) -> set[date]:
    """Minute by minute; a day that a clock leaves out lies between its neighbours."""
    minutes = int((to_at - from_at) / MINUTE) + 1
    seen = {(from_at + n * MINUTE).astimezone(zone).date() for n in range(minutes) if from_at + n * MINUTE < to_at}
    return {date.fromordinal(n) for n in range(min(seen).toordinal(), max(seen).toordinal() + 1)}


@pytest.mark.parametrize("grain", list(Time))
@given(period=periods(), first=st.integers(-8, 8), length=st.integers(0, 5))
def test_a_note_is_in_exactly_the_buckets_whose_days_it_touches(
    grain: Time, period: Period, first: int, length: int
) -> None:
    first_day = period.from_at.astimezone(period.zone).date() + timedelta(days=first)
    note = Note(text="Sale", first_day=first_day, last_day=first_day + timedelta(days=length))
    noted = {note.first_day + timedelta(days=number) for number in range(length + 1)}
    buckets = all_buckets(make_query(1, period, grain))
    expected = [
        "Sale" if noted & days_of(max(start, period.from_at), min(end, period.to_at), period.zone) else ""
        for start, end in pairwise(buckets.edges)
    ]
    assert note_cells([note], buckets.edges, period) == expected


@pytest.fixture
def stream(owner: Account) -> Stream:
    made = create_stream("Front door", owner=owner, kind="enterprise", time_zone="Europe/Paris").stream
    Stream.objects.update(created_at=datetime(2026, 1, 1, tzinfo=UTC))
    site_of(made)
    return Stream.objects.get()


def rows_of(browser: Client, stream: Stream, query: str) -> list[dict[str, str]]:
    answer = browser.get(f"/streams/{stream.client_id}/dashboard/table.csv?{query}")
    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


@pytest.mark.django_db(transaction=True)
def test_the_file_has_the_notes_of_each_bucket(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    organisation = organisation_with(stream)
    create_note(organisation, "Sale", date(2026, 10, 24), date(2026, 10, 25), about=stream)
    create_note(organisation, "Clocks; back", date(2026, 10, 25), about=site_of(stream))
    create_note(organisation, "=1+1", date(2026, 10, 26))
    other = create_stream("Back door", owner=owner, kind="developer").stream
    create_note(organisation, "never", date(2026, 10, 24), about=other)
    by_day = rows_of(sign_in(owner), stream, "from=2026-10-23&to=2026-10-27")
    assert [row["note"] for row in by_day] == ["", "Sale", f"Sale{BETWEEN}Clocks; back", "'=1+1", ""]
    by_hour = rows_of(sign_in(owner), stream, "from=2026-10-25T00:00&to=2026-10-26T02:00")
    assert [row["note"] for row in by_hour] == [f"Sale{BETWEEN}Clocks; back"] * 25 + ["'=1+1"] * 2


@pytest.mark.django_db(transaction=True)
def test_the_numbers_of_a_site_have_its_notes(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    organisation, today = organisation_with(stream), datetime.now(UTC).date()
    other = create_stream("Back door", owner=owner, kind="developer").stream
    create_note(organisation, "of the site", today - timedelta(days=3), today, about=site_of(stream))
    create_note(organisation, "of all", today)
    create_note(organisation, "of a stream", today, about=stream)
    create_note(organisation, "of another site", today, about=site_of(other))
    create_note(organisation, "long ago", today - timedelta(days=40))
    browser = sign_in(owner)
    body = browser.get(f"/streams/numbers.json?site={stream.site_id}").json()
    assert [note["text"] for note in body["notes"]] == ["of the site", "of all"]
    assert body["notes"][0]["first_day"] == (today - timedelta(days=3)).isoformat()
    page = browser.get(f"/streams/numbers/?site={stream.site_id}").content.decode()
    assert page.count('<rect x="') >= 4
    assert "of another site" not in page
    assert f"/sites/{stream.site_id}/notes/new/" in page
    whole = browser.get("/streams/numbers.json").json()
    assert [note["text"] for note in whole["notes"]] == ["of all"]


def test_a_strip_has_a_mark_for_each_noted_day() -> None:
    first = date(2026, 11, 1)
    note = Note(text="<Sale>", first_day=date(2026, 10, 30), last_day=date(2026, 11, 2))
    strip = draw_strip([note], first, 5)
    assert strip.count("<rect") == 2
    assert "&lt;Sale&gt;" in strip


def test_a_bucket_with_very_many_notes_stays_readable() -> None:
    period = make_period("UTC", datetime(2026, 11, 9, tzinfo=UTC), datetime(2026, 11, 10, tzinfo=UTC))
    notes = [Note(text=f"n{number}", first_day=date(2026, 1, 1), last_day=date(2026, 12, 31)) for number in range(50)]
    (cell,) = note_cells(notes, [period.from_at, period.to_at], period)
    assert cell.endswith(f"; and {50 - TEXTS_AT_MOST} more")


@pytest.mark.parametrize(
    ("language", "days", "mark"),
    [
        ("en-gb", "Wed 30 Dec 2026 to Fri 1 Jan 2027", "30 Dec: Sale"),
        ("de", "Mi, 30. Dez", "30. Dez.: Sale"),
        ("fr", "mer. 30 ", "30 déc.\N{NO-BREAK SPACE}: Sale"),
        ("es", "mié 30 ", "30 dic: Sale"),
    ],
)
def test_days_are_written_as_the_reader_writes_them(language: str, days: str, mark: str) -> None:
    note = Note(text="Sale", first_day=date(2026, 12, 30), last_day=date(2027, 1, 1))
    with translation.override(language):
        assert describe_days(note).startswith(days)
        assert f"<title>{mark}</title>" in draw_strip([note], note.first_day, 1)
        assert as_json_note(note)["first_day"] == "2026-12-30"
