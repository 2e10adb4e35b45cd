"""The table to download: the data endpoint's columns and numbers, how much was watched, and gaps."""

import csv
import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from pyarrow import parquet

from dashboard_numbers import ask, cover, seen, write
from onlooker.console.accounts.models import Account
from onlooker.metrics.coverage import Absence
from onlooker.streams.administration import create_stream
from onlooker.streams.models import OpeningHours, Stream

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
    exact = header.index("exact")
    assert header[exact:] == [
        "exact",
        "watched",
        "watched_share",
        *(f"gaps_{absence}" for absence in Absence),
        "gap",
        "note",
    ]
    answered = ask(stream, *WEEK, "by_day")
    for row, (key, values) in zip(rows, answered.items(), strict=True):
        numbers = [number for value in values.values() for number in value.values()]
        assert row[: exact + 1] == [key, *("" if number is None else str(number) for number in numbers), "true"]
    watched = [(row[exact + 1], row[exact + 2], row[-2]) for row in rows]
    assert watched == [("21600.0", "0.25", ""), ("0.0", "0.0", ""), *[("0.0", "0.0", "offline")] * 5]
    assert rows[2][header.index("gaps_offline")] == "86400.0"


def test_parquet_has_the_rows_of_the_csv_with_types(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    Stream.objects.update(created_at=MONDAY + DAY)
    cover(stream, MONDAY + DAY, MONDAY + DAY + 6 * HOUR)
    write(*[seen(stream, MONDAY + DAY + n * HOUR, looks=n % 2 == 0) for n in range(30)])
    browser, query = sign_in(owner), "from=2026-11-02&to=2026-11-08"
    header, rows = rows_of(browser, stream, query)
    answer = browser.get(f"/streams/{stream.client_id}/dashboard/table.parquet?{query}")
    assert answer["Content-Type"] == "application/vnd.apache.parquet"
    named = 'attachment; filename="uberall-cafe-no7-2026-11-02-to-2026-11-08.parquet"'
    assert answer["Content-Disposition"] == named
    found = parquet.read_table(io.BytesIO(answer.content))
    assert found.schema.metadata[b"onlooker.client_id"].decode() == str(stream.client_id)
    assert [name for name in found.column_names if name != "start"] == header
    typed = found.drop_columns("start").to_pylist()
    assert [[as_cell(value) for value in row.values()] for row in typed] == rows
    assert typed[0]["passing_by"] is None, "before the stream was created"
    assert [start.isoformat() for start in found.column("start").to_pylist()[:1]] == ["2026-11-01T23:00:00+00:00"]
    page = browser.get(f"/streams/{stream.client_id}/dashboard/?{query}").content.decode()
    assert "/dashboard/table.parquet?from=2026-11-02T00%3A00%3A00%2B01%3A00&amp;to=" in page
    assert browser.get(f"/streams/{stream.client_id}/dashboard/table.parquet?period=8d").status_code == 400


def test_opening_hours_alone_are_in_the_files_of_a_page_that_shows_them(
    sign_in: SignIn, owner: Account, stream: Stream
) -> None:
    OpeningHours.objects.create(
        stream=stream, since_at=MONDAY - 30 * DAY, hours="mo 09:00-12:00", time_zone="Europe/Paris"
    )
    cover(stream, MONDAY, MONDAY + 2 * DAY)
    write(*[seen(stream, MONDAY + n * HOUR, looks=n % 2 == 0) for n in range(48)])
    browser, query = sign_in(owner), "from=2026-11-02&to=2026-11-03&by=day&hours=open"
    header, rows = rows_of(browser, stream, query)
    counted = {row[0][:10]: dict(zip(header, row, strict=True)) for row in rows}
    assert (counted["2026-11-02"]["passing_by"], counted["2026-11-02"]["watched"]) == ("3", "10800.0")
    assert (counted["2026-11-03"]["passing_by"], counted["2026-11-03"]["gap"]) == ("0", "closed")
    all_header, _ = rows_of(browser, stream, "from=2026-11-02&to=2026-11-03&by=day")
    assert header == all_header
    base = f"/streams/{stream.client_id}/dashboard/"
    answer = browser.get(f"{base}table.parquet?{query}")
    assert "-opening-hours-2026-11-02" in answer["Content-Disposition"]
    found = parquet.read_table(io.BytesIO(answer.content))
    assert found.schema.metadata[b"onlooker.hours"] == b"open"
    assert found.column("passing_by").to_pylist() == [3, 0]
    page = browser.get(f"{base}?{query}").content.decode()
    links = [line for line in page.splitlines() if 'class="download"' in line]
    assert ["&amp;by=day&amp;hours=open" in link for link in links] == [True] * 5
    changes = browser.get(f"{base}changes.csv?{query}")
    assert "-opening-hours-changes-2026-11-02" in changes["Content-Disposition"]
    assert browser.get(f"{base}table.csv?hours=never").status_code == 400


def as_cell(value: object) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_days_before_the_stream_existed_have_no_numbers(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    Stream.objects.update(created_at=MONDAY + 5 * DAY)
    header, rows = rows_of(sign_in(owner), stream, "from=2026-11-02&to=2026-11-08")
    exact = header.index("exact")
    assert [row[1 : exact + 2] for row in rows[:5]] == [[*[""] * (exact - 1), "true", "0.0"]] * 5
    assert [row[-2] for row in rows[:5]] == ["not_created"] * 5
    assert [(row[1], row[-2]) for row in rows[5:]] == [("0", "offline")] * 2


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


def changes_of(browser: Client, stream: Stream, query: str) -> dict[str, dict[str, str]]:
    answer = browser.get(f"/streams/{stream.client_id}/dashboard/changes.csv?{query}")
    assert answer.status_code == 200
    return {row["metric"]: row for row in csv.DictReader(io.StringIO(answer.content.decode()))}


def test_changes_are_of_time_that_was_watched_in_both_weeks(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    """Twice as many people, but half of them came in hours that nobody watched the week before."""
    cover(stream, MONDAY - 7 * DAY, MONDAY - 3 * DAY)
    cover(stream, MONDAY, MONDAY + 7 * DAY)
    before = [seen(stream, MONDAY - 7 * DAY + n * HOUR, looks=True) for n in range(60)]
    write(*before, *[seen(stream, MONDAY + n * HOUR, looks=True) for n in range(120)])
    browser = sign_in(owner)
    rows = changes_of(browser, stream, "from=2026-11-02&to=2026-11-08")
    names = ["passing_by", "interested", "conversion", "stop_time", "attention_time", "satisfaction", "stopped"]
    assert list(rows) == names
    people = rows["passing_by"]
    assert (people["now"], people["before"], people["direction"]) == ("96", "60", "up")
    assert (people["kind"], people["change"]) == ("ratio", "1.6")
    assert 1 < float(people["interval_low"]) < 1.6 < float(people["interval_high"])
    assert (people["compared_hours"], people["period_hours"], people["no_comparison"]) == ("96.0", "168.0", "")
    assert rows["conversion"]["direction"] == "same"
    assert (rows["satisfaction"]["kind"], rows["satisfaction"]["direction"]) == ("difference", "same")
    answer = browser.get(f"/streams/{stream.client_id}/dashboard/changes.parquet?from=2026-11-02&to=2026-11-08")
    assert answer["Content-Disposition"].endswith('-changes-2026-11-02-to-2026-11-08.parquet"')
    typed = parquet.read_table(io.BytesIO(answer.content))
    for row in typed.to_pylist():
        cells = {name: as_cell(value).removesuffix(".0") for name, value in row.items()}
        assert cells == {name: cell.removesuffix(".0") for name, cell in rows[row["metric"]].items()}
    assert {str(typed.schema.field(name).type) for name in ("now", "interval_high", "compared_hours")} == {"double"}
    assert typed.schema.metadata[b"onlooker.compare_from"] == b"2026-10-26T00:00:00+01:00"
    page = browser.get(f"/streams/{stream.client_id}/dashboard/?from=2026-11-02&to=2026-11-08").content.decode()
    assert "60 % more" in page
    assert "Compared over 96 of 168 h." in page


def test_without_enough_common_time_the_reason_stands_in_each_row(
    sign_in: SignIn, owner: Account, stream: Stream
) -> None:
    cover(stream, MONDAY - 7 * DAY, MONDAY - 5 * DAY)
    cover(stream, MONDAY, MONDAY + 7 * DAY)
    browser = sign_in(owner)
    rows = changes_of(browser, stream, "from=2026-11-02&to=2026-11-08")
    assert {row["no_comparison"] for row in rows.values()} == {"too_little"}
    assert {row["now"] for row in rows.values()} == {""}
    page = browser.get(f"/streams/{stream.client_id}/dashboard/?from=2026-11-02&to=2026-11-08").content.decode()
    assert "no comparison: only 48 of 168 h were watched in both periods" in page
    wrong = browser.get(f"/streams/{stream.client_id}/dashboard/changes.csv?from=never")
    assert wrong.status_code == 400
