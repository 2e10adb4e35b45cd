"""Streams, sites and tags side by side, and weeks before and after a day: what is shown, to whom, what is refused."""

import csv
import io
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pyarrow
import pytest
from django.test import Client
from pyarrow import parquet

from memberships import share_stream
from onlooker.audit.models import AuditEntry
from onlooker.console.accounts.models import Account
from onlooker.streams.administration import create_stream
from onlooker.streams.bulk_changes import change_tags
from onlooker.streams.models import Site, Stream, Tag
from onlooker.streams.notes import as_cell, create_note
from onlooker.streams.organisations import organisation_of
from shop_numbers import count, make_shops, watch

pytest_plugins = ["pages"]
UNKNOWN = "00000000-0000-0000-0000-000000000000"
pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[[Account | None], Client]
PAGE, FILE, TYPED = ("/streams/compare/", "/streams/compare/comparison.csv", "/streams/compare/comparison.parquet")
BEFORE_AFTER, CHANGES = "/streams/compare/before-after/", "/streams/compare/before-after.csv"
TYPED_CHANGES = "/streams/compare/before-after.parquet"
SHARED = "1\N{EN DASH}2"


@pytest.fixture
def shops(owner: Account) -> list[Stream]:
    """Two at a site, the second tagged, and one elsewhere; all watched for three weeks."""
    streams = make_shops(owner)
    for number, stream in enumerate(streams, start=1):
        watch(stream, days=21)
        count(stream, 100 * number, days_ago=2)
    return streams


def rows_of(*values: object) -> str:
    return "&".join(f"row={value}" for value in values)


def row_of(thing: Stream | Site | Tag) -> str:
    if isinstance(thing, Stream):
        return f"stream:{thing.client_id}"
    return f"{'site' if isinstance(thing, Site) else 'tag'}:{thing.pk}"


def read_cells(page: str) -> dict[str, dict[str, tuple[str, str]]]:
    """By row and metric: the value and the rank."""
    found = {}
    for row, cells in re.findall(r'<tr data-row="([^"]+)">(.*?)</tr>', page, re.DOTALL):
        cell = re.compile(r'data-metric="(\w+)" data-value="([^"]*)" data-rank="([^"]*)"')
        found[row] = {metric: (value, rank) for metric, value, rank in cell.findall(cells)}
    return found


def test_rows_are_shown_side_by_side_with_their_ranks(sign_in: SignIn, owner: Account, shops: list[Stream]) -> None:
    asked = [row_of(shops[2]), row_of(Site.objects.get()), row_of(Tag.objects.get())]
    page = sign_in(owner).get(f"{PAGE}?{rows_of(*asked)}&period=7d").content.decode()
    found = read_cells(page)
    assert list(found) == asked
    assert [found[row]["passing_by"] for row in asked] == [("300", SHARED), ("300", SHARED), ("200", "3")]
    assert [found[row]["conversion"][0] for row in asked] == ["1.0"] * 3
    assert {found[row]["stop_time"][0] for row in asked} == {"5.0"}
    assert "144 of " in page
    data = json.loads(re.findall(r'<script id="rows-data" type="application/json">(.*?)</script>', page)[0])
    assert [one["name"] for one in data["rows"]] == ["Three", "North gate", "window"]
    assert len(data["points"]) == 7
    assert [value for value in data["rows"][0]["values"] if value] == [12.5]  # 300 people in 24 hours
    assert data["rows"][0]["values"][-1] is None, "today is not watched"


def test_the_fields_have_the_days_that_are_shown(sign_in: SignIn, owner: Account, shops: list[Stream]) -> None:
    asked = rows_of(row_of(shops[0]), row_of(shops[2]))
    today = datetime.now(UTC).date()
    for period, days in (("period=7d", 6), ("", 6), (f"from={today - timedelta(days=2)}&to={today}", 2)):
        page = sign_in(owner).get(f"{PAGE}?{asked}&{period}").content.decode()
        fields = re.findall(r'<input id="range-(?:from|to)" type="date" name="\w+" value="([^"]*)"', page)
        assert fields == [f"{today - timedelta(days=days)}", f"{today}"]


def test_the_file_has_the_same_and_its_download_is_noted(sign_in: SignIn, owner: Account, shops: list[Stream]) -> None:
    asked = rows_of(row_of(shops[0]), row_of(shops[2]))
    answer = sign_in(owner).get(f"{FILE}?{asked}&period=7d")
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="comparison-')
    lines = list(csv.DictReader(io.StringIO(answer.content.decode())))
    by_metric = {(line["row"], line["metric"]): line for line in lines}
    assert by_metric["One", "passing_by"]["value"] == "100"
    assert (by_metric["One", "passing_by"]["rank_best"], by_metric["Three", "passing_by"]["rank_best"]) == ("2", "1")
    assert float(by_metric["One", "conversion"]["interval_low"]) == pytest.approx(0.963, abs=1e-3)
    assert by_metric["One", "stop_time"]["compared_hours"] == "144.0"
    exported = AuditEntry.objects.filter(action="numbers.exported").values_list("stream_id", flat=True)
    assert set(exported) == {shops[0].pk, shops[2].pk}


def read_typed(browser: Client, path: str, **headers: str) -> pyarrow.Table:
    answer = browser.get(path, headers=headers)
    assert answer.headers["Content-Type"] == "application/vnd.apache.parquet"
    assert answer.headers["Content-Disposition"].endswith('.parquet"')
    return parquet.read_table(io.BytesIO(answer.content), page_checksum_verification=True)


def as_cells(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    """As text. A count in a column of numbers has no decimals there."""
    return [
        {name: "" if value is None else str(value).removesuffix(".0") for name, value in row.items()} for row in rows
    ]


def test_parquet_has_the_lines_of_the_csv_and_the_numbers_of_the_page(
    sign_in: SignIn, owner: Account, shops: list[Stream]
) -> None:
    """Also where there are none: of people in groups, of a stream that only counts, of one that was off."""
    grouped = create_stream("=Grouped", owner=owner, kind="enterprise", groups_of=5).stream
    watch(grouped, days=21)
    count(grouped, 30, days_ago=2)
    off = create_stream("Off", owner=owner, kind="enterprise").stream
    Stream.objects.filter(pk=shops[1].pk).update(reads_faces=False)
    things = (*shops, grouped, off, Site.objects.get())
    browser, today = sign_in(owner), datetime.now(UTC).date()
    query = f"{rows_of(*map(row_of, things))}&from={today - timedelta(days=7)}&to={today - timedelta(days=1)}"
    lines = list(csv.DictReader(io.StringIO(browser.get(f"{FILE}?{query}").content.decode())))
    found = read_typed(browser, f"{TYPED}?{query}")
    assert as_cells(found.to_pylist()) == as_cells(lines)
    types = {one.name: str(one.type) for one in found.schema}
    assert (types["value"], types["streams"], types["rank_best"], types["metric"]) == (
        *("double", "int64", "int64", "string"),
    )
    page = browser.get(f"{PAGE}?{query}").content.decode()
    cells = read_cells(page)
    told = {(line["row"], line["metric"]): line["value"] for line in found.to_pylist()}
    for thing in things:
        name = as_cell([thing.name])
        for metric, (value, _) in cells[row_of(thing)].items():
            assert told[name, metric] == (float(value) if value else None), (name, metric)
    assert told["'=Grouped", "stop_time"] is None
    said = {name.decode(): text.decode() for name, text in found.schema.metadata.items()}
    assert said["onlooker.rows"] == ",".join(map(row_of, things))
    assert f'href="{TYPED}?' in page
    french = read_typed(browser, f"{TYPED}?{query}", **{"accept-language": "fr"})
    assert french.equals(found, check_metadata=True)


def test_weeks_before_and_after_are_in_parquet_as_in_csv(sign_in: SignIn, owner: Account, shops: list[Stream]) -> None:
    day = (datetime.now(UTC) - timedelta(days=7)).date()
    for stream in shops:
        count(stream, 40, days_ago=9)
    site, browser = Site.objects.get(), sign_in(owner)
    query = f"{rows_of(row_of(site))}&date={day}&weeks=1"
    lines = list(csv.DictReader(io.StringIO(browser.get(f"{CHANGES}?{query}").content.decode())))
    found = read_typed(browser, f"{TYPED_CHANGES}?{query}")
    rows = {row["metric"]: row for row in found.to_pylist()}
    assert [settle(row) for row in as_cells(found.to_pylist())] == [settle(row) for row in as_cells(lines)]
    assert (rows["passing_by"]["now"], rows["passing_by"]["before"]) == (300.0, 80.0)
    said = {name.decode(): text.decode() for name, text in found.schema.metadata.items()}
    assert [said[f"onlooker.{name}"] for name in ("row", "date", "weeks")] == [row_of(site), f"{day}", "1"]
    assert f'href="{TYPED_CHANGES}?' in browser.get(f"{BEFORE_AFTER}?{query}").content.decode()


def settle(row: dict[str, str]) -> dict[str, str]:
    """Without what is another a moment later."""
    return {name: cell for name, cell in row.items() if name != "period_hours"}


def test_a_row_that_was_off_is_left_out_and_others_are_compared(
    sign_in: SignIn, owner: Account, shops: list[Stream]
) -> None:
    off = create_stream("Off", owner=owner, kind="enterprise").stream
    asked = rows_of(row_of(off), row_of(shops[0]), row_of(shops[1]))
    page = sign_in(owner).get(f"{PAGE}?{asked}").content.decode()
    found = read_cells(page)
    assert found[row_of(off)]["passing_by"] == ("", "")
    assert found[row_of(shops[1])]["passing_by"] == ("200", "1")
    assert "watched for less than a third of the time" in page
    alone = sign_in(owner).get(f"{PAGE}?{rows_of(row_of(off), row_of(shops[0]))}").content.decode()
    assert "Fewer than two of these rows were watched" in alone


def test_rows_are_found_by_name_and_ticked_in_the_overview(
    sign_in: SignIn, owner: Account, shops: list[Stream]
) -> None:
    browser = sign_in(owner)
    page = browser.get(f"{PAGE}?{rows_of(row_of(shops[0]))}&find=wo").content.decode()
    assert f"?row={row_of(shops[0])}&amp;row={row_of(shops[1])}" in page
    assert "Add Three" not in page
    part = browser.get(f"{PAGE}?find=north", headers={"hx-request": "true"}).content.decode()
    assert part.startswith('<ul id="found"')
    assert "Add North gate" in part
    moved = browser.get(f"{PAGE}?stream={shops[0].pk}&stream={shops[1].pk}&stream=x&stream=999")
    assert (moved.status_code, moved.headers["Location"]) == (302, f"?{rows_of(row_of(shops[0]), row_of(shops[1]))}")


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("period=never", "Unknown period"),
        ("from=2026-01-01&to=nonsense", "Write dates as"),
        ("from=2026-01-01T10:00&to=2026-01-02", "Write days as"),
        ("from=2023-01-01&to=2026-01-02", "at most 366 days"),
    ],
)
def test_a_period_that_makes_no_sense_is_refused(
    sign_in: SignIn, owner: Account, shops: list[Stream], asked: str, says: str
) -> None:
    browser = sign_in(owner)
    for path in (PAGE, FILE, TYPED):
        answer = browser.get(f"{path}?{rows_of(row_of(shops[0]), row_of(shops[1]))}&{asked}")
        assert answer.status_code == 400
        assert says in answer.content.decode()


def test_rows_and_streams_are_bounded(
    sign_in: SignIn, owner: Account, shops: list[Stream], monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = sign_in(owner)
    many = [create_stream(f"Camera {number}", owner=owner, kind="enterprise").stream for number in range(11)]
    answer = browser.get(f"{PAGE}?{rows_of(*map(row_of, many))}")
    assert answer.status_code == 400
    assert "At most 10 rows are compared at once; these are 11." in answer.content.decode()
    monkeypatch.setattr("onlooker.console.comparison.rows.STREAM_DAYS_AT_MOST", 14)
    asked = rows_of(row_of(Site.objects.get()), row_of(shops[2]))
    answer = browser.get(f"{PAGE}?{asked}&period=7d")
    assert answer.status_code == 400
    assert "3 streams over 7 days are too many for one page. Choose at most 4 days" in answer.content.decode()


def test_people_in_groups_that_are_not_told_yet_are_a_dash_with_the_reason(
    sign_in: SignIn, owner: Account, shops: list[Stream]
) -> None:
    """Counts are told of everybody; of a tag with such a stream and another one, people of the other are told."""
    grouped = create_stream("Grouped", owner=owner, kind="enterprise", groups_of=5).stream
    watch(grouped, days=21)
    count(grouped, 30, days_ago=2)
    for stream in (grouped, shops[0]):
        change_tags(stream, organisation_of(owner), added=["mixed"], removed=[])
    asked = [row_of(grouped), row_of(Tag.objects.get(name="mixed"))]
    page = sign_in(owner).get(f"{PAGE}?{rows_of(*asked)}&period=7d").content.decode()
    alone, mixed = read_cells(page).values()
    assert (alone["interested"][0], alone["conversion"][0], alone["stop_time"]) == ("30", "1.0", ("", ""))
    assert (mixed["interested"][0], mixed["conversion"][0], mixed["stop_time"]) == ("130", "1.0", ("5.0", ""))
    assert "fewer than 10 are in groups that lie inside the compared time" in page


def test_a_stream_that_only_counts_leaves_no_conversion(sign_in: SignIn, owner: Account, shops: list[Stream]) -> None:
    Stream.objects.filter(pk=shops[0].pk).update(reads_faces=False)
    asked = [row_of(shops[0]), row_of(Site.objects.get()), row_of(shops[2])]
    page = sign_in(owner).get(f"{PAGE}?{rows_of(*asked)}&period=7d").content.decode()
    door, site, other = read_cells(page).values()
    assert (door["passing_by"][0], door["interested"], door["conversion"]) == ("100", ("", ""), ("", ""))
    assert (site["interested"][0], site["conversion"], other["conversion"]) == ("300", ("", ""), ("1.0", ""))


def read_sentences(page: str) -> dict[str, str]:
    return dict(re.findall(r'<li data-metric="(\w+)" class="change \w+">(.*?)</li>', page))


def test_weeks_after_a_day_are_compared_with_as_many_before(
    sign_in: SignIn, owner: Account, shops: list[Stream]
) -> None:
    day = (datetime.now(UTC) - timedelta(days=7)).date()
    for stream in shops:
        count(stream, 40, days_ago=9)
    browser = sign_in(owner)
    query = f"{rows_of(row_of(Site.objects.get()))}&date={day}&weeks=1"
    page = browser.get(f"{BEFORE_AFTER}?{query}").content.decode()
    said = read_sentences(page)
    assert said["passing_by"].startswith("Passing by: 275 % more, which chance does not explain (95 % interval:")
    assert said["stop_time"] == "Stop time: no comparison: too few people."
    assert said["conversion"].startswith("Conversion: about the same as before")
    lines = {
        line["metric"]: line for line in csv.DictReader(io.StringIO(browser.get(f"{CHANGES}?{query}").content.decode()))
    }
    assert (lines["passing_by"]["now"], lines["passing_by"]["before"]) == ("300", "80")
    assert lines["passing_by"]["compared_hours"] == "336.0"


def test_a_day_may_be_that_of_a_note(sign_in: SignIn, owner: Account, shops: list[Stream]) -> None:
    day = (datetime.now(UTC) - timedelta(days=7)).date()
    organisation, site = organisation_of(owner), Site.objects.get()
    create_note(organisation, "Summer sale", day)
    create_note(organisation, "New window", day, about=site)
    create_note(organisation, "Lamp broken", day, about=shops[2])
    browser = sign_in(owner)
    shown = {
        row: re.findall(
            r'<a id="note-\d+" href="([^"]+)">.*?</a> (.*?)</li>',
            browser.get(f"{BEFORE_AFTER}?row={row}").content.decode(),
        )
        for row in (row_of(shops[2]), row_of(site), row_of(Tag.objects.get()))
    }
    texts = [sorted(text for _, text in notes) for notes in shown.values()]
    assert texts == [["Lamp broken", "Summer sale"], ["New window", "Summer sale"], ["Summer sale"]]
    assert shown[row_of(site)][0][0] == f"?row={row_of(site)}&amp;date={day}&amp;weeks=4"


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("date=soon", "Write the day as 2026-11-01."),
        ("date=2199-01-01", "has not begun yet"),
        ("date=1970-01-05", "are not supported"),
        ("date=2026-01-05&weeks=27", "a number from 1 to 26"),
        ("date=2026-01-05&weeks=-1", "a number from 1 to 26"),
    ],
)
def test_a_day_that_makes_no_sense_is_refused(
    sign_in: SignIn, owner: Account, shops: list[Stream], asked: str, says: str
) -> None:
    browser = sign_in(owner)
    for path in (BEFORE_AFTER, CHANGES, TYPED_CHANGES):
        answer = browser.get(f"{path}?{rows_of(row_of(shops[0]))}&{asked}")
        assert answer.status_code == 400
        assert says in answer.content.decode()
    assert browser.get(BEFORE_AFTER).status_code == 404


def test_without_time_before_there_is_the_reason(sign_in: SignIn, owner: Account, shops: list[Stream]) -> None:
    long_ago: Any = (datetime.now(UTC) - timedelta(days=200)).date()
    page = sign_in(owner).get(f"{BEFORE_AFTER}?{rows_of(row_of(shops[0]))}&date={long_ago}").content.decode()
    assert "No comparison: not watched." in page


def test_other_pages_lead_here(sign_in: SignIn, owner: Account, shops: list[Stream]) -> None:
    browser, site = sign_in(owner), Site.objects.get()
    stream, place = (f"{PAGE}?row={row_of(thing)}" for thing in (shops[0], site))
    assert stream in browser.get(f"/streams/{shops[0].client_id}/dashboard/").content.decode()
    assert place in browser.get(f"/streams/numbers/?site={site.pk}").content.decode()
    assert place in browser.get(f"/organisations/{site.organisation_id}/sites/{site.pk}/").content.decode()
    assert f'formaction="{PAGE}"' in browser.get("/streams/").content.decode()


def test_a_viewer_compares_what_the_viewer_sees_alone(
    sign_in: SignIn, owner: Account, viewer: Account, shops: list[Stream]
) -> None:
    """A tag or a site of which the viewer sees a part is that part."""
    shops[2].refresh_from_db()
    share_stream(shops[2], viewer)
    for stream in shops:
        change_tags(stream, organisation_of(owner), added=["all"], removed=[])
    seen, everything = row_of(shops[2]), row_of(Tag.objects.get(name="all"))
    browser = sign_in(viewer)
    found = read_cells(browser.get(f"{PAGE}?{rows_of(seen, everything)}&period=7d").content.decode())
    assert {cells["passing_by"][0] for cells in found.values()} == {"300"}
    hidden = [
        row_of(shops[0]),
        row_of(Site.objects.get(name="North gate")),
        row_of(Tag.objects.get(name="window")),
    ]
    unknown = ["stream:x", "site:999", "tag:", "organisation:1", "site:99999999999999999999"]
    paths = (PAGE, FILE, TYPED, BEFORE_AFTER, CHANGES, TYPED_CHANGES)
    for values, asked in ((hidden, paths), ([f"stream:{UNKNOWN}", *unknown], (PAGE, BEFORE_AFTER))):
        for value, path in product(values, asked):
            assert browser.get(f"{path}?{rows_of(value)}&date=2026-01-05").status_code == 404, (path, value)
    offered = browser.get(f"{PAGE}?find=o").content.decode()
    assert "Add One" not in offered
    assert "Add North gate" not in offered
    assert browser.get(f"{PAGE}?stream={shops[0].pk}", follow=True).content.decode().count("data-row") == 0
