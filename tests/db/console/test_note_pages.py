"""Notes on the pages: written, shown, changed and removed, by whom and where."""

import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from html import escape
from typing import Any

import pytest
from django.test import Client

from memberships import organisation_with, share_stream, site_of
from onlooker.console.accounts.models import Account
from onlooker.streams import notes
from onlooker.streams.administration import create_stream
from onlooker.streams.models import MemberRole, Note, Stream
from onlooker.streams.notes import create_note

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[[Account | None], Client]
HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "{{ settings.SECRET_KEY }}{% debug %}",
    '=HYPERLINK("https://evil.example")',
    "'; DROP TABLE streams_note; --",
    "\N{LATIN SMALL LETTER E WITH ACUTE}\N{PILE OF POO}" * 60,
]


@pytest.fixture
def stream(owner: Account) -> Stream:
    made = create_stream("Front door", owner=owner, kind="developer", time_zone="Europe/Paris").stream
    site_of(made)
    return made


def today() -> date:
    return datetime.now(UTC).date()


def dashboard(stream: Stream) -> str:
    return f"/streams/{stream.client_id}/dashboard/?period=30d"


def page_of(browser: Client, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200
    return str(answer.content.decode())


def data_of(page: str) -> Any:
    found = re.search(r'<script id="report-data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_an_analyst_adds_changes_and_removes_a_note(sign_in: SignIn, stream: Stream, viewer: Account) -> None:
    share_stream(stream, viewer, MemberRole.ANALYST)
    browser, here = sign_in(viewer), dashboard(stream)
    assert "Add a note" in page_of(browser, here)
    day = today() - timedelta(days=2)
    given = {"first_day": day.isoformat(), "last_day": "", "text": " New window ", "about": "stream", "next": here}
    answer = browser.post(f"/streams/{stream.client_id}/notes/new/", given)
    assert (answer.status_code, answer["Location"]) == (302, here)
    note = Note.objects.get()
    assert (note.text, note.first_day, note.last_day) == ("New window", day, day)
    assert (note.stream, note.site, note.created_by) == (stream, None, viewer)
    page = page_of(browser, here)
    assert page.count("New window") >= 3  # the table of the chart, the list, the JSON
    noted = [point["key"][:10] for point in data_of(page)["points"] if "New window" in point["notes"]]
    assert noted == [day.isoformat()]
    changed = {"first_day": day.isoformat(), "last_day": today().isoformat(), "text": "Sale", "next": here}
    path = f"/organisations/{stream.organisation_id}/notes/{note.pk}/"
    assert "New window" in page_of(browser, path)
    assert browser.post(path, changed)["Location"] == here
    note.refresh_from_db()
    assert (note.text, note.last_day) == ("Sale", today())
    assert browser.post(f"{path}remove/", {"next": here})["Location"] == here
    assert not Note.objects.exists()


def test_a_viewer_reads_notes_and_writes_none(sign_in: SignIn, stream: Stream, owner: Account, viewer: Account) -> None:
    share_stream(stream, viewer)
    create_note(organisation_with(stream), "Holiday", today(), by=owner)
    page = page_of(sign_in(viewer), dashboard(stream))
    assert "Holiday" in page
    assert "Add a note" not in page
    assert "Remove" not in page
    assert f"by {owner.email}" not in page


def test_a_note_is_for_a_stream_a_site_or_all(sign_in: SignIn, stream: Stream, owner: Account) -> None:
    browser = sign_in(owner)
    given = {"first_day": today().isoformat(), "text": "Sale"}
    path = f"/streams/{stream.client_id}/notes/new/"
    for about in ("stream", "site", "organisation"):
        assert browser.post(path, given | {"about": about}).status_code == 302
    site = site_of(stream)
    assert browser.post(f"/organisations/{site.organisation_id}/sites/{site.pk}/notes/new/", given).status_code == 302
    assert browser.post(f"/organisations/{site.organisation_id}/notes/new/", given).status_code == 302
    reaches = [(note.stream_id, note.site_id) for note in Note.objects.order_by("pk")]
    assert reaches == [(stream.pk, None), (None, site.pk), (None, None), (None, site.pk), (None, None)]
    assert browser.post(path, given | {"about": "everything"}).status_code == 200
    assert Note.objects.count() == 5
    listed = page_of(browser, f"/organisations/{site.organisation_id}/notes/")
    assert listed.count("Remove the note of") == 5


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_words_and_nothing_else(sign_in: SignIn, stream: Stream, owner: Account, text: str) -> None:
    create_note(organisation_with(stream), text, today(), about=site_of(stream))
    browser = sign_in(owner)
    pages = [
        page_of(browser, dashboard(stream)),
        page_of(browser, f"/streams/numbers/?site={stream.site_id}"),
        page_of(browser, f"/organisations/{stream.organisation_id}/notes/"),
        page_of(browser, f"/organisations/{stream.organisation_id}/notes/{Note.objects.get().pk}/"),
    ]
    for page in pages:
        assert escape(text).replace("&#x27;", "&#39;") in page.replace("&#x27;", "&#39;")
        for raw in ("<script>alert", "<img src=x", '" onmouseover="'):
            assert raw not in page
    assert any(text in point["notes"] for point in data_of(pages[0])["points"])


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"text": ""}, "This field is required"),
        ({"text": "x" * 121}, "at most 120 characters"),
        ({"text": "one\u2028two"}, "A note is one line"),
        ({"first_day": "tomorrow"}, "Enter a valid date"),
        ({"first_day": "2026-1-5"}, "Enter a valid date"),
        ({"last_day": "2026-11-1"}, "Enter a valid date"),
        ({"first_day": "0001-01-01"}, "between 1971-01-01 and 2199-12-31"),
        ({"last_day": "2026-11-08"}, "not before its first"),
    ],
)
def test_what_can_not_be_is_said_with_the_form(
    sign_in: SignIn, stream: Stream, owner: Account, wrong: dict[str, str], sentence: str
) -> None:
    given = {"first_day": "2026-11-09", "last_day": "2026-11-10", "text": "Sale"} | wrong
    answer = sign_in(owner).post(f"/streams/{stream.client_id}/notes/new/", given)
    assert answer.status_code == 200
    assert sentence in answer.content.decode()
    assert not Note.objects.exists()


def test_too_many_notes_are_refused_with_the_remedy(
    sign_in: SignIn, stream: Stream, owner: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notes, "NOTES_PER_ORGANISATION", 0)
    given = {"first_day": "2026-11-09", "text": "Sale"}
    answer = sign_in(owner).post(f"/streams/{stream.client_id}/notes/new/", given)
    assert "Remove some that are no longer needed" in answer.content.decode()


@pytest.mark.parametrize("away", ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)"])
def test_nobody_is_led_to_another_place(sign_in: SignIn, stream: Stream, owner: Account, away: str) -> None:
    given = {"first_day": "2026-11-09", "text": "Sale", "next": away}
    answer = sign_in(owner).post(f"/streams/{stream.client_id}/notes/new/", given)
    assert answer["Location"] == f"/streams/{stream.client_id}/dashboard/"


def test_the_form_of_a_dashboard_keeps_what_is_typed_and_follows_the_period(
    sign_in: SignIn, stream: Stream, owner: Account
) -> None:
    """Refreshing leaves the form alone; another period only tells it where to come back to."""
    browser = sign_in(owner)
    refreshed = browser.get(dashboard(stream), headers={"HX-Request": "true", "HX-Trigger": "report"})
    moved = browser.get(dashboard(stream), headers={"HX-Request": "true"})
    assert b"note-next" not in refreshed.content
    assert b'id="note-next"' in moved.content
    assert b'note-add"' in moved.content
    assert b'id="note-add"' not in moved.content
