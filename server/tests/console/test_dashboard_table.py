"""The table to download: the data endpoint's columns and numbers, how much was watched, and gaps."""

import csv
import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from dashboard_numbers import ask, cover, seen, write
from onlooker.console.accounts.models import Account
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Stream

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[[Account | None], Client]
MONDAY = datetime(2026, 11, 1, 23, tzinfo=UTC)  # midnight in Paris
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
WEEK = ("2026-11-02T00:00:00+01:00", "2026-11-09T00:00:00+01:00")


@pytest.fixture
def stream(owner: Account) -> Stream:
    made = create_stream("Überall: ../Café №7", owner=owner, kind="enterprise", time_zone="Europe/Paris").stream
    Stream.objects.update(retention_days=3650, created_at=MONDAY - 30 * DAY)
    return made


def rows_of(browser: Client, stream: Stream, query: str) -> tuple[list[str], list[list[str]]]:
    answer = browser.get(f"/streams/{stream.client_id}/dashboard/table.csv?{query}")
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/csv; charset=utf-8; header=present"
    header, *rows = csv.reader(io.StringIO(answer.content.decode()))
    return header, rows


def test_rows_are_the_data_endpoints_with_what_was_watched(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    cover(stream, MONDAY, MONDAY + 6 * HOUR)
    write(*[seen(stream, MONDAY + n * HOUR, looks=n % 2 == 0) for n in range(30)])
    header, rows = rows_of(sign_in(owner), stream, "from=2026-11-02&to=2026-11-08")
    assert header[0] == "bucket"
    assert header[-3:] == ["exact", "watched", "gap"]
    answered = ask(stream, *WEEK, "by_day")
    for row, (key, values) in zip(rows, answered.items(), strict=True):
        numbers = [number for value in values.values() for number in value.values()]
        assert row[:-2] == [key, *("" if number is None else str(number) for number in numbers), "true"]
    assert [row[-2:] for row in rows] == [["0.25", ""], ["0.0", ""], *[["0.0", "offline"]] * 5]


def test_days_before_the_stream_existed_have_no_numbers(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    Stream.objects.update(created_at=MONDAY + 5 * DAY)
    header, rows = rows_of(sign_in(owner), stream, "from=2026-11-02&to=2026-11-08")
    nothing = [""] * (len(header) - len(("bucket", "exact", "watched", "gap")))
    assert [row[1:] for row in rows[:5]] == [[*nothing, "true", "0.0", "not_created"]] * 5
    assert [(row[1], row[-1]) for row in rows[5:]] == [("0", "offline")] * 2


def test_up_to_three_days_are_rows_of_hours(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    _, rows = rows_of(browser, stream, "from=2026-10-25&to=2026-10-25")
    assert len(rows) == 25
    assert [row[0] for row in rows[2:4]] == ["2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00"]


def test_the_file_is_named_after_stream_and_range(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    answer = browser.get(f"/streams/{stream.client_id}/dashboard/table.csv?from=2026-11-02&to=2026-11-08")
    named = 'attachment; filename="uberall-cafe-no7-2026-11-02-to-2026-11-08.csv"'
    assert answer["Content-Disposition"] == named
    Stream.objects.update(name="店")
    answer = browser.get(f"/streams/{stream.client_id}/dashboard/table.csv?from=2026-11-02T09:00&to=2026-11-02T10:00")
    assert answer["Content-Disposition"] == 'attachment; filename="stream-2026-11-02-to-2026-11-02.csv"'


def test_the_page_leads_to_the_table_of_exactly_its_range(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    page = sign_in(owner).get(f"/streams/{stream.client_id}/dashboard/?from=2026-11-02&to=2026-11-08").content.decode()
    query = "from=2026-11-02T00%3A00%3A00%2B01%3A00&amp;to=2026-11-09T00%3A00%3A00%2B01%3A00"
    assert f"/dashboard/table.csv?{query}" in page


def test_what_is_no_period_is_said(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    answer = sign_in(owner).get(f"/streams/{stream.client_id}/dashboard/table.csv?period=8d")
    assert answer.status_code == 400
    assert answer.content.startswith(b"Unknown period.")
